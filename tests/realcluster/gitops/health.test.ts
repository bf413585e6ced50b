import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { rolloutOf, type RolloutFacts, type TemplateRun } from '@cronjob-monitor/shared/domain';
import {
  decodeMonitorSpec,
  judgeMonitor,
  phaseOf,
  toConditions,
  toTimeText,
  type MonitorFacts,
} from '@cronjob-monitor/shared/kube';
import { findTools, type Tools } from './tools.ts';
import { monitorDefaults } from '@cronjob-monitor/shared/testing';

const root = resolve(import.meta.dirname, '../../..');
const found = await findTools();
const tools = found as Tools; // else the suites are skipped
const skip = 'skipped' in found && found.skipped;

/** What the chart brings for argocd-cm, by kind. */
const scripts: Readonly<Record<string, string>> = parse(
  readFileSync(resolve(root, 'charts/cronjob-monitor/gitops/argocd-cm.yaml'), 'utf8'),
).data;
const scriptOf = (kind: string): string => scripts[`resource.customizations.health.${kind}`] ?? assert.fail(kind);

/** The expressions that the documentation gives for Flux. */
const flux: readonly unknown[] = parse(
  /```yaml\n(healthCheckExprs:[^]*?)```/.exec(readFileSync(resolve(root, 'docs/resources.md'), 'utf8'))?.[1] ?? '',
).healthCheckExprs;

const minuteMs = 60_000;
const at = Date.UTC(2026, 10, 21, 7);
const after = (minutes: number): string => toTimeText(at + minutes * minuteMs);
const generation = 12;

interface State {
  readonly says: string;
  readonly facts?: Partial<RolloutFacts>;
  /** As the CronJob controller leaves it. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly suspend?: boolean;
}

function ran(status: 'success' | 'failed', more: Partial<TemplateRun> = {}): Pick<RolloutFacts, 'templateRuns'> {
  const last: TemplateRun = {
    jobUid: 'u',
    jobName: 'backup-1',
    status,
    createdAt: at + minuteMs,
    finishedAt: at + 2 * minuteMs,
    exitCode: status === 'failed' ? 1 : undefined,
    reason: undefined,
    ...more,
  };
  return { templateRuns: { last } };
}

const active = [{ kind: 'Job', name: 'backup-2', namespace: 'prod' }];
const succeeded = { lastScheduleTime: after(1), lastSuccessfulTime: after(2) };
const failed = { lastScheduleTime: after(5), lastSuccessfulTime: after(2) };
/** The words: Argo CD by itself, `rollout`, our script. */
const states: readonly (State & { readonly words: string })[] = [
  { says: 'it is new, and no slot came yet', status: {}, words: 'Healthy Progressing Progressing' },
  {
    says: 'its first run goes on',
    facts: { running: 1 },
    status: { lastScheduleTime: after(1), active },
    words: 'Healthy Progressing Progressing',
  },
  {
    says: 'it failed and never succeeded',
    facts: ran('failed'),
    status: { lastScheduleTime: after(1) },
    words: 'Healthy Degraded Degraded',
  },
  {
    says: 'it succeeded after a pod was retried',
    facts: ran('success'),
    status: succeeded,
    words: 'Healthy Healthy Healthy',
  },
  { says: 'its last run failed', facts: ran('failed'), status: failed, words: 'Degraded Degraded Degraded' },
  {
    says: 'its last run failed and the next goes on',
    facts: { ...ran('failed'), running: 1 },
    status: { ...failed, lastScheduleTime: after(6), active },
    words: 'Healthy Degraded Degraded',
  },
  { says: 'a new template follows after a failure', status: failed, words: 'Degraded Progressing Progressing' },
  {
    says: 'runs were missed since',
    facts: { ...ran('success'), alerts: [{ type: 'missedSchedule', severity: 'warning', sinceAt: at + 5 * minuteMs }] },
    status: succeeded,
    words: 'Healthy Degraded Degraded',
  },
  {
    says: 'it is suspended',
    facts: { ...ran('failed'), suspended: true },
    status: failed,
    suspend: true,
    words: 'Healthy Suspended Healthy',
  },
  {
    says: 'it succeeded, and its Job is gone',
    facts: { lastScheduleAt: at + minuteMs, lastSuccessAt: at + 2 * minuteMs },
    status: succeeded,
    words: 'Healthy Healthy Healthy',
  },
];

const rolloutIn = ({ facts = {} }: State): ReturnType<typeof rolloutOf> =>
  rolloutOf({
    deletedAt: undefined,
    isMonitored: true,
    suspended: false,
    problem: undefined,
    template: { hash: 'h', at },
    templateRuns: {},
    lastScheduleAt: undefined,
    lastSuccessAt: undefined,
    running: 0,
    nextRunAt: at + 60 * minuteMs,
    alerts: [],
    ...facts,
  });

/** As `gitops.mirror: progressing` writes it; `judged`: the generation that it is about, undefined where nothing is written. */
function cronJobIn(state: State, judged: number | undefined = generation): object {
  const { state: word, message } = rolloutIn(state);
  const annotations = {
    'cronjob-monitor.io/health': `${word}/${judged}`,
    'cronjob-monitor.io/health-message': message,
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { namespace: 'prod', name: 'backup', generation, annotations },
    spec: { suspend: state.suspend ?? false },
    status: state.status,
  };
}

function unwritten(state: State): object {
  const cronJob = cronJobIn(state);
  return { ...cronJob, metadata: { namespace: 'prod', name: 'backup', generation } };
}

describe('what tools say of a CronJob', { skip }, () => {
  const ours = scriptOf('batch_CronJob');
  const own = 'skipped' in found ? found : found.argoScript('batch/CronJob');
  const skipArgo = 'skipped' in own && own.skipped;
  const argo = 'script' in own ? own.script : '';

  test('in ten states Argo CD is right in 4 by itself, and in all by our script', { skip: skipArgo }, () => {
    const answers = tools.ask(states.map((state) => ({ object: cronJobIn(state), scripts: { argo, ours } })));
    const words = states.map((state, index) => {
      const { scripts: said } = answers[index] ?? assert.fail(state.says);
      return `${state.says}: ${said['argo']?.status} ${rolloutIn(state).state} ${said['ours']?.status}`;
    });
    assert.deepEqual(
      words,
      states.map(({ says, words }) => `${says}: ${words}`),
    );
    assert.equal(answers.filter(({ scripts: said }) => said['argo']?.status === said['ours']?.status).length, 4);
  });

  test('where nothing is written our script answers as that of Argo CD, word for word', { skip: skipArgo }, () => {
    const objects = [...states.map(unwritten), { ...unwritten(states[0] as State), status: undefined }];
    for (const { scripts: said } of tools.ask(objects.map((object) => ({ object, scripts: { argo, ours } }))))
      assert.deepEqual(said['ours'], said['argo']);
  });

  test('our script says why, and does not take over what was said of another generation', () => {
    const [state] = states.filter(({ says }) => says === 'it failed and never succeeded');
    assert.ok(state);
    const said = tools
      .ask([cronJobIn(state), cronJobIn(state, generation - 1)].map((object) => ({ object, scripts: { ours } })))
      .map(({ scripts: { ours: told } }) => told);
    assert.deepEqual(said, [
      { status: 'Degraded', message: 'Its last run failed (exit code 1).' },
      { status: 'Progressing', message: 'not judged yet' },
    ]);
  });

  test('Flux goes on when the rollout is well or suspended, and ends when it is Degraded', () => {
    const expected = { Healthy: 'Current', Suspended: 'Current', Degraded: 'Failed', Progressing: 'InProgress' };
    const answers = tools.ask(states.map((state) => ({ object: cronJobIn(state), flux })));
    for (const [index, state] of states.entries())
      assert.equal(answers[index]?.flux, expected[rolloutIn(state).state as 'Healthy'], state.says);
    const [stale, none] = tools.ask(
      [cronJobIn(states[4] as State, generation - 1), unwritten(states[4] as State)].map((object) => ({
        object,
        flux,
      })),
    );
    assert.deepEqual([stale?.flux, none?.flux], ['InProgress', 'InProgress']);
  });
});

/** A monitor as the service writes it. */
function monitorOf(
  facts: Partial<MonitorFacts>,
  { spec = {}, written = generation }: { spec?: unknown; written?: number },
) {
  const decoded = decodeMonitorSpec({ spec }, monitorDefaults);
  const verdicts = judgeMonitor({
    decoded,
    evaluation: 'done',
    reach: { namespaces: new Set(['prod']), refused: [], passedOver: [] },
    channelFaults: [],
    scheduleFaults: [],
    rollouts: [],
    selected: 1,
    findings: [],
    ...facts,
  });
  const conditions = toConditions(verdicts, [], { now: at, generation: written });
  return ourObject('CronJobMonitor', {
    observedGeneration: written,
    phase: phaseOf(verdicts),
    totalCronJobs: 1,
    conditions,
  });
}

function ourObject(kind: 'CronJobMonitor' | 'AlertChannel', status: object | undefined): object {
  const metadata = { namespace: 'prod', name: 'backups', generation };
  return { apiVersion: 'cronjob-monitor.io/v1alpha1', kind, metadata, spec: {}, ...(status && { status }) };
}

const rollout = (state: 'Degraded' | 'Progressing') => [
  { namespace: 'prod', name: 'backup', state, reason: state === 'Degraded' ? 'LastRunFailed' : undefined },
];

const withoutChannel = monitorOf(
  { channelFaults: [{ name: 'chat', fault: 'missing' }] },
  { spec: { alerting: { channelRefs: [{ name: 'chat' }] } } },
);

describe('what tools say of a CronJobMonitor', { skip }, () => {
  for (const { says, object, words } of [
    { says: 'all is well', object: monitorOf({}, {}), words: 'Healthy Current Current' },
    {
      says: 'a rollout has not run yet',
      object: monitorOf({ rollouts: rollout('Progressing') }, {}),
      words: 'Healthy Current InProgress',
    },
    {
      says: 'a rollout is Degraded',
      object: monitorOf({ rollouts: rollout('Degraded') }, {}),
      words: 'Healthy Current Failed',
    },
    {
      says: 'its spec cannot work',
      object: monitorOf({}, { spec: { sla: { windowDays: 0 } } }),
      words: 'Degraded Failed Current',
    },
    {
      says: 'a channel of it is missing',
      object: withoutChannel,
      words: 'Degraded Current Current',
    },
    {
      says: 'its evaluation failed',
      object: monitorOf({ evaluation: { failed: 'no database' } }, {}),
      words: 'Degraded InProgress Current',
    },
    {
      says: 'it is not evaluated yet',
      object: monitorOf({ evaluation: 'pending', rollouts: undefined }, {}),
      words: 'Progressing InProgress InProgress',
    },
    {
      says: 'its last edit is not judged yet',
      object: monitorOf({}, { written: generation - 1 }),
      words: 'Progressing InProgress InProgress',
    },
    // Without a status kstatus cannot know that one will come, and the expression has nothing to read.
    {
      says: 'the service has not seen it',
      object: ourObject('CronJobMonitor', undefined),
      words: 'Progressing Current Unknown',
    },
  ]) {
    test(`Argo CD, kstatus and Flux, when ${says}: ${words}`, () => {
      const ours = scriptOf('cronjob-monitor.io_CronJobMonitor');
      const [said] = tools.ask([{ object, scripts: { ours }, flux }]);
      assert.equal(`${said?.scripts['ours']?.status} ${said?.kstatus} ${said?.flux}`, words);
    });
  }

  test('Argo CD says by what a monitor is Degraded', () => {
    const [said] = tools.ask([
      { object: withoutChannel, scripts: { ours: scriptOf('cronjob-monitor.io_CronJobMonitor') } },
    ]);
    assert.equal(said?.scripts['ours']?.message, 'ChannelNotFound: chat: there is no such channel');
  });
});

describe('what tools say of an AlertChannel', { skip }, () => {
  test('Argo CD waits for what the service has not seen, and kstatus does not', () => {
    const object = ourObject('AlertChannel', undefined);
    const [said] = tools.ask([{ object, scripts: { ours: scriptOf('cronjob-monitor.io_AlertChannel') } }]);
    assert.deepEqual([said?.scripts['ours']?.status, said?.kstatus], ['Progressing', 'Current']);
  });

  for (const [status, reason, written, words] of [
    ['True', 'Validated', generation, 'Healthy Current'],
    ['Unknown', 'NotChecked', generation, 'Progressing InProgress'],
    ['False', 'SecretNotFound', generation, 'Degraded InProgress'],
    ['True', 'Validated', generation - 1, 'Progressing InProgress'],
  ] as const) {
    test(`Argo CD and kstatus, when Ready is ${status} of generation ${written} of 12: ${words}`, () => {
      const verdict = { type: 'Ready', status, reason, message: 'm' };
      const conditions = toConditions([verdict], [], { now: at, generation: written });
      const object = ourObject('AlertChannel', { observedGeneration: written, ready: status === 'True', conditions });
      const [said] = tools.ask([{ object, scripts: { ours: scriptOf('cronjob-monitor.io_AlertChannel') } }]);
      assert.equal(`${said?.scripts['ours']?.status} ${said?.kstatus}`, words);
    });
  }
});
