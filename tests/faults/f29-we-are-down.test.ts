import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readRows } from '../store/rows.ts';
import { aCronJob, openStage, type Stage } from './ledger/stage.ts';

const startAt = '2026-11-21T07:50:00Z';
const hourly = '0 * * * *';

async function sixHoursAway(
  context: Parameters<typeof openStage>[0],
  cronJob: Record<string, unknown>,
): Promise<Stage> {
  const stage = await openStage(context, { startAt, cronJobs: [cronJob] });
  await stage.passTo('2026-11-21T09:30:00Z');
  await stage.kill();
  return stage;
}

/** F29: we are down for six hours. What is left in the cluster tells what ran; what tells nothing is shown as not seen. */
describe('F29, no controller watches for six hours', () => {
  test('Jobs that are still there are recorded', async (context) => {
    const stage = await sixHoursAway(context, aCronJob('kept', { schedule: hourly, successfulJobsHistoryLimit: 20 }));
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    assert.deepEqual(await stage.counts('kept'), { 'run: success': 8 });
    const runs = await readRows(stage.rig.store, 'select flags from executions');
    assert.equal(runs.filter(({ flags }) => (Number(flags) & 1) !== 0).length, 6, 'told late');
    assert.deepEqual(await stage.problems('2026-11-21T15:00:00Z'), []);
  });

  test('of Jobs that were cleared away the newest is inferred, the others are not seen', async (context) => {
    const stage = await sixHoursAway(context, aCronJob('gone', { schedule: hourly }, { ttlS: 0 }));
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    assert.deepEqual(await stage.counts('gone'), { 'run: success': 2, unobserved: 5, 'run: inferred': 1 });
    const [success] = await readRows(stage.rig.store, 'select max(last_success_at) as at from cronjobs');
    assert.equal(Number(success?.['at']), stage.truth.get('gone').jobs.at(-1)?.endedAt);
    assert.deepEqual(await stage.problems('2026-11-21T15:00:00Z'), []);
  });

  test('of failed ones that were cleared away nothing is inferred', async (context) => {
    const play = { ttlS: 0, outcome: 'exit:1' };
    const stage = await sixHoursAway(context, aCronJob('failed', { schedule: hourly }, play));
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    assert.deepEqual(await stage.counts('failed'), { 'run: failed': 2, unobserved: 5, 'run: unobserved': 1 });
    assert.deepEqual(await stage.problems('2026-11-21T15:00:00Z'), []);
  });

  test('where nothing can have been cleared away, what is not there was missed', async (context) => {
    const cronJob = aCronJob('missed', {
      schedule: hourly,
      successfulJobsHistoryLimit: 20,
      failedJobsHistoryLimit: 20,
    });
    const stage = await sixHoursAway(context, cronJob);
    const resume = stage.sim.pauseCronJobs();
    await stage.passTo('2026-11-21T13:30:00Z');
    resume();
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    // The newest slot was started late; three before it were not.
    assert.deepEqual(await stage.counts('missed'), { 'run: success': 5, missed: 3 });
    assert.deepEqual(await stage.problems('2026-11-21T15:00:00Z'), []);
  });

  test('what was never started is missed whatever was cleared away', async (context) => {
    const stage = await sixHoursAway(context, aCronJob('silent', { schedule: hourly }, { ttlS: 0 }));
    stage.sim.pauseCronJobs();
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    assert.deepEqual(await stage.counts('silent'), { 'run: success': 2, missed: 6 });
  });

  test('a crash in the middle of catching up forgets no gap, and one line tells of it', async (context) => {
    const stage = await sixHoursAway(context, aCronJob('gone', { schedule: hourly }, { ttlS: 0, outcome: 'exit:1' }));
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    await stage.kill();
    await stage.passTo('2026-11-21T15:31:00Z');
    await stage.start();
    await stage.passTo('2026-11-21T16:10:00Z');
    const counts = await stage.counts('gone');
    assert.equal(counts['missed'], undefined);
    assert.equal(counts['unobserved'], 5);
    const lines = stage.rig.log.lines.filter(
      ({ message }) => message === 'runs that were due while the service did not watch',
    );
    assert.equal(lines.length, 1);
  });

  test('a run that appears after all takes the place of what was inferred', async (context) => {
    const cronJob = aCronJob('back', { schedule: hourly, successfulJobsHistoryLimit: 0 });
    const stage = await sixHoursAway(context, cronJob);
    await stage.passTo('2026-11-21T15:30:00Z');
    await stage.start();
    assert.equal((await stage.counts('back'))['run: inferred'], 1);
    const newest = stage.truth.get('back').jobs.at(-1);
    stage.sim.objects.put(endedJob('back', stage.truth.get('back').uid, newest?.slotAt ?? 0, newest?.endedAt ?? 0));
    await stage.passTo('2026-11-21T15:32:00Z');
    const counts = await stage.counts('back');
    assert.equal(counts['run: inferred'], undefined);
    assert.equal(counts['run: success'], 3);
  });
});

function endedJob(name: string, ownerUid: string, slotAt: number, endedAt: number): Record<string, unknown> {
  const time = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${slotAt / 60_000}`,
      namespace: 'default',
      creationTimestamp: time(slotAt),
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': time(slotAt) },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: ownerUid, controller: true }],
    },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main:1' }] } } },
    status: {
      startTime: time(slotAt),
      completionTime: time(endedAt),
      succeeded: 1,
      conditions: [
        { type: 'Complete', status: 'True', lastTransitionTime: time(endedAt), reason: 'CompletionsReached' },
      ],
    },
  };
}
