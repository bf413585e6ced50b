import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { listAlerts, StoreError, type StoredAlert } from '@cronjob-monitor/shared/store';
import { openAlertStates } from '@cronjob-monitor/shared/contract';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

let fixture: RecordingFixture;
const quiet = new AbortController();
before(async () => {
  fixture = await startRecording({
    schedulers: {
      deadManSwitchMs: 1_000,
      slaRecalculationMs: 1_000,
      stuckJobCheckMs: 1_000,
      pruneMs: 3_600_000,
      startupGraceMs: 0,
    },
  });
  // What did not come is known up to the last news of CronJobs and Jobs: on this cluster some of each come all the time.
  const owner = putCronJob('pulse');
  systemClock.every(400, () => pulse(owner), quiet.signal);
});
after(async () => {
  quiet.abort();
  await fixture.stop();
});

let beats = 0;
function pulse(owner: Owner): void {
  const annotations = { beat: String(beats++) };
  for (const object of [aCronJobObject('pulse'), aJobObject(owner, 'pulse-1', 'success', { suspend: true })] as {
    metadata: object;
  }[]) {
    fixture.sim.objects.put({ ...object, metadata: { ...object.metadata, annotations } });
  }
}

interface Owner {
  readonly uid: string;
  readonly name: string;
}

const monitorKey = (name: string) => ({
  apiVersion: 'cronjob-monitor.io/v1alpha1',
  kind: 'CronJobMonitor',
  namespace: 'prod',
  name,
});
const cronJobKey = (name: string) => ({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'prod', name });

function putMonitor(name: string, cronJob: string, spec: object): void {
  fixture.sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { namespace: 'prod', name },
    spec: { selector: { matchNames: [cronJob] }, ...spec },
  });
}

function putCronJob(name: string, spec = {}): Owner {
  const { metadata } = fixture.sim.objects.put(aCronJobObject(name, spec));
  return { uid: metadata.uid, name };
}

function putJob(owner: Owner, name: string, outcome: string, spec = {}): void {
  fixture.sim.objects.put(aJobObject(owner, name, outcome, spec));
}

const history = ['resolved', 'expired', 'cancelled'] as const;

async function alertsOf(cronJob: string, states: readonly StoredAlert['state'][]): Promise<StoredAlert[]> {
  try {
    const sort = { key: 'since', descending: false } as const;
    return await listAlerts(fixture.store, { states, cronJobs: [cronJob] }, { sort });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'schema') return []; // not migrated yet
    throw error;
  }
}

/** Type, subject and state of the alerts, once they are what is expected. */
async function untilAlerts(cronJob: string, expected: readonly string[], withinMs = 15_000): Promise<StoredAlert[]> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const alerts = await alertsOf(cronJob, [...openAlertStates, ...history]);
    const told = alerts.map(({ type, subject, state }) => `${type}${subject ? `/${subject}` : ''} ${state}`).sort();
    const isAsExpected = JSON.stringify(told) === JSON.stringify([...expected].sort());
    if (isAsExpected || performance.now() > endMs) {
      assert.deepEqual(told, [...expected].sort());
      return alerts;
    }
    await systemClock.sleep(50);
  }
}

/** Watched, so that what comes is no history. */
async function untilWatched(cronJob: string): Promise<void> {
  for (;;) {
    const rows = await fixture.store
      .sql('monitor_targets')
      .join('cronjobs', 'cronjobs.id', 'monitor_targets.cronjob_id')
      .where('cronjobs.name', cronJob)
      .catch(() => []);
    if (rows.length > 0) return;
    await systemClock.sleep(50);
  }
}

test('a run that fails is an alert with its exit code and reason, and the next success ends it', async () => {
  const owner = putCronJob('fails');
  await untilWatched('fails');
  putJob(owner, 'fails-1', 'exit:3');
  const [alert] = await untilAlerts('fails', ['jobFailed active']);
  const context = alert?.context as { readonly jobName?: string; readonly exitCode?: number };
  assert.deepEqual([alert?.severity, context.jobName, context.exitCode], ['warning', 'fails-1', 3]);
  putJob(owner, 'fails-2', 'success');
  await untilAlerts('fails', ['jobFailed resolved']);
});

test('a run that fails as soon as its CronJob is made is told of, however many there are', async () => {
  const names = Array.from({ length: 20 }, (_, number) => `new-${number}`);
  for (const name of names) putJob(putCronJob(name), `${name}-1`, 'exit:1');
  for (const name of names) await untilAlerts(name, ['jobFailed active']);
});

test('a run that ended before its monitor was made is recorded and told of to no channel', async () => {
  const inLater = (object: object): { metadata: { uid: string } } => {
    const { metadata, ...rest } = object as { metadata: object };
    return fixture.sim.objects.put({ ...rest, metadata: { ...metadata, namespace: 'later' } });
  };
  fixture.sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
  const { uid } = inLater(aCronJobObject('early')).metadata;
  inLater(aJobObject({ uid, name: 'early' }, 'early-1', 'exit:1'));
  await systemClock.sleep(2_500);
  const kind = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' };
  fixture.sim.objects.put({ ...kind, metadata: { namespace: 'later', name: 'late' }, spec: {} });
  await untilRuns('early', 1);
  await systemClock.sleep(500);
  await untilAlerts('early', []);
  inLater(aJobObject({ uid, name: 'early' }, 'early-2', 'exit:1'));
  const [alert] = await untilAlerts('early', ['jobFailed active']);
  assert.equal(alert?.count, 1, 'what came before is not counted');
});

test('further failures are counted in the one alert', async () => {
  const owner = putCronJob('again');
  await untilWatched('again');
  for (const number of [1, 2, 3]) {
    putJob(owner, `again-${number}`, 'exit:1');
    await untilRuns('again', number);
  }
  const [alert] = await untilAlerts('again', ['jobFailed active']);
  assert.equal(alert?.count, 3);
});

async function untilRuns(cronJob: string, count: number): Promise<void> {
  for (;;) {
    const rows = await fixture.store
      .sql('executions')
      .join('cronjobs', 'cronjobs.id', 'executions.cronjob_id')
      .where('cronjobs.name', cronJob);
    if (rows.length >= count) return;
    await systemClock.sleep(50);
  }
}

test('a CronJob suspended for too long is an alert, a resumed one is none', async () => {
  putMonitor('rest', 'rest', { suspendedHandling: { alertIfSuspendedFor: '1s' } });
  putCronJob('rest', { suspend: true });
  await untilAlerts('rest', ['jobSuspended active']);
  putCronJob('rest', { suspend: false });
  await untilAlerts('rest', ['jobSuspended resolved']);
});

test('no success for too long is an alert, a success ends it', async () => {
  putMonitor('dead', 'dead', { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '2s' } });
  const owner = putCronJob('dead');
  await untilWatched('dead');
  putJob(owner, 'dead-1', 'success');
  await untilAlerts('dead', ['deadManTriggered active']);
  putJob(owner, 'dead-2', 'success');
  await untilAlerts('dead', ['deadManTriggered resolved']);
});

test('a Job whose container never starts is an alert that says why', async () => {
  putMonitor('pull', 'pull', { stuckJobs: { notStartedAfter: '1s' } });
  const owner = putCronJob('pull');
  await untilWatched('pull');
  putJob(owner, 'pull-1', 'imagepull');
  const [alert] = await untilAlerts('pull', ['jobStuck/notStarted active']);
  assert.match(alert?.message ?? '', /ImagePullBackOff|ErrImagePull/);
});

test('a wait that does not pass by itself is told long before others', async () => {
  putMonitor('vain', 'vain', { stuckJobs: { hopelessAfter: '2s' } });
  const owner = putCronJob('vain');
  await untilWatched('vain');
  putJob(owner, 'vain-1', 'configerror');
  const [alert] = await untilAlerts('vain', ['jobStuck/notStarted active']);
  assert.match(alert?.message ?? '', /CreateContainerConfigError/);
  fixture.sim.objects.remove({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'prod', name: 'vain-1' });
  await untilAlerts('vain', ['jobStuck/notStarted resolved']);
});

test('a Job whose pods are refused says so, though its status does not', async () => {
  putMonitor('refused', 'refused', { stuckJobs: { hopelessAfter: '2s' } });
  const owner = putCronJob('refused');
  await untilWatched('refused');
  fixture.sim.objects.put({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { namespace: 'prod', name: 'none' },
    spec: { hard: { pods: '0' } },
    status: { hard: { pods: '0' } },
  });
  try {
    putJob(owner, 'refused-1', 'success');
    const [alert] = await untilAlerts('refused', ['jobStuck/notStarted active'], 40_000);
    assert.match(alert?.message ?? '', /FailedCreate/);
  } finally {
    fixture.sim.objects.remove({ apiVersion: 'v1', kind: 'ResourceQuota', namespace: 'prod', name: 'none' });
  }
});

test('a deleted CronJob leaves no open alert', async () => {
  const owner = putCronJob('gone');
  await untilWatched('gone');
  putJob(owner, 'gone-1', 'exit:1');
  await untilAlerts('gone', ['jobFailed active']);
  fixture.sim.objects.remove(cronJobKey('gone'));
  const [alert] = await untilAlerts('gone', ['jobFailed expired']);
  assert.equal(alert?.closeCause, 'cronJobDeleted');
});

test('an alert of a monitor that is deleted is held: a monitor of its name may come back', async () => {
  putMonitor('short', 'short', { stuckJobs: { notStartedAfter: '1s' } });
  const owner = putCronJob('short');
  await untilWatched('short');
  putJob(owner, 'short-1', 'imagepull');
  await untilAlerts('short', ['jobStuck/notStarted active']);
  fixture.sim.objects.remove(monitorKey('short'));
  const [held] = await untilAlerts('short', ['jobStuck/notStarted suppressed']);
  putMonitor('short', 'short', { stuckJobs: { notStartedAfter: '1s' } });
  const [alert] = await untilAlerts('short', ['jobStuck/notStarted active']);
  assert.equal(alert?.id, held?.id);
});

test("a dead-man's switch fires within its interval where nothing else happens", async () => {
  putMonitor('quiet', 'quiet', { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '6s' } });
  const owner = putCronJob('quiet');
  await untilWatched('quiet');
  putJob(owner, 'quiet-1', 'success');
  await untilRuns('quiet', 1);
  // From now on only a bookmark each minute says that no success came.
  quiet.abort();
  await untilAlerts('quiet', ['deadManTriggered active'], 11_000);
});
