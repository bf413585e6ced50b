import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timeline, TimelineItem } from '@cronjob-monitor/shared/contract';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

async function timeline(fleet: TestFleet, query = ''): Promise<Timeline> {
  const answer = await fleet.ask(`/api/v1/timeline${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Timeline;
}

async function itemOf(fleet: TestFleet, name: string, query = ''): Promise<TimelineItem> {
  const answer = await fleet.ask(`/api/v1/cronjobs/prod/${name}/timeline${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as TimelineItem;
}

const timesOf = ({ next }: TimelineItem): string[] => next.map(({ scheduledFor }) => scheduledFor);

/** Four CronJobs: hourly, daily in Berlin, each minute, and one that is suspended. */
async function fourCronJobs(fleet: TestFleet): Promise<void> {
  const hourly = await fleet.addCronJob({ name: 'hourly', schedule: '0 * * * *' });
  const daily = await fleet.addCronJob({ name: 'daily', schedule: '30 2 * * *', timeZone: 'Europe/Berlin' });
  const busy = await fleet.addCronJob({ name: 'busy', namespace: 'data', schedule: '* * * * *' });
  const paused = await fleet.addCronJob({ name: 'paused', schedule: '* * * * *', suspended: true });
  const maintenanceWindows = [{ name: 'night', schedule: '0 1 * * *', duration: '1h' }];
  await fleet.addMonitor({ spec: { maintenanceWindows } }, [hourly, daily, busy, paused]);
  await fleet.addRuns(
    daily,
    { createdAt: testNow - dayMs },
    { createdAt: testNow - 2 * dayMs, finishedAt: testNow - 2 * dayMs + 31_000 },
  );
}

test('lists the runs to come of each CronJob, the next one first', async () => {
  await using fleet = await startFleet();
  await fourCronJobs(fleet);
  const told = await timeline(fleet);
  assert.equal(told.from, '2026-11-21T06:52:00.000Z');
  assert.equal(told.until, '2026-11-22T06:52:00.000Z');
  assert.deepEqual(
    told.items.map(({ name, next, omitted }) => [name, next.length, omitted]),
    [
      ['busy', 200, 1240],
      ['hourly', 24, 0],
      ['daily', 1, 0],
      ['paused', 0, 0],
    ],
  );
  const { verdict, ...daily } = told.items[2] as TimelineItem;
  assert.deepEqual([verdict.state, verdict.kind], ['healthy', 'succeeded']);
  assert.deepEqual(daily, {
    namespace: 'prod',
    name: 'daily',
    timezone: 'Europe/Berlin',
    suspended: false,
    expectedDurationSeconds: 30,
    next: [
      {
        scheduledFor: '2026-11-22T01:30:00.000Z',
        localTime: '2026-11-22T02:30:00+01:00',
        dst: 'none',
        inMaintenance: true,
      },
    ],
    skippedDates: [],
    omitted: 0,
  });
  assert.equal(told.items[1]?.expectedDurationSeconds, null);
  assert.deepEqual(told.pagination, { total: 4, limit: 50, offset: 0, hasMore: false });
});

test('counts the runs of all filtered CronJobs in buckets of a quarter of an hour', async () => {
  await using fleet = await startFleet();
  await fourCronJobs(fleet);
  const { bucketSeconds, buckets, approximate } = await timeline(fleet, '?namespace=prod&limit=1');
  assert.equal(bucketSeconds, 900);
  assert.equal(approximate, false);
  assert.equal(buckets.length, 97);
  assert.equal(buckets[0]?.start, '2026-11-21T06:45:00.000Z');
  const busyBuckets = buckets.filter(({ runs }) => runs > 0);
  assert.equal(busyBuckets.length, 25, '24 hours and 01:30');
  assert.deepEqual(busyBuckets[0], { start: '2026-11-21T07:00:00.000Z', runs: 1, cronJobs: 1 });
});

test('counts what runs more often than that by its rate, and says so', async () => {
  await using fleet = await startFleet();
  await fourCronJobs(fleet);
  const { buckets, approximate } = await timeline(fleet, '?namespace=data');
  assert.equal(approximate, true);
  assert.deepEqual(new Set(buckets.slice(1, -1).map(({ runs, cronJobs }) => `${runs} ${cronJobs}`)), new Set(['15 1']));
  const total = buckets.reduce((sum, { runs }) => sum + runs, 0);
  assert.ok(Math.abs(total - 1440) < 5, String(total));
  const week = await timeline(fleet, '?namespace=data&hours=168');
  assert.equal(week.bucketSeconds, 3600);
  assert.equal(week.buckets[5]?.runs, 60);
});

/** Query, and the names it gives in their order. */
const queries: readonly (readonly [string, readonly string[]])[] = [
  ['?sort=name', ['busy', 'daily', 'hourly', 'paused']],
  ['?sort=-nextRun', ['daily', 'hourly', 'busy', 'paused']],
  ['?search=ly', ['hourly', 'daily']],
  ['?monitor=prod/other', []],
  ['?limit=1&offset=1', ['hourly']],
];

test('filters, sorts and pages', async () => {
  await using fleet = await startFleet();
  await fourCronJobs(fleet);
  for (const [query, names] of queries) {
    const { items } = await timeline(fleet, query);
    assert.deepEqual(
      items.map(({ name }) => name),
      names,
      query,
    );
  }
  for (const query of ['?hours=0', '?hours=169', '?sort=verdict']) {
    assert.equal((await fleet.ask(`/api/v1/timeline${query}`)).status, 400, query);
  }
});

test('gives the next runs of one CronJob, however far', async () => {
  await using fleet = await startFleet();
  const leap = await fleet.addCronJob({ name: 'leap', schedule: '0 0 29 2 *' });
  await fleet.addMonitor({}, [leap]);
  assert.deepEqual(timesOf(await itemOf(fleet, 'leap', '?count=2')), [
    '2028-02-29T00:00:00.000Z',
    '2032-02-29T00:00:00.000Z',
  ]);
});

test('tells wall times that come twice, and days on which one does not come at all', async () => {
  await using fleet = await startFleet();
  const daily = await fleet.addCronJob({ name: 'daily', schedule: '30 2 * * *', timeZone: 'Europe/Berlin' });
  await fleet.addMonitor({}, [daily]);
  fleet.clock.stepWall(Date.parse('2027-03-27T12:00:00Z') - testNow);
  const spring = await itemOf(fleet, 'daily', '?count=2');
  assert.deepEqual(timesOf(spring), ['2027-03-29T00:30:00.000Z', '2027-03-30T00:30:00.000Z']);
  assert.deepEqual(spring.skippedDates, ['2027-03-28']);
  fleet.clock.stepWall(Date.parse('2027-10-30T12:00:00Z') - fleet.clock.now());
  const autumn = await itemOf(fleet, 'daily', '?count=3');
  assert.deepEqual(
    autumn.next.map(({ localTime, dst }) => [localTime, dst]),
    [
      ['2027-10-31T02:30:00+02:00', 'repeated'],
      ['2027-10-31T02:30:00+01:00', 'repeated'],
      ['2027-11-01T02:30:00+01:00', 'none'],
    ],
  );
});

test('intervals count from the last run', async () => {
  await using fleet = await startFleet();
  const every = await fleet.addCronJob({ name: 'every', schedule: '@every 7h', lastScheduleAt: testNow - 10 * hourMs });
  await fleet.addMonitor({}, [every]);
  assert.deepEqual(timesOf(await itemOf(fleet, 'every', '?count=2')), [
    new Date(testNow + 4 * hourMs).toISOString(),
    new Date(testNow + 11 * hourMs).toISOString(),
  ]);
});
