import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listRecentSlots } from '@cronjob-monitor/shared/store';
import { readRows } from '../store/rows.ts';
import { aCronJob, openStage } from './ledger/stage.ts';

const count = 200;

/** F28: nothing is started for three hours. All but the newest slot of each CronJob is missed, and the ledger says why. */
test(`F28, the controller is down for three hours and ${count} CronJobs miss their runs`, async (context) => {
  const cronJobs = Array.from({ length: count }, (_, index) => aCronJob(`job-${index}`, { schedule: '*/30 * * * *' }));
  const stage = await openStage(context, { startAt: '2026-11-21T07:50:00Z', cronJobs });
  await stage.passTo('2026-11-21T08:40:00Z');
  const resume = stage.sim.pauseCronJobs();
  await stage.passTo('2026-11-21T11:40:00Z');
  const missed = await readRows(stage.rig.store, 'select cause from slots where outcome = 0');
  assert.equal(missed.length, 6 * count, 'told while it is down, and not after');
  assert.ok(
    missed.every(({ cause }) => Number(cause) === 3),
    'no Job came in the whole cluster',
  );
  resume();
  await stage.passTo('2026-11-21T12:40:00Z');
  for (const index of [0, count / 2, count - 1]) {
    assert.deepEqual(await stage.counts(`job-${index}`), { 'run: success': 5, missed: 5 });
  }
  assert.deepEqual(await stage.problems('2026-11-21T12:20:00Z'), []);
  const [row] = await readRows(stage.rig.store, 'select min(id) as id from cronjobs');
  const recent = (await listRecentSlots(stage.rig.store, [Number(row?.['id'])], 4)).get(Number(row?.['id']));
  assert.deepEqual(
    recent?.map(({ outcome }) => outcome),
    ['matched', 'matched', 'late', 'missed'],
  );
});
