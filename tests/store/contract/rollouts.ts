import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rolloutOf, type CronJobFacts, type RolloutVerdict, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  deleteHistory,
  findCronJob,
  insertAlerts,
  listUnsettledRollouts,
  moveAlertCounters,
  projectCronJob,
  projectMonitor,
  recordRuns,
  setTargets,
  updateExecutionEvidence,
} from '@cronjob-monitor/shared/store';
import { anAlert } from '../alert-facts.ts';
import { aRun, now, projected, seen } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';

const [one, two] = ['1'.repeat(32), '2'.repeat(32)];

type Written = CronJobFacts & { readonly id: number };

/** A CronJob that a monitor selects, with a template of an hour ago. */
async function watched(
  bench: Bench,
): Promise<Written & { readonly monitor: { uid: string; namespace: string; name: string } }> {
  const { store, epoch } = bench;
  const namespace = `n${randomUUID().slice(0, 8)}`;
  const cronJob = await projected(store, epoch, {
    namespace,
    templateHash: one,
    templateWrittenAt: now - 60 * minuteMs,
  });
  const monitor = { uid: randomUUID(), namespace, name: 'all' };
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, {
      ...monitor,
      generation: 1,
      createdAt: now - 90 * minuteMs,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: {},
      evaluatedAt: now,
    });
    await setTargets(tx, monitor.uid, [{ cronJobUid: cronJob.uid, leading: true }], now);
  });
  return { ...cronJob, monitor };
}

/** The rollout as the row of the API has it. */
async function rolloutIn({ store }: Bench, { namespace, name }: Written): Promise<RolloutVerdict> {
  const found = await findCronJob(store, namespace, name);
  assert.ok(found);
  return rolloutOf({ ...found, isMonitored: true, alerts: [] });
}

const runsOf = async ({ store }: Bench, { namespace, name }: Written): Promise<(string | undefined)[]> => {
  const { first, last } = (await findCronJob(store, namespace, name))?.templateRuns ?? {};
  return [first?.jobName, last?.jobName];
};

async function rewrite(bench: Bench, cronJob: Written, templateHash: string, minutesAgo: number): Promise<void> {
  const at = now - minutesAgo * minuteMs;
  const changes = { templateHash, templateWrittenAt: at, generation: cronJob.generation + 1 };
  await bench.store.fenced(bench.epoch, (tx) =>
    projectCronJob(tx, seen({ ...cronJob, ...changes }, { seenAt: at + 400 })),
  );
}

const minutes = (ago: number): { createdAt: number } => ({ createdAt: now - ago * minuteMs });

export const rollouts = contract('the rollout of a job template', (test) => {
  test('follows its runs, whatever earlier templates did, and one that comes back has run before', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Progressing');

    const good = aRun(cronJob, { ...minutes(50), templateHash: one });
    await recordRuns(store, epoch, [good, aRun(cronJob, { ...minutes(70), templateHash: two })]);
    assert.deepEqual(await runsOf(bench, cronJob), [good.jobName, good.jobName]);
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Healthy');

    await rewrite(bench, cronJob, two, 40);
    // A run of this template of before it was there: it came back.
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Healthy');
    assert.deepEqual((await runsOf(bench, cronJob))[0], undefined);

    const bad = aRun(cronJob, { ...minutes(30), templateHash: two, status: 'failed', exitCode: undefined });
    await recordRuns(store, epoch, [bad]);
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Degraded');
    await updateExecutionEvidence(store, epoch, bad.jobUid, { exitCode: 137, reason: 'OOMKilled' });
    assert.match((await rolloutIn(bench, cronJob)).message, /exit code 137, OOMKilled/);

    await rewrite(bench, cronJob, '3'.repeat(32), 20);
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Progressing');
    await rewrite(bench, cronJob, one, 10);
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Healthy');
  });

  test('an edit of anything else leaves it, and so does a hash that no write explains', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob, { ...minutes(50), templateHash: one })]);
    // The API server begins to fill in another default: the write is that of before.
    const changes = { templateHash: two, schedule: '1 1 * * *' };
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...cronJob, ...changes })));
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Healthy');
    assert.equal((await findCronJob(store, cronJob.namespace, cronJob.name))?.template?.at, now - 60 * minuteMs);
  });

  test('a history that is removed takes what was known of its runs', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob, { ...minutes(50), templateHash: one, status: 'failed' })]);
    await deleteHistory(store, cronJob, { budgetMs: 10_000 });
    assert.equal((await rolloutIn(bench, cronJob)).state, 'Progressing');
  });

  test('a monitor is told of those alone that are not all well, with their alerts', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    const statesNow = async (): Promise<string[]> =>
      (await listUnsettledRollouts(store, cronJob.monitor)).map(
        (row) => rolloutOf({ ...row, isMonitored: true }).state,
      );
    assert.deepEqual(await statesNow(), ['Progressing']);
    await recordRuns(store, epoch, [aRun(cronJob, { ...minutes(50), templateHash: one })]);
    assert.deepEqual(await statesNow(), []);
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [anAlert(cronJob.id, now, { type: 'missedSchedule', sinceAt: now })]);
      await moveAlertCounters(tx, [cronJob.id]);
    });
    assert.deepEqual(await statesNow(), ['Degraded']);
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...cronJob, suspended: true })));
    assert.deepEqual(await statesNow(), []);
  });
});
