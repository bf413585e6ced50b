import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suspendedJob, type Grid, type SlotPage, type Stats } from '@cronjob-monitor/shared/contract';
import { putActiveJobs, putClusterState, type ActiveJob } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

const path = '/api/v1/cronjobs/prod/backup/slots';
/** The test's clock stands at 06:52:30. */
const sixOClock = testNow - 52.5 * minuteMs;
const at = (hoursBefore: number): number => sixOClock - hoursBefore * hourMs;
const iso = (instant: number): string => new Date(instant).toISOString();

/** Due each hour: the run of 04:00 came late, that of 03:00 in time; 05:00 and 06:00 are not judged. */
async function hourly(fleet: TestFleet) {
  const cronJob = await fleet.addCronJob({ name: 'backup', schedule: '0 * * * *' });
  await fleet.addMonitor({}, [cronJob]);
  await fleet.addRuns(
    cronJob,
    { createdAt: at(3), status: 'failed' },
    { createdAt: at(2) + 90_000, scheduledAt: at(2), jobName: 'backup-late' },
  );
  return cronJob;
}

async function list(fleet: TestFleet, query = ''): Promise<SlotPage> {
  const answer = await fleet.ask(`${path}${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as SlotPage;
}

const outcomesOf = ({ items }: SlotPage): unknown[] => items.map(({ outcome }) => outcome);

test('tells each expected run and what became of it, those not judged yet first', async () => {
  await using fleet = await startFleet();
  await hourly(fleet);
  const told = await list(fleet);
  assert.deepEqual(
    told.items.map(({ scheduledFor, outcome }) => [scheduledFor, outcome]),
    [
      [iso(at(0)), null],
      [iso(at(1)), null],
      [iso(at(2)), 'late'],
      [iso(at(3)), 'matched'],
    ],
  );
  assert.deepEqual(told.items[2], {
    scheduledFor: iso(at(2)),
    outcome: 'late',
    cause: null,
    message: null,
    inMaintenance: false,
    jobName: 'backup-late',
    executionStatus: 'success',
    startedAt: iso(at(2) + 91_000),
    durationSeconds: 60,
    delaySeconds: 90,
  });
  assert.deepEqual([told.summary.matched, told.summary.late, told.summary.missed], [1, 1, 0]);
  assert.equal(told.evaluatedThrough, null);
  assert.deepEqual(told.pagination, { total: 4, limit: 100, offset: 0, hasMore: false });
});

test('says of an expected run whose Job is suspended that it is', async () => {
  await using fleet = await startFleet();
  const { uid: cronJobUid } = await hourly(fleet);
  const job = (hours: number, waitingReason?: string): ActiveJob =>
    anActiveJob(cronJobUid, {
      jobUid: `77aa21c0-0c1d-4a8e-9b37-51f0a7c3d9e${hours}`,
      jobName: `backup-${hours}`,
      createdAt: at(hours),
      waitingReason,
    });
  await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [job(0), job(1, suspendedJob)]));
  const { items } = await list(fleet, '?limit=2');
  assert.deepEqual(
    items.map(({ outcome, executionStatus, message }) => [outcome, executionStatus, message]),
    [
      ['matched', null, null],
      ['matched', null, 'Its Job is suspended (spec.suspend)'],
    ],
  );
});

/** Query, and the outcomes it gives in their order. */
const queries: readonly (readonly [string, readonly unknown[]])[] = [
  ['?limit=1', [null]],
  ['?limit=2&offset=1', [null, 'late']],
  ['?limit=2&offset=2', ['late', 'matched']],
  ['?sort=scheduledFor', ['matched', 'late', null, null]],
  ['?sort=scheduledFor&limit=2&offset=1', ['late', null]],
  ['?outcome=late', ['late']],
  ['?outcome=late,matched', ['late', 'matched']],
  ['?outcome=missed', []],
  [`?since=${iso(at(2))}`, [null, null, 'late']],
  [`?until=${iso(at(1))}`, ['late', 'matched']],
];

test('filters, sorts and pages over both', async () => {
  await using fleet = await startFleet();
  await hourly(fleet);
  for (const [query, outcomes] of queries) assert.deepEqual(outcomesOf(await list(fleet, query)), outcomes, query);
  assert.equal((await fleet.ask(`${path}?outcome=lost`)).status, 400);
  assert.equal((await fleet.ask(`${path}?since=2026-11-21&until=2026-11-20`)).status, 400);
});

test('expects nothing of a suspended CronJob, or one whose schedule cannot be judged', async () => {
  await using fleet = await startFleet();
  const suspended = await fleet.addCronJob({ name: 'backup', schedule: '* * * * *', suspended: true });
  const broken = await fleet.addCronJob({ name: 'broken', schedule: 'never' }, { problem: 'unparsable' });
  await fleet.addMonitor({}, [suspended, broken]);
  assert.deepEqual((await list(fleet)).items, []);
  const answer = await fleet.ask('/api/v1/cronjobs/prod/broken/slots');
  assert.deepEqual((answer.json() as SlotPage).items, []);
});

test('a start is late by what is usual in the cluster', async () => {
  await using fleet = await startFleet();
  await hourly(fleet);
  await fleet.store.fenced(fleet.epoch, (tx) => putClusterState(tx, 'startSkew', { p99Ms: 40_000, at: testNow }));
  assert.deepEqual(outcomesOf(await list(fleet)), [null, null, 'matched', 'matched']);
  const stats = (await fleet.ask('/api/v1/stats')).json() as Stats;
  assert.deepEqual([stats.slots24h.matched, stats.slots24h.late], [2, 0]);
  const grid = (await fleet.ask('/api/v1/grid')).json() as Grid;
  assert.deepEqual(
    grid.items[0]?.cells.map(({ outcome }) => outcome),
    ['matched', 'matched'],
  );
});
