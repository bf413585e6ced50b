import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Series } from '@cronjob-monitor/shared/contract';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { dayMs, hourMs } from '@cronjob-monitor/shared/domain';

async function series(fleet: TestFleet, path: string): Promise<Series> {
  const answer = await fleet.ask(`/api/v1/${path}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Series;
}

/** Runs on three of the last days, the first one five days ago. */
async function backup(fleet: TestFleet): Promise<void> {
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  const lasting = (daysAgo: number, seconds: number, changes = {}) => {
    const createdAt = testNow - daysAgo * dayMs + seconds;
    return { createdAt, startedAt: createdAt, finishedAt: createdAt + seconds * 1000, ...changes };
  };
  await fleet.addRuns(
    cronJob,
    lasting(5, 10),
    lasting(2, 20),
    lasting(2, 40, { status: 'failed' }),
    lasting(2, 30),
    lasting(2, 50, { status: 'replaced' }),
    lasting(0, 60, { createdAt: testNow - hourMs, trigger: 'manual' }),
  );
}

test('gives one item for each day, today last, and says which are recorded', async () => {
  await using fleet = await startFleet();
  await backup(fleet);
  const { items, figuresFrom, approximate } = await series(fleet, 'cronjobs/prod/backup/series?days=7');
  assert.equal(figuresFrom, '2026-11-16T00:00:00.000Z');
  assert.equal(approximate, false);
  assert.deepEqual(
    items.map(({ date, recorded, runs }) => [date, recorded, runs]),
    [
      ['2026-11-15', false, 0],
      ['2026-11-16', true, 1],
      ['2026-11-17', true, 0],
      ['2026-11-18', true, 0],
      ['2026-11-19', true, 3],
      ['2026-11-20', true, 0],
      ['2026-11-21', true, 0],
    ],
  );
  assert.deepEqual(items[4], {
    date: '2026-11-19',
    recorded: true,
    verdict: 'someFailed',
    runs: 3,
    success: 2,
    failed: 1,
    other: 1,
    manual: 0,
    successRate: 66.66,
    avgDurationSeconds: 25,
    p50DurationSeconds: 20,
    p95DurationSeconds: 30,
    maxDurationSeconds: 30,
    alerts: 0,
    slots: { late: 0, missed: 0, skipped: 0, suspended: 0, unseen: 0 },
    facts: {},
  });
  assert.deepEqual([items[6]?.manual, items[6]?.successRate, items[6]?.maxDurationSeconds], [1, null, null]);
});

test('each day has its verdict by the target of the monitor that leads; without one no day is below it', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: { sla: { minSuccessRate: 90 } } }, [cronJob]);
  const runOf = (daysAgo: number, status: 'success' | 'failed') => ({ createdAt: testNow - daysAgo * dayMs, status });
  await fleet.addRuns(cronJob, runOf(3, 'failed'), runOf(2, 'failed'), runOf(2, 'success'), runOf(1, 'success'));
  const { items, target } = await series(fleet, 'cronjobs/prod/backup/series?days=5');
  assert.equal(target, 90);
  assert.deepEqual(
    items.map(({ verdict }) => verdict),
    ['notRecorded', 'failed', 'belowTarget', 'succeeded', 'noRun'],
  );
  const all = await series(fleet, 'series?days=3');
  assert.deepEqual([all.target, all.items[0]?.verdict], [null, 'someFailed']);
});

test('gives 30 days without being asked, and at most 365', async () => {
  await using fleet = await startFleet();
  await backup(fleet);
  assert.equal((await series(fleet, 'cronjobs/prod/backup/series')).items.length, 30);
  assert.equal((await series(fleet, 'series?days=365')).items.length, 365);
  assert.equal((await fleet.ask('/api/v1/series?days=366')).status, 400);
  assert.equal((await fleet.ask('/api/v1/series?days=0')).status, 400);
});

test('gives the fleet, a namespace or a monitor without durations', async () => {
  await using fleet = await startFleet();
  await backup(fleet);
  const other = await fleet.addCronJob({ name: 'other', namespace: 'data' });
  await fleet.addRuns(other, { createdAt: testNow - 2 * dayMs });
  const runsOf = async (query: string): Promise<unknown> =>
    (await series(fleet, `series?days=3${query}`)).items[0]?.runs;
  assert.equal(await runsOf(''), 4);
  assert.equal(await runsOf('&namespace=data'), 1);
  assert.equal(await runsOf('&monitor=prod/dr'), 3);
  assert.equal(await runsOf('&namespace=nowhere'), 0);
  const [day] = (await series(fleet, 'series?days=3')).items;
  assert.deepEqual([day?.avgDurationSeconds, day?.p95DurationSeconds, day?.successRate], [null, null, 75]);
  assert.equal((await series(fleet, 'series?namespace=nowhere')).figuresFrom, null);
});

test('gives the facts that are asked for by day: least, median, most and last', async () => {
  await using fleet = await startFleet();
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  const told = (daysAgo: number, minutes: number, rows: number) => {
    const createdAt = testNow - daysAgo * dayMs + minutes * 60_000;
    const output = {
      values: new Map([
        ['rows', rows],
        ['bytes', 1],
      ]),
      problems: [],
    };
    return { createdAt, startedAt: createdAt, finishedAt: createdAt + 1_000, output };
  };
  await fleet.addRuns(cronJob, told(1, 0, 5), told(1, 1, 9), told(1, 2, 7), told(0, 0, 0));
  const factsOf = async (query: string) =>
    (await series(fleet, `cronjobs/prod/backup/series?days=2${query}`)).items.map(({ facts }) => facts);
  assert.deepEqual(await factsOf('&facts=rows,unknown'), [
    { rows: { min: 5, median: 7, max: 9, last: 7 } },
    { rows: { min: 0, median: 0, max: 0, last: 0 } },
  ]);
  assert.deepEqual(await factsOf(''), [{}, {}]);
});
