import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  listCronJobIds,
  listEvidence,
  listExecutions,
  StoreError,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

let fixture: RecordingFixture;
before(async () => {
  fixture = await startRecording();
});
after(() => fixture.stop());

interface Owner {
  readonly uid: string;
  readonly name: string;
}

function putCronJob(name: string, spec = {}, jobSpec = {}): Owner {
  const { metadata } = fixture.sim.objects.put(aCronJobObject(name, spec, jobSpec));
  return { uid: metadata.uid, name };
}

function putJob(owner: Owner, name: string, outcome: string, spec = {}): string {
  return fixture.sim.objects.put(aJobObject(owner, name, outcome, spec)).metadata.uid;
}

const jobName = (name: string) => ({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'prod', name });

/** The recorded runs of a CronJob's name, once there are as many as expected. */
async function runsOf(name: string, count: number, withinMs = 10_000): Promise<StoredExecution[]> {
  const until = performance.now() + withinMs;
  for (;;) {
    const runs = await read(name);
    if (runs.length >= count || performance.now() > until) {
      assert.equal(runs.length, count, `runs of ${name}`);
      return runs;
    }
    await systemClock.sleep(50);
  }
}

async function read(name: string): Promise<StoredExecution[]> {
  try {
    const cronJobIds = await listCronJobIds(fixture.store, 'prod', name);
    return await listExecutions(fixture.store, { cronJobIds }, { page: { limit: 100, offset: 0 } });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'schema') return []; // the controller has not made the tables yet
    throw error;
  }
}

test('a run that succeeded and one that failed are recorded once each, with exit code and reason', async () => {
  const owner = putCronJob('plain');
  putJob(owner, 'plain-good', 'success');
  putJob(owner, 'plain-bad', 'exit:3');
  const runs = await runsOf('plain', 2);
  const told = runs.map(({ jobName, status, exitCode, reason, jobReason }) => ({
    jobName,
    status,
    exitCode,
    reason,
    jobReason,
  }));
  assert.deepEqual(
    told.toSorted((a, b) => (a.jobName < b.jobName ? -1 : 1)),
    [
      { jobName: 'plain-bad', status: 'failed', exitCode: 3, reason: 'Error', jobReason: 'BackoffLimitExceeded' },
      {
        jobName: 'plain-good',
        status: 'success',
        exitCode: undefined,
        reason: undefined,
        jobReason: 'CompletionsReached',
      },
    ],
  );
});

test('a run whose Job is gone a moment after its end is recorded', async () => {
  const owner = putCronJob('brief');
  for (let n = 0; n < 20; n++)
    putJob(owner, `brief-${n}`, n % 2 === 0 ? 'success' : 'exit:1', { ttlSecondsAfterFinished: 0 });
  const runs = await runsOf('brief', 20);
  assert.equal(runs.filter(({ status }) => status === 'failed').length, 10);
  assert.deepEqual([...new Set(runs.filter(({ status }) => status === 'failed').map(({ exitCode }) => exitCode))], [1]);
});

test('a Job that is deleted while it runs is recorded as deleted', async () => {
  const owner = putCronJob('removed');
  putJob(owner, 'removed-1', 'hang');
  await systemClock.sleep(500);
  fixture.sim.objects.remove(jobName('removed-1'));
  const [run] = await runsOf('removed', 1);
  assert.equal(run?.status, 'deleted');
});

test('the log of a run is kept, made safe', async () => {
  const owner = putCronJob('logged');
  const uid = putJob(owner, 'logged-1', 'exit:9');
  await runsOf('logged', 1);
  for (let tries = 0; tries < 60; tries++) {
    const log = (await listEvidence(fixture.store, uid)).find(({ kind }) => kind === 'logs');
    if (log) {
      assert.match(log.body ?? '', /log of exit:9/);
      assert.equal((await read('logged'))[0]?.hasLogs, true);
      return;
    }
    await systemClock.sleep(50);
  }
  assert.fail('no log was kept');
});

test('a CronJob of the same name made anew has a history of its own', async () => {
  const first = putCronJob('twice');
  putJob(first, 'twice-1', 'success');
  await runsOf('twice', 1);
  fixture.sim.objects.remove({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'prod', name: 'twice' });
  const second = putCronJob('twice');
  putJob(second, 'twice-2', 'success');
  const runs = await runsOf('twice', 2);
  assert.deepEqual(new Set(runs.map(({ cronJobUid }) => cronJobUid)), new Set([first.uid, second.uid]));
});

test('a restart records nothing twice, and what ended meanwhile once, marked delayed', async () => {
  const owner = putCronJob('restarted');
  putJob(owner, 'restarted-before', 'success');
  await runsOf('restarted', 1);
  const restart = fixture.restart();
  putJob(owner, 'restarted-during', 'exit:4');
  await restart;
  const runs = await runsOf('restarted', 2);
  assert.equal(runs.find((run) => run.jobName === 'restarted-before')?.delayed, false);
  assert.equal((await read('plain')).length, 2, 'nothing of before is recorded again');
});

test('a run that was going on and is gone after a restart is recorded as not seen', async () => {
  const owner = putCronJob('vanished');
  putJob(owner, 'vanished-1', 'hang');
  await systemClock.sleep(800);
  const restart = fixture.restart();
  await systemClock.sleep(50);
  fixture.sim.objects.remove(jobName('vanished-1'));
  await restart;
  const [run] = await runsOf('vanished', 1);
  assert.ok(run?.status === 'unobserved' || run?.status === 'deleted', 'it depends on who was faster');
});

test('Jobs of a CronJob that no monitor selects are recorded when a monitor begins to', async () => {
  fixture.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
  const cronJob = aCronJobObject('late') as { metadata: object };
  const owner = fixture.sim.objects.put({ ...cronJob, metadata: { namespace: 'later', name: 'late' } });
  const job = aJobObject({ uid: owner.metadata.uid, name: 'late' }, 'late-1', 'success') as { metadata: object };
  fixture.sim.objects.put({ ...job, metadata: { ...job.metadata, namespace: 'later' } });
  await systemClock.sleep(1_500);
  assert.deepEqual(await listCronJobIds(fixture.store, 'later', 'late'), []);
  fixture.sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { namespace: 'later', name: 'all' },
    spec: {},
  });
  const until = performance.now() + 10_000;
  for (;;) {
    const cronJobIds = await listCronJobIds(fixture.store, 'later', 'late');
    const runs = await listExecutions(fixture.store, { cronJobIds }, { page: { limit: 10, offset: 0 } });
    if (runs.length === 1) break;
    assert.ok(performance.now() < until, 'the run of before is recorded');
    await systemClock.sleep(50);
  }
});

test('the status of a monitor tells how many CronJobs it selects', async () => {
  const until = performance.now() + 5_000;
  for (;;) {
    const monitor = fixture.sim.objects.find({
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'CronJobMonitor',
      namespace: 'prod',
      name: 'all',
    });
    const status = monitor?.['status'] as { phase?: string; totalCronJobs?: number } | undefined;
    if (status?.phase === 'Active' && (status.totalCronJobs ?? 0) >= 6) return;
    assert.ok(performance.now() < until, JSON.stringify(status));
    await systemClock.sleep(50);
  }
});
