import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  Alert,
  AlertDetail,
  CronJobDetail,
  CronJobList,
  SlaList,
  ExecutionPage,
  Verdict,
} from '@cronjob-monitor/shared/contract';
import { dayMs, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  type ActiveJob,
  findCronJob,
  listCronJobIds,
  newId,
  projectCronJob,
  recordSlots,
  putActiveJobs,
  putEvidence,
  rowsOfExpected,
  putSilence,
  setBrokenTargets,
  recordTemplates,
} from '@cronjob-monitor/shared/store';
import { addAlert, addKilledBackup, alertsOf, templateHash } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

async function silence(fleet: TestFleet, matcher: object, untilResolved = false): Promise<void> {
  const nothing = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false };
  const span = { startsAt: testNow - 1, endsAt: testNow + hourMs, endedAt: undefined, untilResolved };
  const said = { comment: 'storage move', createdBy: 'jonas', createdAt: testNow, updatedAt: testNow };
  await fleet.store.transaction((tx) =>
    putSilence(tx, { id: newId(testNow), matcher: { ...nothing, ...matcher }, ...span, ...said }),
  );
}

describe('why a run failed', () => {
  test('names the container and its memory limit, though its end was not watched, on run, CronJob and alert', async () => {
    await using fleet = await startFleet();
    await addKilledBackup(fleet);
    const { items } = (await fleet.ask('/api/v1/cronjobs/prod/backup/executions')).json() as ExecutionPage;
    const { verdict, suggestedFix } = items[0] ?? {};
    assert.equal(verdict?.cause, 'Killed at 512 Mi in 3 attempts');
    assert.equal(verdict.step?.action, 'copyPatch');
    assert.equal(
      verdict.step.words,
      'Raise the memory limit of container dump from 512 Mi to 1 Gi, or make it use less',
    );
    assert.match(verdict.step.command ?? '', /^kubectl -n prod patch cronjob backup --patch '\{.*"memory":"1Gi".*\}'$/);
    assert.match(suggestedFix ?? '', /^The container dump used more memory than its limit/);
    const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
    assert.deepEqual([detail.verdict.kind, detail.verdict.cause], ['lastRunFailed', verdict.cause]);
    const { id } = await addAlert(fleet, { context: { jobName: 'backup-1', exitCode: 137, reason: 'OOMKilled' } });
    const alert = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as Alert;
    assert.deepEqual([alert.verdict.step?.words, alert.context.suggestedFix], [verdict.step.words, suggestedFix]);
  });
});

test('an alert that comes and goes says so while all is well, on the alert and on its CronJob', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const { id } = await addAlert(fleet, { flappingUntil: testNow + hourMs, quietCount: 1 });
  const { flappingUntil } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.equal(flappingUntil, new Date(testNow + hourMs).toISOString());
  const [alert] = await alertsOf(fleet);
  assert.match(alert?.verdict.words ?? '', /^Comes and goes, well for now; before: last run failed/);
  const detail = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.deepEqual([detail.verdict.state, detail.verdict.words], ['warning', alert?.verdict.words]);
});

test('a CronJob that never succeeded leads to what mends the run that failed last', async () => {
  await using fleet = await startFleet();
  await addKilledBackup(fleet);
  await addAlert(fleet, { type: 'absent', subject: 'neverSucceeded', context: {} });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.step?.action, 'copyPatch');
  assert.match(alert.verdict.cause ?? '', /^Killed at/);
});

test('a success rate that is too low leads to the run that failed last, though one has succeeded since', async () => {
  await using fleet = await startFleet();
  const backup = await addKilledBackup(fleet);
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs });
  await addAlert(fleet, { type: 'slaBreached', subject: 'successRate', context: {} });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.step?.action, 'copyPatch');
  assert.match(alert.verdict.cause ?? '', /^the run that failed last: Killed at/);
  await addAlert(fleet, { type: 'slaBreached', subject: 'maxDuration', context: {} });
  const slow = (await alertsOf(fleet)).find(({ subject }) => subject === 'maxDuration');
  assert.equal(slow?.verdict.cause, null, 'what is slow did not fail');
});

test('an alert of slow runs leads to its run, and to the newest one where no single run is slow', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addRuns(backup, { jobName: 'backup-2', createdAt: testNow - minuteMs });
  await addAlert(fleet, { type: 'slaBreached', subject: 'maxDuration', context: { jobName: 'backup-1' } });
  await addAlert(fleet, { type: 'durationRegression', context: {} });
  const steps = (await alertsOf(fleet)).map(({ type, verdict }) => [type, verdict.step?.href]);
  assert.deepEqual(Object.fromEntries(steps), {
    slaBreached: '/cronjobs/prod/backup/runs/backup-1',
    durationRegression: '/cronjobs/prod/backup/runs/backup-2',
  });
});

test('a target that is missed without an alert leads to the run that failed last as well', async () => {
  await using fleet = await startFleet();
  const backup = await addKilledBackup(fleet);
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs });
  const found = await findCronJob(fleet.store, 'prod', 'backup');
  const broken = { monitorId: 1, subject: 'successRate', measured: 50, limit: 95, runs: 2 } as const;
  const judged = { ...broken, sinceAt: testNow - hourMs, windowDays: 7 };
  await fleet.store.fenced(fleet.epoch, (tx) =>
    setBrokenTargets(tx, [{ cronJobId: found?.id ?? 0, broken: [judged] }]),
  );
  const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.equal(verdict.kind, 'targetMissed');
  assert.equal(verdict.step?.action, 'copyPatch');
  assert.match(verdict.cause ?? '', /^the run that failed last: Killed at/);
});

test('a missed run says why the cluster refused its Job, and its step is no run by hand that a quota would refuse too', async () => {
  await using fleet = await startFleet();
  await fleet.addMonitor({ spec: {} }, [await fleet.addCronJob({ name: 'backup' })]);
  const refusal =
    'Error creating job: jobs.batch "backup-1" is forbidden: exceeded quota: jobs-cap, requested: count=1';
  const detail = { cause: 'createRejected', refusal };
  await addAlert(fleet, { type: 'missedSchedule', context: { verdict: { detail } } });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.cause, 'Quota jobs-cap is used up');
  assert.equal(alert.verdict.step?.command, 'kubectl -n prod describe resourcequota jobs-cap');
});

test('runs that are missed behind a Job that cannot start ask for no run by hand, which would not start either', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup', policy: 'Forbid' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const at = { scheduledAt: testNow - hourMs, createdAt: testNow - hourMs, startedAt: testNow - hourMs };
  const pod = { podName: 'p', podPhase: 'Pending', ready: '0/1', finishing: false };
  const waits = { waitingReason: 'Unschedulable', waitingMessage: '0/3 nodes are available: 3 Insufficient cpu.' };
  const job = { jobUid: 'j', cronJobUid: backup.uid, jobName: 'backup-1', trigger: 'scheduled' } as const;
  await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod, ...waits }]));
  await addAlert(fleet, { type: 'missedSchedule', context: { verdict: { detail: {} } } });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.cause, '0/3 nodes are available: 3 Insufficient cpu');
  assert.match(
    alert.verdict.step?.words ?? '',
    /^Lower its request of cpu, or make room on the nodes; then delete the Job/,
  );
});

test('a Job that goes on for too long waits for nothing: its step is the run, and that of one that has not started says that it waits', async () => {
  await using fleet = await startFleet();
  await addKilledBackup(fleet);
  await addAlert(fleet, { type: 'jobStuck', subject: 'overrunning', context: { jobName: 'backup-2' } });
  await addAlert(fleet, { type: 'jobStuck', subject: 'notStarted', context: { jobName: 'backup-3' } });
  const steps = new Map((await alertsOf(fleet)).map(({ subject, verdict }) => [subject, verdict.step]));
  assert.equal(steps.get('overrunning')?.words, 'Open the run');
  assert.equal(steps.get('overrunning')?.href, '/cronjobs/prod/backup/runs/backup-2');
  assert.equal(steps.get('notStarted')?.words, 'Open the run: it waits');
});

test('an expected CronJob that is not there leads to the rules that expect it, to no run by hand, and has no page', async () => {
  await using fleet = await startFleet();
  await fleet.addMonitor({ spec: {} }, []);
  const ghost = { namespace: 'prod', name: 'ghost' };
  const places = await fleet.store.fenced(fleet.epoch, (tx) => rowsOfExpected(tx, [ghost], testNow));
  const absence = { cause: 'neverExisted' };
  const context = { verdict: { detail: { absence } } };
  const of = { type: 'absent', subject: 'disappeared', cronJobId: places.get('prod/ghost') ?? 0, context } as const;
  await addAlert(fleet, { ...of, cronJobName: 'ghost' });
  const [alert] = await alertsOf(fleet);
  assert.deepEqual(alert?.verdict.step, {
    action: 'openRules',
    words: 'Create the CronJob, or name it in expects.except of monitor prod/dr',
    command: null,
    href: '/monitors/prod/dr',
  });
  const page = await fleet.ask('/api/v1/cronjobs/prod/ghost');
  assert.deepEqual(
    [page.status, page.error().message],
    [404, 'CronJob prod/ghost is not known: there is none, or no monitor selects it'],
  );
});

test('a login that its database refuses is to be checked, where no runbook is followed for an exit code', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const failed = { status: 'failed', exitCode: 2, reason: 'Error', createdAt: testNow - hourMs } as const;
  const [run] = await fleet.addRuns(backup, { ...failed, jobName: 'backup-1' });
  assert.ok(run);
  const at = { createdAt: run.createdAt, capturedAt: run.createdAt };
  const of = { owner: run.jobUid, cronJobUid: backup.uid, kind: 'logs', name: 'backup-1-x/main' } as const;
  const body = 'FATAL:  password authentication failed for user "settle_ro"\n';
  await putEvidence(fleet.store, fleet.epoch, [{ ...of, ...at, body, truncated: false, unavailable: undefined }]);
  const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
  assert.deepEqual(verdict.step, {
    action: 'openRun',
    words: 'Check the password of settle_ro in the Secret that its pods read',
    command: null,
    href: '/cronjobs/prod/backup/runs/backup-1',
  });
});

describe('what holds messages back', () => {
  test('a silence is told from its first second on alert, list and CronJob, also after a message went out', async () => {
    await using fleet = await startFleet();
    await addKilledBackup(fleet);
    await addAlert(fleet, {});
    await silence(fleet, { cronjobs: ['backup'] });
    const words = `Silenced by jonas until {at:${new Date(testNow + hourMs).toISOString()}}`;
    const [alert] = await alertsOf(fleet);
    assert.deepEqual(
      alert?.verdict.holds.map((hold) => [hold.kind, hold.by, hold.words]),
      [['silenced', 'jonas', words]],
    );
    const list = (await fleet.ask('/api/v1/cronjobs')).json() as CronJobList;
    assert.deepEqual(
      list.items[0]?.verdict.holds.map((hold) => hold.words),
      [words],
    );
  });

  test('a silence until what it holds has ended does not tell its last instant alone', async () => {
    await using fleet = await startFleet();
    await addKilledBackup(fleet);
    await addAlert(fleet, {});
    await silence(fleet, { cronjobs: ['backup'] }, true);
    const words = `Silenced by jonas until it ends, {at:${new Date(testNow + hourMs).toISOString()}} at the latest`;
    const [alert] = await alertsOf(fleet);
    assert.deepEqual(
      alert?.verdict.holds.map((hold) => hold.words),
      [words],
    );
  });

  test('what the annotation of its owner mutes is told to be silenced, though no silence stands in the list', async () => {
    await using fleet = await startFleet();
    await addKilledBackup(fleet);
    await addAlert(fleet, { state: 'suppressed', suppressedBy: 'silence', dueAt: testNow + hourMs });
    const words = `Silenced until {at:${new Date(testNow + hourMs).toISOString()}}`;
    const [alert] = await alertsOf(fleet);
    assert.deepEqual(
      alert?.verdict.holds.map((hold) => [hold.kind, hold.by, hold.words]),
      [['silenced', null, words]],
    );
  });

  test('a silence of its name is told of a failing CronJob that has no alert, and none of a healthy one', async () => {
    await using fleet = await startFleet();
    await addKilledBackup(fleet);
    const well = await fleet.addCronJob({ name: 'well' });
    await fleet.addMonitor({ name: 'second', spec: {} }, [well]);
    await fleet.addRuns(well, { createdAt: testNow - hourMs });
    await silence(fleet, { namespaces: ['prod'] });
    const { items } = (await fleet.ask('/api/v1/cronjobs')).json() as CronJobList;
    assert.deepEqual(
      items.map(({ name, verdict }) => [name, verdict.state, verdict.holds.length]),
      [
        ['backup', 'failing', 1],
        ['well', 'healthy', 0],
      ],
    );
  });

  test('a silence of its name is told of a missed target that has no alert, and not of one that is met', async () => {
    await using fleet = await startFleet();
    const [backup, well] = [await fleet.addCronJob({ name: 'backup' }), await fleet.addCronJob({ name: 'well' })];
    await fleet.addMonitor({ spec: { sla: { minSuccessRate: 95 } } }, [backup, well]);
    await fleet.addRuns(backup, { createdAt: testNow - hourMs, status: 'failed', exitCode: 1 });
    await fleet.addRuns(well, { createdAt: testNow - hourMs });
    await silence(fleet, { namespaces: ['prod'] });
    const { items } = (await fleet.ask('/api/v1/sla')).json() as SlaList;
    assert.deepEqual(
      items.map(({ cronjob, judged }) => [cronjob.name, judged.state, judged.holds.map(({ kind }) => kind)]),
      [
        ['backup', 'failing', ['silenced']],
        ['well', 'healthy', []],
      ],
    );
  });
});

describe('a run that its deadline ended', () => {
  const deadline = { status: 'failed', reason: 'DeadlineExceeded', jobReason: 'DeadlineExceeded' } as const;
  const container = {
    name: 'dump',
    init: false,
    exitCode: undefined,
    message: undefined,
    restarts: 0,
    imageId: undefined,
  };

  async function ended(fleet: TestFleet, reason: string | undefined): Promise<Verdict> {
    const backup = await fleet.addCronJob({ name: 'backup' });
    const body = {
      activeDeadlineSeconds: 900,
      template: { spec: { containers: [{ name: 'dump', image: 'dump:1' }] } },
    };
    await fleet.store.fenced(fleet.epoch, (tx) =>
      recordTemplates(tx, [{ cronJobUid: backup.uid, hash: templateHash, body }]),
    );
    const [run] = await fleet.addRuns(backup, { ...deadline, templateHash, createdAt: testNow - hourMs });
    const attempt = { pod: 'backup-1-x', node: 'node-1', phase: 'Pending', containers: [{ ...container, reason }] };
    assert.ok(run);
    const at = { createdAt: run.createdAt, capturedAt: run.createdAt };
    const of = { owner: run.jobUid, cronJobUid: backup.uid, kind: 'attempts', name: '' } as const;
    const piece = { ...of, ...at, body: JSON.stringify([attempt]), truncated: false, unavailable: undefined };
    await putEvidence(fleet.store, fleet.epoch, [piece]);
    return ((await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail).verdict;
  }

  test('asks for more time where it ran', async () => {
    await using fleet = await startFleet();
    const { cause, step } = await ended(fleet, undefined);
    assert.deepEqual([cause, step?.action], ['Ended by its deadline of 15 min', 'copyPatch']);
  });

  test('names the image that could not be pulled', async () => {
    await using fleet = await startFleet();
    const { cause, step } = await ended(fleet, 'ImagePullBackOff');
    assert.equal(cause, 'Image dump:1 cannot be pulled');
    assert.equal(step?.words, 'Name an image that its nodes can pull, or push this one');
  });

  test('asks for no more time where no node took its pod: what keeps it off the nodes is to be mended', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup' });
    // Others of its runs succeeded: what they take says nothing of one that never ran.
    await fleet.addRuns(backup, {
      status: 'success',
      jobName: 'backup-0',
      durationMs: hourMs,
      createdAt: testNow - 9 * hourMs,
    });
    const unplaced = { ...deadline, reason: 'Unschedulable', createdAt: testNow - hourMs };
    const [run] = await fleet.addRuns(backup, unplaced);
    assert.ok(run);
    const message = "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector. preemption: none.";
    const at = { createdAt: run.createdAt, capturedAt: run.createdAt };
    const of = { owner: run.jobUid, cronJobUid: backup.uid, kind: 'events', name: '' } as const;
    const events = [{ reason: 'FailedScheduling', message, type: 'Warning', count: 1, lastAt: run.createdAt }];
    const piece = { ...of, ...at, body: JSON.stringify(events), truncated: false, unavailable: undefined };
    await putEvidence(fleet.store, fleet.epoch, [piece]);
    const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
    assert.equal(verdict.cause, "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector");
    assert.equal(verdict.step?.words, 'Make its node selector and affinity fit a node, or label a node');
  });

  test('asks for no more time where nothing tells that it ever ran', async () => {
    await using fleet = await startFleet();
    const { cause, step } = await ended(fleet, 'ContainerCreating');
    assert.deepEqual([cause, step?.action], ['Ended by its deadline of 15 min', 'openRun']);
  });
});

test('a Job that cannot start says what it waits for, on the CronJob and on its alert', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({ spec: {} }, [backup]);
  const at = { scheduledAt: testNow - hourMs, createdAt: testNow - hourMs, startedAt: testNow - hourMs };
  const pod = { podName: undefined, podPhase: undefined, ready: undefined, finishing: false };
  const waits = {
    waitingReason: 'FailedCreate',
    waitingMessage: 'pods "backup-1-" is forbidden: exceeded quota: compute, requested: pods=1',
    hopelessSinceAt: testNow - hourMs,
  };
  const job = { jobUid: 'j', cronJobUid: backup.uid, jobName: 'backup-1', trigger: 'scheduled' } as const;
  await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod, ...waits }]));
  const causeOf = async (): Promise<string | null> =>
    ((await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail).verdict.cause;
  assert.equal(await causeOf(), 'Quota compute is used up', 'before an alert');
  const context = { jobName: 'backup-1', reason: 'FailedCreate' };
  await addAlert(fleet, { type: 'jobStuck', subject: 'notStarted', context });
  const [alert] = await alertsOf(fleet);
  assert.deepEqual([await causeOf(), alert?.verdict.cause], ['Quota compute is used up', 'Quota compute is used up']);
  const full = { waitingReason: 'Unschedulable', waitingMessage: '0/3 nodes are available: 3 Insufficient cpu.' };
  await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod, ...full }]));
  assert.equal(await causeOf(), '0/3 nodes are available: 3 Insufficient cpu', 'nodes may come: it is not in vain');
});

test('a Job that cannot start says since which change, on the CronJob and on its alert', async () => {
  await using fleet = await startFleet();
  const [old, fresh] = ['a'.repeat(32), 'b'.repeat(32)];
  const deployedAt = testNow - 2 * hourMs;
  const written = { templateHash: fresh, templateWrittenAt: deployedAt };
  const backup = await fleet.addCronJob({ name: 'backup', ...written }, { seenAt: deployedAt });
  await fleet.addMonitor({ spec: {} }, [backup]);
  await fleet.addRuns(backup, { createdAt: testNow - 5 * hourMs, templateHash: old });
  const body = (image: string) => ({ template: { spec: { containers: [{ name: 'main', image }] } } });
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordTemplates(tx, [
      { cronJobUid: backup.uid, hash: old, body: body('shop:1.8') },
      { cronJobUid: backup.uid, hash: fresh, body: body('shop:1.9') },
    ]),
  );
  const waits = async (createdAt: number): Promise<string | null> => {
    const at = { scheduledAt: createdAt, createdAt, startedAt: createdAt, hopelessSinceAt: createdAt };
    const pod = { podName: 'p', podPhase: 'Pending', ready: '0/1', finishing: false };
    const job = { jobUid: 'j', cronJobUid: backup.uid, jobName: 'backup-1', trigger: 'scheduled' } as const;
    const waiting = { waitingReason: 'ImagePullBackOff', waitingMessage: 'Back-off pulling image "shop:1.9"' };
    await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod, ...waiting }]));
    return ((await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail).verdict.change;
  };
  assert.equal(await waits(testNow - 3 * hourMs), null, 'it was made before the change');
  assert.equal(await waits(testNow - hourMs), 'since image 1.8 → 1.9');
  await addAlert(fleet, { type: 'jobStuck', subject: 'notStarted', context: { jobName: 'backup-1' } });
  const [alert] = await alertsOf(fleet);
  assert.equal(alert?.verdict.change, 'since image 1.8 → 1.9');
  await fleet.addRuns(backup, { createdAt: testNow - 4 * hourMs, templateHash: old, status: 'failed' });
  assert.equal(await waits(testNow - hourMs), null, 'it failed before the change already');
});

describe('a CronJob without a success for too long', () => {
  const limit = { measured: 100_000, limit: 90_000, unit: 'seconds' } as const;

  async function withJob(waiting: Pick<ActiveJob, 'waitingReason' | 'waitingMessage'>): Promise<Verdict | undefined> {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup' });
    await fleet.addMonitor({ spec: {} }, [backup]);
    const at = { scheduledAt: testNow - hourMs, createdAt: testNow - hourMs, startedAt: testNow - hourMs };
    const pod = { podName: 'p', podPhase: 'Pending', ready: '0/1', finishing: false };
    const job = { jobUid: 'j', cronJobUid: backup.uid, jobName: 'backup-1', trigger: 'scheduled' } as const;
    await fleet.store.fenced(fleet.epoch, (tx) => putActiveJobs(tx, [{ ...job, ...at, ...pod, ...waiting }]));
    await addAlert(fleet, { type: 'deadManTriggered', figures: limit });
    const [alert] = await alertsOf(fleet);
    const { verdict } = (await fleet.ask('/api/v1/cronjobs/prod/backup')).json() as CronJobDetail;
    assert.deepEqual([verdict.cause, verdict.step], [alert?.verdict.cause, alert?.verdict.step]);
    return alert?.verdict;
  }

  test('says what the Job waits for that cannot start, and asks for no run by hand that could not start either', async () => {
    const verdict = await withJob({
      waitingReason: 'ImagePullBackOff',
      waitingMessage: 'Back-off pulling image "shop:1.9"',
    });
    assert.equal(verdict?.cause, 'Image shop:1.9 cannot be pulled');
    assert.deepEqual(
      [verdict.step?.words, verdict.step?.href],
      [
        'Name an image that its nodes can pull, or push this one; then delete the Job that waits, which keeps the old template',
        '/cronjobs/prod/backup/runs/backup-1',
      ],
    );
  });

  test('says which Job goes on and on', async () => {
    const verdict = await withJob({ waitingReason: undefined, waitingMessage: undefined });
    assert.equal(verdict?.cause, `Job backup-1 goes on for {age:${new Date(testNow - hourMs).toISOString()}}`);
    assert.equal(verdict.step?.words, 'Open the run');
  });

  test('says that its runs do not start, and mends a deadline of starts that is too short', async () => {
    await using fleet = await startFleet();
    const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 * * * *', deadlineS: 5 });
    await fleet.addMonitor({ spec: {} }, [backup]);
    await addAlert(fleet, { type: 'missedSchedule', context: { verdict: { detail: { cause: 'deadlinePassed' } } } });
    await addAlert(fleet, { type: 'deadManTriggered', severity: 'critical', figures: limit });
    const verdict = (await alertsOf(fleet)).find(({ type }) => type === 'deadManTriggered')?.verdict;
    assert.match(verdict?.cause ?? '', /starting deadline passed before its Job was created/);
    const tight = 'A starting deadline of 5 s is shorter than starts in this cluster may take';
    assert.equal(verdict?.step?.words, `Set startingDeadlineSeconds to 300: ${tight}`);
    assert.equal(
      verdict.step.command,
      `kubectl -n prod patch cronjob backup --type merge -p '{"spec":{"startingDeadlineSeconds":300}}'`,
    );
  });
});

test('a suspended CronJob says since when, by whom, and how many runs that left out', async () => {
  await using fleet = await startFleet();
  const seen = { seenAt: testNow - 90 * dayMs };
  const backup = await fleet.addCronJob({ name: 'backup', schedule: '0 2 * * *' }, seen);
  await fleet.addMonitor({ spec: {} }, [backup]);
  await fleet.addRuns(backup, { createdAt: testNow - 42 * dayMs });
  const at = testNow - 41 * dayMs;
  const lastWriter = { manager: 'kubectl-edit', operation: 'Update', at };
  const facts = { ...backup, suspended: true, generation: 2, lastWriter };
  await fleet.store.fenced(fleet.epoch, (tx) => projectCronJob(tx, { facts, seenAt: at + 1_000, changedAt: at }));
  const [held] = await listCronJobIds(fleet.store, 'prod', 'backup');
  const slot = { cronJobId: held ?? 0, outcome: 'suspended', epochAt: at, inMaintenance: false } as const;
  const none = { cause: undefined, message: undefined };
  const slots = [at - hourMs, at + hourMs, at + 5 * dayMs].map((slotAt) => ({ ...slot, ...none, at: slotAt }));
  await fleet.store.fenced(fleet.epoch, (tx) => recordSlots(tx, slots));
  const { items } = (await fleet.ask('/api/v1/cronjobs')).json() as CronJobList;
  const { state, words, cause, since, step } = items[0]?.verdict ?? {};
  const iso = new Date(at).toISOString();
  assert.deepEqual([state, since, step?.action], ['suspended', iso, 'resume']);
  assert.match(words ?? '', new RegExp(`^Suspended for \\{age:${iso}\\}; last run succeeded `));
  assert.equal(cause, `Suspended by kubectl-edit at {at:${iso}}; 2 expected runs were not started since`);
});
