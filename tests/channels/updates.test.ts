import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { completeAlerts, type LearnedOfRun } from '@cronjob-monitor/controller/alerting';
import {
  toHolding,
  type AlertMessage,
  type Evidence,
  type FindingVerdict,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { createRaising } from '../faults/outbox/raising.ts';
import { OutboxBench, secondMs, type BenchChannel } from './outbox-bench.ts';

const messageWaitMs = 250;
const jobUid = randomUUID();
const cronJob = aCronJob({ uid: randomUUID(), namespace: 'prod', name: 'backup' });

/** A run that failed, whose log is still being read. */
function failed(at: number): FindingVerdict {
  const figures = { measured: 1, limit: 1, unit: 'runs' } as const;
  const detail = { jobName: 'backup-1', exitCode: 3 };
  const verdict = { kind: 'holds', since: at, reason: 'runFailed', count: 1, figures, detail } as const;
  const run = { jobUid, jobName: 'backup-1', finishedAt: at, exitCode: 3 };
  const worded = toHolding('jobFailed', undefined, verdict, { timeZone: 'UTC', run });
  return { kind: 'holds', ...worded, occurred: 1, delayed: false, awaited: { messageWaitMs, pods: null } };
}

/** What its log and events say. */
function learned(): LearnedOfRun {
  const of = {
    owner: jobUid,
    cronJobUid: cronJob.uid,
    createdAt: 1,
    capturedAt: 2,
    truncated: false,
    unavailable: undefined,
  };
  const log: Evidence = { ...of, kind: 'logs', name: 'p/main', body: 'no space left\n' };
  const everything = { logs: true, logLines: 50, includeInitContainerLogs: false, events: true, podStatus: true };
  return {
    cronJobUid: cronJob.uid,
    jobUid,
    createdAt: 1,
    log,
    initLogs: [],
    events: undefined,
    attempts: undefined,
    podStatus: undefined,
    place: undefined,
    changes: undefined,
    fault: undefined,
    decisive: undefined,
    fix: undefined,
    fixOf: () => undefined,
    includeOf: () => ({ ...everything, suggestedFixes: true }),
  };
}

/** A dispatcher at work and a run that has failed. */
async function begin(t: Parameters<typeof OutboxBench.start>[0], type: 'webhook' | 'paging', sendUpdates = true) {
  const bench = await OutboxBench.start(t);
  const channel = await bench.addChannel(type, { sendUpdates });
  const { dispatcher } = bench.start();
  const say = await createRaising(bench, channel, cronJob);
  const failedAt = bench.clock.now();
  await say(failed(failedAt));
  const wake = async (): Promise<void> => {
    dispatcher.wake();
    await bench.arrive();
  };
  return {
    bench,
    channel,
    dispatcher,
    wake,
    complete: async () => {
      const changed = await completeAlerts(bench.store, bench.epoch, [learned()]);
      await wake();
      return changed;
    },
    succeed: async () => {
      await say({ kind: 'quiet', by: 'backup-2', byEndedAt: bench.clock.now() });
      await wake();
    },
    updates: async () =>
      (await bench.rows("select state from deliveries where kind = 'update'")).map(({ state }) => state),
  };
}

interface Sent {
  readonly type: string;
  readonly data: AlertMessage;
}

const sentTo = (channel: BenchChannel): Sent[] => channel.wire().map((body) => JSON.parse(body) as Sent);

describe('a message about a run whose log is still being read', () => {
  test('goes with the log when that comes in time, and once', async (t) => {
    const { bench, channel, complete, updates } = await begin(t, 'webhook');
    await bench.pass(200, 50);
    assert.equal(channel.arrivals(), 0);
    assert.equal(await complete(), 1);
    const [sent] = sentTo(channel);
    assert.deepEqual([sent?.data.context.logs, sent?.data.context.pending], ['no space left\n', false]);
    await bench.pass(2 * secondMs);
    assert.deepEqual([channel.arrivals(), await updates()], [1, []]);
  });

  test('goes after 250 ms without it, and says that it is still being read; the log that comes later is one update', async (t) => {
    const { bench, channel, complete } = await begin(t, 'webhook');
    await bench.pass(messageWaitMs, 50);
    const before = await bench.rows('select last_notified_at, notify_no from alerts');
    await bench.pass(5 * secondMs);
    assert.equal(await complete(), 1);
    assert.equal(await complete(), 0);
    await bench.pass(2 * secondMs);
    const [first, update, ...more] = sentTo(channel);
    assert.ok(first && update && more.length === 0);
    assert.deepEqual([first.type, update.type], ['alert.firing', 'alert.updated']);
    assert.deepEqual([first.data.context.logs, first.data.context.pending], [null, true]);
    assert.deepEqual(update.data, {
      ...first.data,
      context: { ...first.data.context, logs: 'no space left\n', pending: false },
    });
    const keys = channel.http?.arrivals.map(({ headers }) => headers['idempotency-key']);
    assert.equal(new Set(keys).size, 2);

    assert.deepEqual(await bench.rows('select last_notified_at, notify_no from alerts'), before);
    const { sent_total: sent } = await bench.channelRow(channel);
    const [told] = await bench.series('cronjob_monitor_alerts_total');
    assert.deepEqual([Number(sent), told?.split(' ').at(-1)], [1, '1']);
    const charged = await bench.rows('select kind from deliveries where charged_at is not null');
    assert.deepEqual(
      charged.map(({ kind }) => kind),
      ['firing'],
    );
  });

  test('is not completed where its webhook asks for no updates: the alert keeps the log', async (t) => {
    const { bench, channel, complete, updates } = await begin(t, 'webhook', false);
    await bench.pass(messageWaitMs, 50);
    assert.equal(await complete(), 0);
    await bench.pass(2 * secondMs);
    assert.deepEqual([channel.arrivals(), await updates()], [1, []]);
    assert.equal((await bench.rows("select 1 as n from evidence where kind = 'logs'")).length, 1);
  });

  test('pages at once; the log goes to the same incident, and nothing follows the end', async (t) => {
    const { bench, channel, complete, succeed, wake, updates } = await begin(t, 'paging');
    await wake();
    assert.equal(channel.arrivals(), 1);
    await complete();
    await succeed();
    await bench.pass(2 * secondMs);
    const events = channel.wire().map((body) => JSON.parse(body) as { event_action: string; dedup_key: string });
    assert.deepEqual(
      events.map(({ event_action: does }) => does),
      ['trigger', 'trigger', 'resolve'],
    );
    assert.equal(new Set(events.map(({ dedup_key: key }) => key)).size, 1);
    assert.deepEqual(await updates(), ['sent']);
  });
});

describe('an update', () => {
  test('stands behind the message that it completes, and goes with no message that was given up', async (t) => {
    const { bench, channel, complete, wake, updates } = await begin(t, 'paging');
    channel.http?.answerAlways('hang');
    await wake();
    await bench.arriveAtReceiver(channel);
    await complete();
    assert.deepEqual([channel.arrivals(), await updates()], [1, ['ready']]);
    await bench.store.sql.raw("update deliveries set state = 'dead', claimed_by = null where kind = 'firing'");
    channel.http?.answerAlways({ status: 202 });
    await wake();
    await bench.pass(2 * secondMs);
    assert.deepEqual([channel.arrivals(), await updates()], [1, ['cancelled']]);
  });

  test('that its receiver does not take is tried twice and no more, and says nothing of the channel', async (t) => {
    const { bench, channel, complete, updates } = await begin(t, 'webhook');
    await bench.pass(messageWaitMs, 50);
    channel.http?.answerAlways({ status: 503 });
    await complete();
    await bench.pass(2 * minuteMs, 10 * secondMs);
    assert.deepEqual([channel.arrivals(), await updates()], [3, ['cancelled']]);
    const { failures_in_row: inRow, failed_total: failures, hold } = await bench.channelRow(channel);
    assert.deepEqual([Number(inRow), Number(failures), hold], [0, 0, null]);
    assert.deepEqual(await bench.series('cronjob_monitor_alerts_failed_total'), []);
  });

  test('that waits is cancelled by a later message of its stream, which is told why', async (t) => {
    const { bench, channel, complete, succeed, updates } = await begin(t, 'webhook');
    await bench.pass(messageWaitMs, 50);
    channel.http?.answerAlways({ status: 503 });
    await complete();
    assert.deepEqual(await updates(), ['ready']);
    channel.http?.answerAlways({ status: 200 });
    await succeed();
    await bench.pass(2 * minuteMs, 10 * secondMs);
    assert.deepEqual(
      sentTo(channel).map(({ type }) => type),
      ['alert.firing', 'alert.updated', 'alert.resolved'],
    );
    assert.deepEqual(await updates(), ['cancelled']);
    const reasons = await bench.rows("select reason from alert_decisions where action = 'cancelled'");
    assert.deepEqual(
      reasons.map(({ reason }) => reason),
      ['superseded'],
    );
  });

  test('that could not leave for ten minutes is cancelled and counts as no failure', async (t) => {
    const { bench, channel, complete, updates } = await begin(t, 'webhook');
    await bench.pass(messageWaitMs, 50);
    await bench.store.sql.raw('update channels set hold = ?, hold_until = ?', [
      'circuit',
      bench.clock.now() + 60 * minuteMs,
    ]);
    await complete();
    await bench.pass(9 * minuteMs, 30 * secondMs);
    assert.deepEqual(await updates(), ['ready']);
    await bench.pass(2 * minuteMs, 30 * secondMs);
    assert.deepEqual([channel.arrivals(), await updates()], [1, ['cancelled']]);
    const results = await bench.series('cronjob_monitor_deliveries_total');
    assert.ok(
      results.some((line) => line.includes('kind="update",result="cancelled"')) && !results.join().includes('dead'),
    );
  });

  test('whose answer was lost with its process is sent again under the same key, and notifies no person anew', async (t) => {
    const { bench, channel, dispatcher, complete, wake, updates } = await begin(t, 'paging');
    await wake();
    channel.http?.answerAlways('hang');
    await complete();
    assert.equal(channel.arrivals(), 2);
    void dispatcher.stop();
    await bench.store.sql.raw("update deliveries set claim_until = 1 where kind = 'update'");
    channel.http?.answerAlways({ status: 202 });
    bench.start();
    await bench.pass(2 * secondMs);
    const events = channel.wire().map((body) => JSON.parse(body) as { event_action: string; dedup_key: string });
    assert.deepEqual(
      events.map(({ event_action: does }) => does),
      ['trigger', 'trigger', 'trigger'],
    );
    assert.equal(new Set(events.map(({ dedup_key: key }) => key)).size, 1);
    assert.deepEqual(await updates(), ['sent']);
  });
});
