import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SuspendResult, TriggerResult } from '@cronjob-monitor/shared/contract';
import { ClusterError, type Cluster, type ClusterErrorCode, type RawObject } from '@cronjob-monitor/shared/kube';
import { forgetCronJob, putActiveJobs } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const path = '/api/v1/cronjobs/prod/backup';
const seconds = Math.floor(testNow / 1000);

interface Scripted {
  /** What the cluster has; undefined: nothing of that name. */
  cronJob: RawObject | undefined;
  failsWith?: ClusterErrorCode;
  taken?: number;
}

/** A cluster with one CronJob, that remembers what was written. */
function clusterWith(script: Scripted) {
  const jobs: Record<string, never>[] = [];
  const patches: boolean[] = [];
  const fail = (code: ClusterErrorCode | undefined): void => {
    if (code) throw new ClusterError(code, { verb: 'create', resource: 'jobs', message: 'refused' });
  };
  const cluster = {
    findCronJob: async () => script.cronJob,
    createJob: async (_namespace: string, job: Record<string, never>) => {
      fail(script.failsWith);
      jobs.push(job);
      if (jobs.length <= (script.taken ?? 0)) fail('alreadyExists');
      return job;
    },
    setSuspended: async (_key: unknown, suspended: boolean) => {
      fail(script.failsWith);
      patches.push(suspended);
    },
  };
  return { cluster: cluster as unknown as Cluster, jobs, patches };
}

function aRawCronJob(changes: { spec?: object; metadata?: object; status?: object } = {}): RawObject {
  return {
    metadata: { name: 'backup', namespace: 'prod', uid: 'uid-1', ...changes.metadata },
    spec: {
      schedule: '* * * * *',
      concurrencyPolicy: 'Allow',
      jobTemplate: {
        metadata: { labels: { app: 'backup' }, annotations: { note: 'x' } },
        spec: { backoffLimit: 2, template: { spec: { containers: [{ name: 'main' }] } } },
      },
      ...changes.spec,
    },
    status: { ...changes.status },
  };
}

async function fleetWith(script: Scripted, settings = {}) {
  const { cluster, jobs, patches } = clusterWith(script);
  const fleet = await startFleet({ cluster, settings });
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  return { fleet, cronJob, jobs, patches };
}

const post = (fleet: TestFleet, action: string) => fleet.ask(`${path}/${action}`, { method: 'POST' });

test('makes a Job of the template, owned by the CronJob and marked as manual', async () => {
  const { fleet, jobs } = await fleetWith({ cronJob: aRawCronJob() });
  await using _ = fleet;
  const answer = await post(fleet, 'trigger');
  assert.equal(answer.status, 200, answer.text);
  const jobName = `backup-manual-${seconds}`;
  assert.deepEqual(answer.json(), { success: true, jobName, message: 'Job created' });
  assert.deepEqual(jobs, [
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: jobName,
        namespace: 'prod',
        labels: { app: 'backup' },
        annotations: {
          note: 'x',
          'cronjob.kubernetes.io/instantiate': 'manual',
          'cronjob-monitor.io/triggered-by': 'anonymous',
        },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid: 'uid-1', controller: true }],
      },
      spec: { backoffLimit: 2, template: { spec: { containers: [{ name: 'main' }] } } },
    },
  ]);
});

test('raises the number when the name is taken, five times', async () => {
  const { fleet } = await fleetWith({ cronJob: aRawCronJob(), taken: 5 });
  await using _ = fleet;
  assert.equal(((await post(fleet, 'trigger')).json() as TriggerResult).jobName, `backup-manual-${seconds + 5}`);
  const full = await fleetWith({ cronJob: aRawCronJob(), taken: 6 });
  await using second = full.fleet;
  const answer = await post(second, 'trigger');
  assert.equal(answer.status, 409);
  assert.equal(answer.error().code, 'CONFLICT');
});

for (const policy of ['Forbid', 'Replace']) {
  test(`under ${policy} an unfinished Job refuses another one unless it is forced`, async () => {
    const cronJob = aRawCronJob({ spec: { concurrencyPolicy: policy }, status: { active: [{ name: 'backup-1' }] } });
    const { fleet, cronJob: known, jobs } = await fleetWith({ cronJob });
    await using _ = fleet;
    const job = { scheduledAt: undefined, createdAt: testNow, startedAt: testNow, finishing: false };
    const pod = { podName: undefined, podPhase: undefined, ready: undefined };
    await fleet.store.fenced(fleet.epoch, (tx) =>
      putActiveJobs(tx, [
        { ...job, ...pod, jobUid: 'j', cronJobUid: known.uid, jobName: 'backup-manual-1', trigger: 'manual' },
      ]),
    );
    const refused = await post(fleet, 'trigger');
    assert.equal(refused.status, 409);
    assert.equal(refused.error().code, 'CONCURRENCY_REFUSED');
    assert.deepEqual(refused.error().details, { policy, activeJobs: ['backup-manual-1', 'backup-1'] });
    assert.equal(jobs.length, 0);
    assert.equal((await post(fleet, 'trigger?force=true')).status, 200);
    assert.equal(jobs.length, 1);
  });
}

test('suspends and resumes, and writes nothing when it is so already', async () => {
  const script: Scripted = { cronJob: aRawCronJob() };
  const { fleet, patches } = await fleetWith(script);
  await using _ = fleet;
  assert.deepEqual((await post(fleet, 'suspend')).json(), {
    success: true,
    message: 'Suspended',
    suspended: true,
    changed: true,
  });
  script.cronJob = aRawCronJob({ spec: { suspend: true } });
  assert.equal(((await post(fleet, 'suspend')).json() as SuspendResult).changed, false);
  assert.equal(((await post(fleet, 'resume')).json() as SuspendResult).changed, true);
  assert.deepEqual(patches, [true, false]);
});

/** What the cluster says, and what the caller hears. */
const refusals: readonly (readonly [ClusterErrorCode, number, string])[] = [
  ['forbidden', 403, 'CLUSTER_FORBIDDEN'],
  ['unreachable', 502, 'CLUSTER_UNAVAILABLE'],
  ['timeout', 502, 'CLUSTER_UNAVAILABLE'],
  ['unavailable', 502, 'CLUSTER_UNAVAILABLE'],
  ['conflict', 409, 'CONFLICT'],
  ['invalid', 409, 'CONFLICT'],
];

test('tells what the cluster refuses, and names the right that is missing', async () => {
  for (const [failsWith, status, code] of refusals) {
    const { fleet } = await fleetWith({ cronJob: aRawCronJob(), failsWith });
    await using _ = fleet;
    for (const action of ['trigger', 'suspend']) {
      const answer = await post(fleet, action);
      assert.equal(answer.status, status, `${action} ${failsWith}`);
      assert.equal(answer.error().code, code);
    }
    if (failsWith !== 'forbidden') continue;
    const { details } = (await post(fleet, 'suspend')).error();
    assert.deepEqual(details, { verb: 'patch', resource: 'cronjobs', namespace: 'prod' });
  }
});

test('acts on nothing that is deleted, being deleted, or not selected', async () => {
  const gone = await fleetWith({ cronJob: undefined });
  await using first = gone.fleet;
  assert.equal((await post(first, 'trigger')).status, 404);
  const going = await fleetWith({ cronJob: aRawCronJob({ metadata: { deletionTimestamp: '2026-11-21T00:00:00Z' } }) });
  await using second = going.fleet;
  assert.equal((await post(second, 'suspend')).error().code, 'CONFLICT');
  const history = await fleetWith({ cronJob: aRawCronJob() });
  await using third = history.fleet;
  await third.addRuns(history.cronJob, {});
  await third.store.fenced(third.epoch, (tx) => forgetCronJob(tx, history.cronJob.uid, testNow));
  assert.equal((await third.ask(path)).status, 200, 'its history is told');
  assert.equal((await post(third, 'trigger')).error().details?.reason, 'deleted');
});

test('costly calls above the limit are 429; refused ones do not count', async () => {
  const { fleet } = await fleetWith({ cronJob: aRawCronJob() }, { costlyRequestsPerMinute: 2 });
  await using _ = fleet;
  for (let call = 0; call < 3; call += 1) assert.equal((await post(fleet, 'trigger?force=maybe')).status, 400);
  assert.equal((await post(fleet, 'trigger')).status, 200);
  await fleet.clock.advance(20_000);
  assert.equal((await post(fleet, 'trigger')).status, 200);
  const refused = await post(fleet, 'trigger');
  assert.equal(refused.status, 429);
  assert.equal(refused.headers['retry-after'], '40');
  assert.deepEqual(refused.error().details, { retryAfterSeconds: 40 });
  await fleet.clock.advance(41_000);
  assert.equal((await post(fleet, 'trigger')).status, 200);
});
