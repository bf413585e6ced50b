import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toAlertFacts, type AlertMessage, type FrozenMessage } from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  getLeader,
  listEvidence,
  listLiveAlerts,
  StoreError,
  type AlertRecord,
  type ClaimedDelivery,
} from '@cronjob-monitor/shared/store';
import { createFreeze } from '../alerting/index.ts';
import { freezeClaimed } from '../outbox/index.ts';
import { aCronJobObject, aJobObject, startRecording, type RecordingFixture } from '../testing/recording-fixture.ts';

let fixture: RecordingFixture;
before(async () => {
  const rarelyMs = 3_600_000;
  fixture = await startRecording({
    schedulers: {
      deadManSwitchMs: rarelyMs,
      slaRecalculationMs: rarelyMs,
      stuckJobCheckMs: 1_000,
      pruneMs: rarelyMs,
      startupGraceMs: 0,
    },
  });
  put(
    'AlertChannel',
    { name: 'ops' },
    { type: 'webhook', webhook: { urlSecretRef: { namespace: 'x', name: 'x', key: 'x' } } },
  );
});
after(() => fixture.stop());

function put(kind: string, metadata: object, spec: object): void {
  fixture.sim.objects.put({ apiVersion: 'cronjob-monitor.io/v1alpha1', kind, metadata, spec });
}

function putMonitor(name: string, cronJob: string, alerting: object, more: object = {}): void {
  put('CronJobMonitor', { namespace: 'prod', name }, { selector: { matchNames: [cronJob] }, alerting, ...more });
}

interface Owner {
  readonly uid: string;
  readonly name: string;
}

/** A CronJob that these monitors watch: what ends from now on is news. */
async function aWatchedCronJob(name: string, ...monitors: readonly string[]): Promise<Owner> {
  const { metadata } = fixture.sim.objects.put(aCronJobObject(name));
  await eventually(async () => {
    const rows = await select(
      'select m.name from monitor_targets t join cronjobs c on c.id = t.cronjob_id join monitors m on m.id = t.monitor_id where c.name = ?',
      name,
    );
    const watching = new Set(rows.map((row) => row['name']));
    assert.ok(monitors.every((monitor) => watching.has(monitor)));
  });
  return { uid: metadata.uid, name };
}

function putJob(
  owner: Owner,
  name: string,
  outcome: string,
  run: { readonly image: string; readonly log: string },
): string {
  const object = aJobObject(owner, name, outcome) as {
    spec: { template: { metadata: { annotations: object }; spec: { containers: object[] } } };
  };
  const { template } = object.spec;
  template.metadata.annotations = { ...template.metadata.annotations, 'sim.cronjob-monitor.io/log': run.log };
  template.spec.containers = [{ name: 'main', image: run.image, env: [{ name: 'MODE', value: 'canary-secret' }] }];
  return fixture.sim.objects.put(object).metadata.uid;
}

async function select(sql: string, ...bindings: unknown[]): Promise<Record<string, unknown>[]> {
  return [...fixture.store.dialect.rowsOf(await fixture.store.sql.raw(sql, bindings as never))];
}

async function eventually(check: () => Promise<void>, withinMs = 20_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const isEarly = error instanceof StoreError && error.code === 'schema';
      if (performance.now() > endMs && !isEarly) throw error;
    }
    await systemClock.sleep(50);
  }
}

async function alertOf(cronJob: string, monitor: string): Promise<AlertRecord> {
  const [row] = await select(
    'select c.id as id, m.id as monitor_id from cronjobs c, monitors m where c.name = ? and m.name = ?',
    cronJob,
    monitor,
  );
  const alerts = await listLiveAlerts(fixture.store, [Number(row?.['id'])]);
  const alert = alerts.find(({ monitorId }) => monitorId === Number(row?.['monitor_id']));
  assert.ok(alert, 'there is an alert');
  return alert;
}

const freeze = createFreeze({ clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined });

/** The message about an alert as its next claim words it: the channel of these tests takes none, so each claim is the first. */
async function messageOf(alertId: string): Promise<{ data: AlertMessage; frozen: FrozenMessage; nextAt: number }> {
  const { store } = fixture;
  const [row] = await select(
    'select id, payload, next_at, created_at from deliveries where alert_id = ?',
    store.dialect.id16(alertId),
  );
  assert.ok(row, 'there is a message');
  const now = store.now();
  const claimed: ClaimedDelivery = {
    id: store.dialect.id16Text(row['id']),
    streamId: alertId,
    alertId,
    digestId: undefined,
    channelUid: 'ops',
    channelName: 'ops',
    kind: 'firing',
    cause: undefined,
    severity: 'warning',
    notifyNo: 1,
    attempts: 1,
    maybeSent: false,
    heldBy: undefined,
    reduced: false,
    createdAt: Number(row['created_at']),
    expiresAt: now + 60_000,
    claimUntil: now + 60_000,
    progress: undefined,
    payload: JSON.parse(String(row['payload'])) as FrozenMessage,
  };
  const { epoch } = await getLeader(store);
  const [told] = await store.fenced(epoch, (tx) => freezeClaimed(tx, [claimed], { freeze, claimedBy: 'a test' }));
  const frozen = told?.payload;
  assert.ok(frozen);
  return { data: frozen.message.data as AlertMessage, frozen, nextAt: Number(row['next_at']) };
}

const wholeContext = {
  channelRefs: [{ name: 'ops' }],
  suggestedFixPatterns: [
    {
      name: 'deadlock',
      match: { logPattern: 'dead[l]ock', exitCode: 4 },
      suggestion: 'Run {{ .JobName }} again: {{ .Image }} exit {{ .ExitCode }}.',
    },
    { name: 'wrong', match: { logPattern: '(' }, suggestion: 'never' },
  ],
};

test('a failed run is explained: its fix, its log and what changed stand with it, with its alert and in the message', async () => {
  putMonitor('explains', 'deadlocks', wholeContext);
  putMonitor('terse', 'deadlocks', {
    channelRefs: [{ name: 'ops' }],
    includeContext: { logs: false, events: false, podStatus: false, suggestedFixes: false },
  });
  const owner = await aWatchedCronJob('deadlocks', 'explains', 'terse');
  putJob(owner, 'deadlocks-1', 'success', { image: 'registry.example.org/main:1', log: 'fine' });
  await eventually(async () =>
    assert.equal((await select("select 1 from executions where job_name like '%1'")).length, 1),
  );
  const uid = putJob(owner, 'deadlocks-2', 'exit:4', {
    image: 'registry.example.org/main:2',
    log: 'password=hunter2 a deadlock was found',
  });

  const fix = 'Run deadlocks-2 again: registry.example.org/main:2 exit 4.';
  await eventually(async () => {
    const { context, id } = await alertOf('deadlocks', 'explains');
    const facts = toAlertFacts(context);
    assert.equal(facts.evidenceOf, uid);
    assert.deepEqual([facts.suggestedFix, facts.hasLogs, facts.podStatus?.phase], [fix, true, 'Failed']);
    assert.deepEqual(
      facts.changes?.filter(({ path }) => path.endsWith('.image')),
      [{ path: 'containers[main].image', before: 'registry.example.org/main:1', after: 'registry.example.org/main:2' }],
    );
    const { data, frozen, nextAt } = await messageOf(id);
    assert.equal(data.context.suggestedFix, fix);
    assert.match(data.context.logs ?? '', /a deadlock was found/);
    assert.doesNotMatch(data.context.logs ?? '', /hunter2/);
    assert.equal(data.context.pods?.[0]?.phase, 'Failed');
    assert.deepEqual([data.alert.cause, data.alert.scope], ['application', null]);
    assert.equal(frozen.place?.container, 'main');
    assert.ok(nextAt <= systemClock.now(), 'it goes at once');
    const kept = await listEvidence(fixture.store, id);
    assert.ok(kept.some(({ kind, body }) => kind === 'logs' && body?.includes('a deadlock was found')));
  });
  const [row] = await select('select fix, cause from executions where job_uid = ?', fixture.store.dialect.id16(uid));
  assert.deepEqual([row?.['fix'], row?.['cause']], [fix, 3]);

  const terse = await alertOf('deadlocks', 'terse');
  const { context } = (await messageOf(terse.id)).data;
  assert.deepEqual(
    [context.suggestedFix, context.logs, context.logsUnavailable, context.events, context.pods],
    [null, null, null, null, null],
  );
  assert.deepEqual(await listEvidence(fixture.store, terse.id), []);

  const templates = JSON.stringify(await select('select body from templates'));
  assert.match(templates, /main:2/);
  assert.doesNotMatch(templates, /canary-secret/);
});

test('the alert goes on with the evidence of its newest run', async () => {
  putMonitor('renews', 'again', { channelRefs: [{ name: 'ops' }] });
  const owner = await aWatchedCronJob('again', 'renews');
  for (const run of [1, 2]) {
    const uid = putJob(owner, `again-${run}`, 'exit:1', { image: 'main:1', log: `words of run ${run}` });
    await eventually(async () => {
      const { context, id } = await alertOf('again', 'renews');
      assert.equal(toAlertFacts(context).evidenceOf, uid);
      const logs = (await listEvidence(fixture.store, id)).filter(({ kind }) => kind === 'logs');
      assert.deepEqual(
        logs.map(({ body }) => body?.includes(`words of run ${run}`)),
        [true],
      );
    });
  }
});

test('what is stuck is explained while it goes on: why its container does not start', async () => {
  putMonitor('starts', 'pulls', { channelRefs: [{ name: 'ops' }] }, { stuckJobs: { notStartedAfter: '1s' } });
  const owner = await aWatchedCronJob('pulls', 'starts');
  const uid = putJob(owner, 'pulls-1', 'imagepull', { image: 'registry.example.org/nowhere:1', log: '' });
  await eventually(async () => {
    const { context, id, fault } = await alertOf('pulls', 'starts');
    assert.deepEqual(fault, { cause: 'configuration', scope: undefined });
    const facts = toAlertFacts(context);
    assert.equal(facts.evidenceOf, uid);
    assert.match(facts.suggestedFix ?? '', /registry\.example\.org\/nowhere:1 cannot be pulled/);
    assert.match(facts.podStatus?.waiting ?? '', /ImagePullBackOff|ErrImagePull/);
    const { data, nextAt } = await messageOf(id);
    assert.equal(data.alert.subject, 'notStarted');
    assert.equal(data.context.suggestedFix, facts.suggestedFix);
    assert.ok(nextAt <= systemClock.now(), 'it goes at once');
  });
  assert.deepEqual(await listEvidence(fixture.store, uid), [], 'nothing is kept with a run that has not ended');
});

test('the log of a run that goes on for too long goes with its alert', async () => {
  putMonitor('overruns', 'long', { channelRefs: [{ name: 'ops' }] }, { stuckJobs: { overrunningAfter: '1s' } });
  const owner = await aWatchedCronJob('long', 'overruns');
  putJob(owner, 'long-1', 'hang', { image: 'main:1', log: 'waiting for a lock' });
  await eventually(async () => {
    const { id } = await alertOf('long', 'overruns');
    const { data } = await messageOf(id);
    assert.match(data.context.logs ?? '', /waiting for a lock/);
  });
});

test('a process that ends over an explanation leaves it to the next', async () => {
  putMonitor('resumes', 'cut', { channelRefs: [{ name: 'ops' }] });
  const owner = await aWatchedCronJob('cut', 'resumes');
  const hanging = fixture.sim.fault({ target: { verb: 'list', path: '/events' }, effect: { kind: 'hang' } });
  const uid = putJob(owner, 'cut-1', 'exit:126', { image: 'main:1', log: 'not executable' });
  await eventually(async () => void (await alertOf('cut', 'resumes')));
  assert.equal(toAlertFacts((await alertOf('cut', 'resumes')).context).evidenceOf, undefined);
  await fixture.restart();
  hanging.remove();
  await eventually(async () => {
    const facts = toAlertFacts((await alertOf('cut', 'resumes')).context);
    assert.equal(facts.evidenceOf, uid);
    assert.match(facts.suggestedFix ?? '', /Exit code 126/);
  });
});

test('while the API server does not answer the message is due after 250 ms, with the pods and the suggestion that memory gives', async () => {
  putMonitor('waits', 'silent', { channelRefs: [{ name: 'ops' }] });
  const owner = await aWatchedCronJob('silent', 'waits');
  const hanging = fixture.sim.fault({ target: { path: /\/(events|log)/ }, effect: { kind: 'hang' } });
  const uid = putJob(owner, 'silent-1', 'exit:127', { image: 'main:1', log: 'command not found' });
  await eventually(async () => {
    const alert = await alertOf('silent', 'waits');
    const { data, nextAt } = await messageOf(alert.id);
    assert.deepEqual([data.context.pending, data.context.logs, nextAt - alert.detectedAt], [true, null, 250]);
    assert.equal(data.context.pods?.[0]?.phase, 'Failed');
    assert.match(data.context.suggestedFix ?? '', /Exit code 127/);
    assert.equal(toAlertFacts(alert.context).suggestedFix, data.context.suggestedFix);
  });
  hanging.remove();
  await eventually(async () => {
    const { context } = await alertOf('silent', 'waits');
    assert.deepEqual([toAlertFacts(context).evidenceOf, toAlertFacts(context).hasLogs !== undefined], [uid, true]);
  }, 30_000);
});

test('a message about a success waits for no evidence', async () => {
  putMonitor('paces', 'quick', { channelRefs: [{ name: 'ops' }] }, { sla: { minDuration: '10m' } });
  const owner = await aWatchedCronJob('quick', 'paces');
  const jobName = `quick-${Math.floor(systemClock.now() / 60_000)}`; // as the controller names the run of a minute
  putJob(owner, jobName, 'success', { image: 'main:1', log: 'done' });
  await eventually(async () => {
    const { data } = await messageOf((await alertOf('quick', 'paces')).id);
    assert.equal(data.alert.subject, 'minDuration');
    assert.equal(data.job?.name, jobName);
    assert.equal(data.context.logsUnavailable, null);
  });
});

test('an alert says the exit code of its run too when the pods are seen only after the end of the Job', async () => {
  putMonitor('completes', 'podless', { channelRefs: [{ name: 'ops' }] });
  const owner = await aWatchedCronJob('podless', 'completes');
  const away = fixture.sim.fault({
    target: { verb: ['list', 'watch'], path: /\/pods$/ },
    effect: { kind: 'answer', code: 503 },
  });
  fixture.sim.dropConnections();
  putJob(owner, 'podless-1', 'exit:9', { image: 'main:1', log: 'it went wrong' });
  const told = async (): Promise<unknown[]> => {
    const { context, message } = await alertOf('podless', 'completes');
    const { exitCode, reason } = toAlertFacts(context);
    return [exitCode, reason, message];
  };
  await eventually(async () => {
    assert.deepEqual(await told(), [undefined, 'BackoffLimitExceeded', 'Run podless-1 failed: BackoffLimitExceeded.']);
  });
  away.remove();
  await eventually(async () => {
    assert.deepEqual(await told(), [9, 'Error', 'Run podless-1 failed with exit code 9 (Error).']);
  });
});

test('an alert about a Job that its podFailurePolicy ended names the rule', async () => {
  putMonitor('policies', 'policy', { channelRefs: [{ name: 'ops' }] });
  const owner = await aWatchedCronJob('policy', 'policies');
  const at = new Date().toISOString().replace(/\.\d+Z/, 'Z');
  const message =
    'Container main for pod prod/policy-1-x7k2p failed with exit code 42 matching FailJob rule at index 1';
  const failed = { type: 'Failed', status: 'True', reason: 'PodFailurePolicy', message, lastTransitionTime: at };
  const status = { startTime: at, failed: 1, conditions: [failed] };
  fixture.sim.objects.put({ ...aJobObject(owner, 'policy-1', 'fail 42'), status });
  await eventually(async () => {
    const { message: says } = await alertOf('policy', 'policies');
    assert.match(says, /Its podFailurePolicy ended it, by the FailJob rule at index 1\./);
  });
});
