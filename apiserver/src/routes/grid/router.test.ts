import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grid } from '@cronjob-monitor/shared/contract';
import { findCronJob } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

async function grid(fleet: TestFleet, query = ''): Promise<Grid> {
  const answer = await fleet.ask(`/api/v1/grid${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as Grid;
}

const iso = (at: number): string => new Date(at).toISOString();
const at = (hours: number): number => testNow - hours * hourMs;

/** One CronJob with a late run, a missed one and a manual one, and one that never ran. */
async function twoCronJobs(fleet: TestFleet): Promise<void> {
  const backup = await fleet.addCronJob({ name: 'backup' });
  const quiet = await fleet.addCronJob({ name: 'quiet', namespace: 'data' });
  await fleet.addMonitor({}, [backup, quiet]);
  await fleet.addRuns(
    backup,
    { createdAt: at(30) },
    { createdAt: at(3) + 2 * minuteMs, scheduledAt: at(3), status: 'failed', jobName: 'backup-late' },
    { createdAt: at(1), trigger: 'manual', jobName: 'by-hand' },
  );
  const row = { slot_at: at(2), outcome: 0, in_maintenance: 0, decided_at: testNow };
  const id = (await findCronJob(fleet.store, 'prod', 'backup'))?.id;
  await fleet.store.sql('slots').insert({ ...row, cronjob_id: id });
}

test('gives a lane for each CronJob and a cell for each run or unmet expectation, oldest first', async () => {
  await using fleet = await startFleet();
  await twoCronJobs(fleet);
  const told = await grid(fleet);
  assert.equal(told.until, '2026-11-21T06:53:00.000Z');
  assert.equal(told.from, '2026-11-20T06:53:00.000Z');
  assert.deepEqual(
    told.items.map(({ verdict }) => [verdict.state, verdict.kind]),
    [
      ['healthy', 'succeeded'],
      ['unknown', 'neverRan'],
    ],
  );
  assert.deepEqual(
    told.items.map(({ verdict: _, figuresFrom: __, ...lane }) => lane),
    [
      {
        namespace: 'prod',
        name: 'backup',
        status: 'healthy',
        cells: [
          {
            at: iso(at(3)),
            outcome: 'late',
            jobName: 'backup-late',
            status: 'failed',
            trigger: 'scheduled',
            durationSeconds: 60,
          },
          { at: iso(at(2)), outcome: 'missed', jobName: null, status: null, trigger: null, durationSeconds: null },
          {
            at: iso(at(1)),
            outcome: null,
            jobName: 'by-hand',
            status: 'success',
            trigger: 'manual',
            durationSeconds: 60,
          },
        ],
        omitted: 0,
      },
      { namespace: 'data', name: 'quiet', status: 'unknown', cells: [], omitted: 0 },
    ],
  );
});

test('says from when on a lane is recorded: its first sight, or an older run that was still there', async () => {
  await using fleet = await startFleet();
  await twoCronJobs(fleet);
  await fleet.store.sql('cronjobs').update({ first_seen_at: at(20) });
  assert.deepEqual(
    (await grid(fleet)).items.map(({ name, figuresFrom }) => [name, figuresFrom]),
    [
      ['backup', iso(at(30))],
      ['quiet', iso(at(20))],
    ],
  );
});

test('filters, sorts and pages lanes', async () => {
  await using fleet = await startFleet();
  await twoCronJobs(fleet);
  const namesOf = async (query: string): Promise<string[]> => (await grid(fleet, query)).items.map(({ name }) => name);
  assert.deepEqual(await namesOf('?sort=namespace'), ['quiet', 'backup']);
  assert.deepEqual(await namesOf('?sort=status'), ['quiet', 'backup']);
  assert.deepEqual(await namesOf('?outcome=missed'), ['backup']);
  assert.deepEqual(await namesOf('?outcome=late,suspended'), ['backup']);
  assert.deepEqual(await namesOf('?outcome=suspended'), []);
  assert.deepEqual(await namesOf('?limit=1&offset=1'), ['quiet']);
  assert.equal((await grid(fleet, '?limit=500')).pagination.limit, 100);
  assert.equal((await grid(fleet, '?hours=48')).items[0]?.cells.length, 4);
  assert.equal((await grid(fleet, `?until=${iso(at(2))}`)).items[0]?.cells.length, 1);
  assert.equal((await fleet.ask('/api/v1/grid?hours=169')).status, 400);
});

test('lists the newest 200 cells and counts the older ones', async () => {
  await using fleet = await startFleet();
  const busy = await fleet.addCronJob({ name: 'busy' });
  await fleet.addMonitor({}, [busy]);
  await fleet.addRuns(busy, ...Array.from({ length: 250 }, (_, index) => ({ createdAt: testNow - index * minuteMs })));
  const [lane] = (await grid(fleet)).items;
  assert.equal(lane?.cells.length, 200);
  assert.equal(lane.omitted, 50);
  assert.equal(lane.cells.at(-1)?.at, iso(testNow));
});
