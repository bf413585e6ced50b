import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FindingVerdict } from '@cronjob-monitor/shared/domain';
import { OutboxBench, secondMs, type BenchChannel } from '../channels/outbox-bench.ts';
import { HttpSink } from '../sinks/index.ts';
import { testDatabases } from '../store/databases.ts';
import { startBench } from './harness/bench.ts';
import { completeStatus, failedStatus, putCronJob, putJob } from './harness/objects.ts';
import { putWebhook, tells, tellsLoopback, told, untilHeard } from './harness/receiver.ts';
import { createRaising, failedAt } from './outbox/raising.ts';

async function begin(
  bench: OutboxBench,
): Promise<{ readonly channel: BenchChannel; readonly say: (verdict: FindingVerdict) => Promise<void> }> {
  const channel = await bench.addChannel('webhook');
  const say = await createRaising(bench, channel);
  const settings = {
    globalLimit: { periodMs: 1_200, burst: 10 },
    startedMs: bench.clock.monotonicMs(),
    startupGraceMs: 30_000,
    clusterName: undefined,
    externalUrl: undefined,
    source: 'cronjob-monitor-1f2e3d4c',
  };
  bench.start({ settings });
  return { channel, say };
}

/** F44: what happens while the service has just started. */
describe('F44, a failure within the startup grace', () => {
  test('that clears in time is told after it, by one message with both times', async (t) => {
    const bench = await OutboxBench.start(t);
    const { channel, say } = await begin(bench);
    await bench.pass(5 * secondMs);
    await say(failedAt(bench.clock.now()));
    await bench.pass(10 * secondMs);
    await say({ kind: 'quiet', by: 'nightly-2' });
    assert.equal(channel.arrivals(), 0);
    await bench.pass(30 * secondMs);
    assert.deepEqual(
      (await bench.rows('select kind, state from deliveries order by created_at')).map(({ kind, state }) => [
        kind,
        state,
      ]),
      [
        ['firing', 'cancelled'],
        ['closing', 'sent'],
      ],
    );
    const [arrival] = channel.http?.arrivals ?? [];
    const { type, data } = JSON.parse(arrival?.body ?? '') as {
      type: string;
      data: { alert: Record<string, unknown> };
    };
    const { firstNotice, since, endedAt } = data.alert;
    assert.deepEqual([type, channel.arrivals(), firstNotice], ['alert.resolved', 1, true]);
    assert.equal(Date.parse(String(endedAt)) - Date.parse(String(since)), 10 * secondMs);
    assert.deepEqual(
      (await bench.rows('select state from alerts')).map(({ state }) => state),
      ['resolved'],
    );
    const ledger = await bench.rows('select action, reason from alert_decisions order by id');
    const told = ledger.map(({ action, reason }) => [action, reason].map(String).join(' '));
    assert.ok(told.includes('held startupGrace') && told.includes('cancelled firstNotice'), told.join(', '));
  });

  test('that lasts is told once, after the grace', async (t) => {
    const bench = await OutboxBench.start(t);
    const { channel, say } = await begin(bench);
    await bench.pass(5 * secondMs);
    await say(failedAt(bench.clock.now()));
    await bench.pass(24 * secondMs);
    assert.equal(channel.arrivals(), 0);
    await bench.pass(3 * secondMs);
    assert.equal(channel.arrivals(), 1);
    await say({ kind: 'quiet', by: 'nightly-2' });
    await bench.pass(5 * secondMs);
    const types = channel.http?.arrivals.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    assert.deepEqual(types, ['alert.firing', 'alert.resolved']);
  });
});

const graceMs = 25_000;

/** The same of a whole process, on databases of either kind. */
for (const database of testDatabases().filter(({ name }) => name !== 'mysql')) {
  test(`F44, a process that has just started tells nothing yet, ${database.name}`, async (t) => {
    const sink = await HttpSink.start();
    const bench = await startBench({ controllers: false, monitor: { alerting: tells('hook') } });
    t.after(async () => {
      await bench.close();
      await sink.stop();
      await database.remove();
    });
    putWebhook(bench.sim, sink, 'hook');
    const [clears, lasts] = [putCronJob(bench.sim, 'clears'), putCronJob(bench.sim, 'lasts')];
    const storage = await database.fresh();
    const config = { ...tellsLoopback, 'scheduler.startup-grace-period': `${graceMs}ms` };
    const service = await bench.prepare({ storage, config });
    const startedAt = Date.now();
    await service.startReady();
    const alertsOf = async (name: string): Promise<number> => {
      const { items } = await service.ask<{ items: readonly unknown[] }>(`/api/v1/alerts?cronjob=${name}`);
      return items.length;
    };
    await service.until('both are watched', async () => {
      const { items } = await service.ask<{ items: readonly { monitors: readonly unknown[] }[] }>('/api/v1/cronjobs');
      return items.length === 2 && items.every(({ monitors }) => monitors.length > 0);
    });
    await wait(1_000); // instants of runs are whole seconds
    for (const cronJob of [clears, lasts])
      putJob(bench.sim, cronJob, { name: `${cronJob.metadata.name}-1`, status: failedStatus() });
    for (const name of ['clears', 'lasts'])
      await service.until(`${name} is an alert`, async () => (await alertsOf(name)) === 1);
    await wait(1_000);
    putJob(bench.sim, clears, { name: 'clears-2', status: completeStatus() });
    await service.until('the one is resolved', async () => (await alertsOf('clears')) === 0);
    assert.ok(Date.now() - startedAt < graceMs, 'all of it within the grace');
    assert.equal(sink.arrivals.length, 0);

    await untilHeard(sink, { channel: 'hook', cronJob: 'lasts' }, ['firing jobFailed'], graceMs + 20_000);
    assert.ok((sink.arrivals[0]?.at ?? 0) - startedAt >= graceMs);
    await wait(3_000);
    assert.deepEqual(
      told(sink, 'hook')
        .map(({ cronJob, words }) => `${cronJob} ${words}`)
        .toSorted(),
      ['clears resolved jobFailed', 'lasts firing jobFailed'],
    );
  });
}
