import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type CronJobFacts, type Execution, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { decodeMonitorSpec } from '@cronjob-monitor/shared/kube';
import { projectCronJobs, recordRuns } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, aTestStore, monitorDefaults } from '@cronjob-monitor/shared/testing';
import { Moves } from '../../figures/moves.ts';
import type { GatheredMonitor } from './gather.ts';
import { createMonitorRecords } from './record.ts';

const now = Date.UTC(2026, 10, 21, 8);
function gathered(spec: unknown, selected: readonly CronJobFacts[]): GatheredMonitor {
  const decoded = decodeMonitorSpec({ spec }, monitorDefaults);
  const monitor = { uid: randomUUID(), namespace: 'prod', name: 'm', generation: 1, createdAt: now, decoded };
  // What the records do not look at is left out.
  return { monitor, selected, leads: new Set(selected.map(({ uid }) => uid)), facts: {} } as unknown as GatheredMonitor;
}

const aRun = (cronJob: CronJobFacts, createdAt: number, durationMs: number): Execution =>
  aRecordedRun(cronJob, createdAt, { finishedAt: createdAt + durationMs });

test('a CronJob has its durations over the window of the monitor, one that never ran has none', async (t) => {
  const { store, epoch } = await aTestStore(t);
  const ran = aCronJob({ uid: randomUUID(), namespace: 'prod', name: 'ran' });
  const never = aCronJob({ uid: randomUUID(), namespace: 'prod', name: 'never' });
  await store.fenced(epoch, (tx) =>
    projectCronJobs(
      tx,
      [ran, never].map((facts) => ({ facts, seenAt: now })),
    ),
  );
  await recordRuns(store, epoch, [
    aRun(ran, now - 30 * hourMs, 90_000),
    aRun(ran, now - 2 * hourMs, 1_000),
    aRun(ran, now - hourMs, 3_000),
  ]);
  const records = createMonitorRecords({ store, epoch, moves: new Moves() });
  const durationsOf = async (spec: unknown): Promise<unknown> => {
    const monitor = gathered(spec, [ran, never]);
    await records.write(monitor, { phase: 'Active', conditions: [] }, now);
    const { worst } = await records.readHealth(monitor, now);
    await records.forget(monitor.monitor.uid, now);
    return Object.fromEntries(worst.map(({ name, durationMs }) => [name, durationMs]));
  };
  assert.deepEqual(await durationsOf({ sla: { windowDays: 1 } }), {
    ran: { avg: 2_000, p50: 1_000, p95: 3_000, p99: 3_000 },
    never: undefined,
  });
  assert.deepEqual(await durationsOf({}), {
    ran: { avg: 94_000 / 3, p50: 3_000, p95: 90_000, p99: 90_000 },
    never: undefined,
  });
});

test('a pass over a monitor around which nothing moved writes its instant and reads nothing', async (t) => {
  const { store, epoch } = await aTestStore(t);
  const moves = new Moves();
  t.after(store.onMoves(moves.take));
  const [ours, theirs] = ['prod', 'shop'].map((namespace) =>
    aCronJob({ uid: randomUUID(), namespace, name: 'backup' }),
  ) as [CronJobFacts, CronJobFacts];
  await store.fenced(epoch, (tx) =>
    projectCronJobs(
      tx,
      [ours, theirs].map((facts) => ({ facts, seenAt: now })),
    ),
  );
  const records = createMonitorRecords({ store, epoch, moves });
  const monitor = gathered({}, [ours]);
  const statements: string[] = [];
  store.sql.on('query', ({ sql }: { readonly sql: string }) => statements.push(sql));
  /** What a pass asks of the database, and how many runs it then counts. */
  const pass = async (at: number): Promise<[asked: number, runs: number | undefined]> => {
    statements.length = 0;
    await records.write(monitor, { phase: 'Active', conditions: [] }, at);
    const { worst } = await records.readHealth(monitor, at);
    return [statements.length, worst[0]?.totalRuns];
  };
  const [whole] = await pass(now);
  const quiet: [number, number] = [4, 0]; // begin, the fence, the instant, commit
  assert.ok(whole > 10);
  assert.deepEqual(await pass(now + 1), quiet);
  const [row] = await store.sql('monitors').select('evaluated_at');
  assert.equal(Number((row as { evaluated_at: unknown }).evaluated_at), now + 1);

  await recordRuns(store, epoch, [aRun(theirs, now - hourMs, 1_000)]);
  assert.deepEqual(await pass(now + 2), quiet, 'a run in another namespace is no matter of it');
  await recordRuns(store, epoch, [aRun(ours, now - hourMs, 1_000)]);
  assert.deepEqual((await pass(now + 3))[1], 1, 'a run that was recorded counts at once');
  await pass(now + 4); // the percentiles of a run are kept from the second time on
  assert.deepEqual(await pass(now + 5), [4, 1]);
  assert.ok((await pass(now + 5 + hourMs))[0] > 4, 'the window of days moves although nothing happens');
});

test('durations are read again when runs were added, every five minutes at most, and after an hour anyway', async (t) => {
  const { store, epoch } = await aTestStore(t);
  const cronJob = aCronJob({ uid: randomUUID(), namespace: 'prod', name: 'nightly' });
  await store.fenced(epoch, (tx) => projectCronJobs(tx, [{ facts: cronJob, seenAt: now }]));
  const moves = new Moves();
  const records = createMonitorRecords({ store, epoch, moves });
  const monitor = gathered({}, [cronJob]);
  await records.write(monitor, { phase: 'Active', conditions: [] }, now);
  const average = async (at: number): Promise<number | undefined> => {
    moves.take([{ namespace: 'prod' }]);
    return (await records.readHealth(monitor, at)).worst[0]?.durationMs?.avg;
  };
  assert.equal(await average(now), undefined);
  await recordRuns(store, epoch, [aRun(cronJob, now - hourMs, 1_000)]);
  assert.equal(await average(now), 1_000);
  await recordRuns(store, epoch, [aRun(cronJob, now - hourMs + 1, 3_000)]);
  assert.equal(await average(now + 5 * minuteMs - 1), 1_000);
  assert.equal(await average(now + 5 * minuteMs), 2_000);
  await store.sql('executions').update({ duration_ms: 5_000 });
  assert.equal(await average(now + 5 * minuteMs + hourMs - 1), 2_000);
  assert.equal(await average(now + 5 * minuteMs + hourMs), 5_000);
});
