import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Problem } from '../../domain/index.ts';
import { FakeClock, RecordingLogger, settle } from '../../testing/index.ts';
import { createProcessMetrics } from './index.ts';
import { ProblemList } from '../problem-list.ts';
import { watchSymptoms } from './symptom-watch.ts';

/** A process that watches itself, on a clock that stands still; `shown` has the causes whose series are not 0. */
async function aProcess() {
  const clock = new FakeClock();
  const metrics = createProcessMetrics({ entryPoint: 'controller', version: '1', clock });
  const problems = new ProblemList({ clock, logger: new RecordingLogger() });
  watchSymptoms({ metrics, problems, intervalsMs: { prune: 60_000 }, clock }, new AbortController().signal);
  const registers = [metrics.registry];
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      await clock.advance(Math.min(left, 10_000));
      await settle();
    }
  };
  await pass(10_000);
  const shown = async (): Promise<Record<string, number>> => {
    const all = await metrics.read('cronjob_monitor_symptom');
    return Object.fromEntries(all.flatMap(({ labels, value }) => (value ? [[String(labels['cause']), value]] : [])));
  };
  return { clock, metrics, problems, registers, pass, shown };
}

test('a process of which all is well shows every cause at 0, each with its symptom', async () => {
  const { metrics, problems, shown } = await aProcess();
  assert.deepEqual([await shown(), problems.current()], [{}, []]);
  const series = await metrics.read('cronjob_monitor_symptom');
  assert.ok(series.length > 30);
  assert.deepEqual(
    series.filter(({ labels }) => labels['cause'] === 'databaseAway').map(({ labels }) => labels['symptom']),
    ['CannotStore'],
  );
});

test('what the list of problems has is shown at once, 2 where it wakes a person', async () => {
  const { problems, shown } = await aProcess();
  const found: Problem[] = [];
  problems.add(() => found);
  found.push({ key: 'database', cause: 'databaseAway', sentence: 'away', blocks: true });
  found.push({ key: 'clock', cause: 'clockSkewed', sentence: 'skewed', blocks: false });
  assert.deepEqual(await shown(), { clockSkewed: 1, databaseAway: 2 });
  found.length = 0;
  assert.deepEqual(await shown(), {});
});

test('a gauge past its limit is told when it has lasted for the patience of its cause, and no longer than it lasts', async () => {
  const { registers, problems, pass, shown } = await aProcess();
  const depth = new Gauge({ name: 'workqueue_depth', help: '.', labelNames: ['name'], registers });
  depth.set({ name: 'JobHandler' }, 2_000);
  await pass(600_000);
  assert.deepEqual([await shown(), problems.current()], [{}, []]);
  await pass(20_000);
  assert.deepEqual(await shown(), { workQueueDeep: 1 });
  assert.deepEqual(
    problems.current().map(({ sentence }) => sentence),
    ['2000 keys wait in the queue JobHandler: look at database and processor'],
  );
  depth.set({ name: 'JobHandler' }, 0);
  await pass(10_000);
  assert.deepEqual([await shown(), problems.current()], [{}, []]);
});

test('a counter is told for as long as its increase lies within its window', async () => {
  const { registers, pass, shown } = await aProcess();
  const dropped = new Counter({ name: 'cronjob_monitor_snapshots_dropped_total', help: '.', registers });
  await pass(600_000);
  dropped.inc();
  await pass(10_000);
  assert.deepEqual(await shown(), { runsDropped: 2 });
  await pass(14 * 60_000);
  assert.deepEqual(await shown(), { runsDropped: 2 });
  await pass(2 * 60_000);
  assert.deepEqual(await shown(), {});
});

test('of a histogram the share of the last minutes counts, not that of the whole life', async () => {
  const { registers, pass, shown } = await aProcess();
  const name = 'cronjob_monitor_notification_lag_seconds';
  const lag = new Histogram({ name, help: '.', buckets: [1, 5, 10], registers });
  for (let message = 0; message < 1_000; message += 1) lag.observe(0.5);
  await pass(11 * 60_000);
  for (let minute = 0; minute < 11; minute += 1) {
    lag.observe(0.5);
    lag.observe(7);
    await pass(60_000);
  }
  assert.deepEqual(await shown(), { messagesSlow: 1 });
});

test('what concerns one channel, one monitor or one process is in the metric, and in no list of the whole service', async () => {
  const { registers, problems, pass, shown } = await aProcess();
  const ready = new Gauge({ name: 'cronjob_monitor_channel_ready', help: '.', labelNames: ['channel'], registers });
  ready.set({ channel: 'team' }, 0);
  await pass(320_000);
  assert.deepEqual([await shown(), problems.current()], [{ channelNotReady: 1 }, []]);
});

test('a scheduler is late after three of its own intervals', async () => {
  const { clock, registers, problems, pass } = await aProcess();
  const name = 'cronjob_monitor_scheduler_last_success_timestamp_seconds';
  new Gauge({ name, help: '.', labelNames: ['scheduler'], registers }).set({ scheduler: 'prune' }, clock.now() / 1_000);
  await pass(180_000);
  assert.deepEqual(problems.current(), []);
  await pass(10_000);
  assert.match(problems.current()[0]?.sentence ?? '', /^The scheduler prune has not ended a good run since /);
});
