import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originOf } from '../../domain/index.ts';
import { toClusterEvent } from './event.ts';
import { createInterner } from './interner.ts';
import { templateHash as hash } from './template-text.ts';
import { createTranslator } from './translator.ts';

const translate = createTranslator();
const time = '2026-11-21T07:53:00Z';
const at = Date.parse(time);

const owner = (kind: string, uid: string, controller = true): object => ({ kind, name: 'report', uid, controller });
const job = (changes: { metadata?: object; spec?: object; status?: object } = {}): Record<string, unknown> => ({
  metadata: {
    uid: 'j',
    name: 'report-1',
    namespace: 'prod',
    creationTimestamp: time,
    ownerReferences: [owner('CronJob', 'c')],
    ...changes.metadata,
  },
  spec: { ...changes.spec },
  status: { ...changes.status },
});
const pod = (changes: { metadata?: object; spec?: object; status?: object } = {}): Record<string, unknown> => ({
  metadata: {
    uid: 'p',
    name: 'report-1-x',
    namespace: 'prod',
    creationTimestamp: time,
    ownerReferences: [owner('Job', 'j')],
    ...changes.metadata,
  },
  spec: { containers: [{ name: 'main', image: 'backup:1.8' }], nodeName: 'node-1', ...changes.spec },
  status: { phase: 'Running', ...changes.status },
});

test('only what controls a Job owns it: what no CronJob controls belongs to a group', () => {
  const groupOf = (...ownerReferences: object[]) => translate.job(job({ metadata: { ownerReferences } }))?.cronJobName;
  assert.equal(groupOf(owner('CronJob', 'c', false)), '~report');
  assert.equal(groupOf(owner('Workflow', 'w')), '~workflow-report');
  assert.equal(groupOf({ ...owner('CronJob', 'c'), apiVersion: 'stable.example.com/v1' }), '~cronjob-report');
  assert.equal(groupOf({ ...owner('CronJob', 'c'), apiVersion: 'batch/v1' }), 'report');
  const both = [owner('Workflow', 'w', false), owner('CronJob', 'c')];
  const owned = translate.job(job({ metadata: { ownerReferences: both } }));
  assert.deepEqual([owned?.cronJobUid, owned?.marks], ['c', undefined]);
});

test('a zone in the schedule is that of the CronJob, beside which its field for the zone does not count', () => {
  const zoneOf = (schedule: string, timeZone?: string) =>
    translate.cronJob({ metadata: { uid: 'c', name: 'report' }, spec: { schedule, timeZone } })?.timeZone;
  assert.equal(zoneOf('0 5 * * *', 'Asia/Tokyo'), 'Asia/Tokyo');
  assert.equal(zoneOf('0 5 * * *'), undefined);
  assert.equal(zoneOf('TZ=Europe/Berlin 0 5 * * *'), 'Europe/Berlin');
  assert.equal(zoneOf('CRON_TZ=Europe/Berlin @daily', 'Asia/Tokyo'), 'Europe/Berlin');
  assert.equal(zoneOf('TZ= 0 5 * * *', 'Asia/Tokyo'), 'UTC');
  assert.equal(
    zoneOf('TZ=Local 0 5 * * *', 'Asia/Tokyo'),
    undefined,
    'the zone of the one who asks is that of the cluster',
  );
});

test('a Job of a group keeps what it is selected by, counts as a scheduled run and names no slot', () => {
  const annotations = {
    'helm.sh/hook': 'pre-install',
    'batch.kubernetes.io/cronjob-scheduled-timestamp': time,
    'cronjob-monitor.io/owner': 'team-shop',
  };
  const metadata = { labels: { app: 'shop' }, annotations, ownerReferences: [owner('JobSet', 's')] };
  const facts = translate.job(job({ metadata }));
  assert.ok(facts);
  assert.deepEqual(facts.marks, {
    labels: { app: 'shop' },
    annotations: Object.keys(annotations),
    notes: { owner: 'team-shop' },
    ownerKind: 'JobSet',
  });
  assert.deepEqual(originOf(facts, []), { trigger: 'scheduled', scheduledAt: undefined });
});

test('labels and annotations tell who started a Job', () => {
  const facts = translate.job(
    job({
      metadata: {
        labels: { 'cronjob-monitor.io/retry': 'true' },
        annotations: {
          'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-11-21T13:38:00+05:45',
          'cronjob.kubernetes.io/instantiate': 'manual',
          'cronjob-monitor.io/triggered-by': 'jane\nadmin',
          'cronjob-monitor.io/retry-of': 'report-0',
        },
      },
    }),
  );
  assert.equal(facts?.slotAt, at);
  assert.equal(facts?.manual, true);
  assert.equal(facts?.triggeredBy, 'jane admin');
  assert.equal(facts?.isRetry, true);
  assert.equal(facts?.retryOf, 'report-0');
});

test('a Job is suspended as soon as its spec says so', () => {
  assert.equal(translate.job(job({ spec: { suspend: true } }))?.suspended, true);
  assert.equal(translate.job(job({ spec: { suspend: false } }))?.suspended, false);
});

test('a long message is cut and does not hold on to the whole', () => {
  const conditions = [{ type: 'Failed', status: 'True', message: 'x'.repeat(5000), lastTransitionTime: time }];
  assert.equal(translate.job(job({ status: { conditions } }))?.jobMessage?.length, 500);
});

test('an empty list of failed indexes is none', () => {
  assert.equal(translate.job(job({ status: { failedIndexes: '' } }))?.failedIndexes, undefined);
  assert.equal(translate.job(job({ status: { failedIndexes: '0,2-3' } }))?.failedIndexes, '0,2-3');
});

test('containers come in the order of the spec, init containers first, without a status as unknown', () => {
  const facts = translate.pod(
    pod({
      spec: {
        initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'migrate' }],
        containers: [{ name: 'b', image: 'b:1' }, { name: 'a' }],
      },
      status: {
        containerStatuses: [
          { name: 'a', state: { running: { startedAt: time } }, ready: true, restartCount: 2, imageID: 'a@sha256:1' },
          { name: 'ghost', state: { terminated: { exitCode: 1 } } },
        ],
      },
    }),
  );
  assert.deepEqual(
    facts?.containers.map(({ name, init, sidecar, state }) => [name, init, sidecar, state]),
    [
      ['proxy', true, true, 'unknown'],
      ['migrate', true, false, 'unknown'],
      ['b', false, false, 'unknown'],
      ['a', false, false, 'running'],
      ['ghost', false, false, 'terminated'],
    ],
  );
  assert.equal(facts?.containers[3]?.restarts, 2);
  assert.equal(facts?.containers[3]?.startedAt, at);
  assert.equal(facts?.containers[3]?.imageId, 'a@sha256:1');
  assert.equal(facts?.containers[2]?.image, 'b:1');
});

test('a pod tells why it is not scheduled or was disrupted', () => {
  const conditions = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
    { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' },
  ];
  const facts = translate.pod(pod({ status: { phase: 'Pending', conditions } }));
  assert.equal(facts?.unscheduled, 'Unschedulable');
  assert.equal(facts?.message, '0/3 nodes are available');
  assert.equal(facts?.disruption, 'PreemptionByScheduler');
});

test('the completion index of a pod is its annotation, else its label', () => {
  const mark = 'batch.kubernetes.io/job-completion-index';
  assert.equal(translate.pod(pod({ metadata: { annotations: { [mark]: '12' } } }))?.index, 12);
  assert.equal(translate.pod(pod({ metadata: { labels: { [mark]: '3' } } }))?.index, 3);
  assert.equal(translate.pod(pod({ metadata: { annotations: { [mark]: 'x' } } }))?.index, undefined);
});

test('an end without an exit code is none, and one with a signal keeps it', () => {
  const statusOf = (terminated: object): object => ({ containerStatuses: [{ name: 'main', state: { terminated } }] });
  assert.equal(translate.pod(pod({ status: statusOf({ reason: 'Error' }) }))?.containers[0]?.terminated, undefined);
  const end = translate.pod(pod({ status: statusOf({ exitCode: 139, signal: 11, finishedAt: time }) }))?.containers[0];
  assert.deepEqual(end?.terminated, {
    exitCode: 139,
    signal: 11,
    reason: undefined,
    message: undefined,
    startedAt: undefined,
    finishedAt: at,
  });
});

test('a CronJob keeps what its slots and limits depend on', () => {
  const facts = translate.cronJob({
    metadata: {
      uid: 'c',
      name: 'report',
      namespace: 'prod',
      generation: 4,
      creationTimestamp: time,
      labels: { app: 'x' },
      annotations: {
        'cronjob-monitor.io/owner': 'team',
        'cronjob-monitor.io/description': 'd'.repeat(1500),
        other: 'y',
      },
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Update',
          time,
          fieldsV1: { 'f:spec': { 'f:schedule': {}, 'f:suspend': {}, 'f:jobTemplate': {} } },
        },
        {
          manager: 'helm',
          operation: 'Apply',
          time,
          fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } }, 'f:spec': { 'f:jobTemplate': {} } },
        },
        {
          manager: 'kube-controller-manager',
          time,
          subresource: 'status',
          fieldsV1: { 'f:spec': { 'f:suspend': {} } },
        },
      ],
    },
    spec: {
      schedule: '*/5 * * * *',
      timeZone: 'Europe/Berlin',
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 30,
      successfulJobsHistoryLimit: 0,
      jobTemplate: {
        spec: {
          activeDeadlineSeconds: 60,
          ttlSecondsAfterFinished: 0,
          backoffLimit: 2,
          template: { spec: { restartPolicy: 'OnFailure' } },
        },
      },
    },
    status: {
      lastScheduleTime: time,
      lastSuccessfulTime: time,
      active: [{ uid: 'j1' }, { name: 'none' }, { uid: 'j2' }],
    },
  });
  assert.ok(facts);
  const { templateHash, notes, ...rest } = facts;
  assert.match(templateHash, /^[0-9a-f]{32}$/);
  assert.deepEqual(notes, { owner: 'team', description: 'd'.repeat(1000) });
  assert.deepEqual(rest, {
    uid: 'c',
    namespace: 'prod',
    name: 'report',
    labels: { app: 'x' },
    schedule: '*/5 * * * *',
    timeZone: 'Europe/Berlin',
    suspended: false,
    policy: 'Forbid',
    deadlineS: 30,
    successLimit: 0,
    failureLimit: 1,
    generation: 4,
    createdAt: at,
    deletingAt: undefined,
    lastScheduleAt: at,
    lastSuccessAt: at,
    activeJobUids: ['j1', 'j2'],
    activeDeadlineS: 60,
    ttlAfterFinishedS: 0,
    backoffLimit: 2,
    restartPolicy: 'OnFailure',
    specWrites: [{ manager: 'kubectl', at, fields: ['schedule', 'suspend'] }],
    labelWrites: [{ at, fields: ['app'] }],
    templateWrittenAt: at,
    lastWriter: { manager: 'helm', operation: 'Apply', at },
    annotations: { owner: 'team' },
    health: undefined,
  });
});

test('a CronJob tells who wrote it last, and to whom it says that it belongs', () => {
  const entry = (manager: string, minute: string, more: object = {}) => ({
    manager,
    operation: 'Update',
    time: `2026-11-21T07:${minute}:00Z`,
    ...more,
  });
  const writerOf = (metadata: object) =>
    translate.cronJob({
      metadata: {
        uid: 'c',
        namespace: 'prod',
        name: 'report',
        managedFields: [
          entry('helm', '10'),
          entry('kubectl-edit', '20'),
          entry('kube-controller-manager', '30', { subresource: 'status' }),
        ],
        ...metadata,
      },
      spec: {},
    })?.lastWriter;
  const byHand = { manager: 'kubectl-edit', operation: 'Update', at: Date.parse('2026-11-21T07:20:00Z') };
  assert.deepEqual(writerOf({}), byHand);
  assert.equal(writerOf({ managedFields: undefined }), undefined);
  for (const [managedBy, of] of [
    ['release backups', { annotations: { 'meta.helm.sh/release-name': 'backups' } }],
    ['Argo CD a:b', { annotations: { 'argocd.argoproj.io/tracking-id': 'a:b' } }],
    ['Kustomization apps', { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }],
    ['Tenant one', { ownerReferences: [{ kind: 'Tenant', name: 'one' }], labels: {} }],
  ] as const)
    assert.deepEqual(writerOf(of), { ...byHand, managedBy });
});

test('a Namespace tells who may watch it', () => {
  const consent = 'cronjob-monitor.io/monitored-from';
  const annotations = { [consent]: ' ops, prod ,,' };
  const time = '2026-11-21T07:53:00Z';
  const written = { 'f:annotations': { [`f:${consent}`]: {}, 'f:other': {} } };
  const managedFields = [{ manager: 'kubectl-annotate', time, fieldsV1: { 'f:metadata': written } }];
  const facts = translate.namespace({
    metadata: { uid: 'n', name: 'db', labels: { tier: 'gold' }, annotations, managedFields },
  });
  assert.deepEqual(facts, {
    uid: 'n',
    name: 'db',
    labels: { tier: 'gold' },
    monitoredFrom: ['ops', 'prod'],
    reachWrites: [{ at: Date.parse(time), fields: [consent], isAlone: true }],
    createdAt: 0,
    deletingAt: undefined,
  });
});

test('an event that stands for many has their number and the time of the last', () => {
  const metadata = { uid: 'e', name: 'e' };
  const involvedObject = { kind: 'Job', name: 'report-1', uid: 'u-1' };
  const old = {
    metadata,
    involvedObject,
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'no\nquota',
    count: 13,
    firstTimestamp: time,
    lastTimestamp: '2026-11-21T07:54:00Z',
  };
  assert.deepEqual(toClusterEvent(old), {
    uid: 'e',
    type: 'Warning',
    reason: 'FailedCreate',
    message: 'no quota',
    count: 13,
    firstAt: at,
    lastAt: at + 60_000,
    object: 'Job/report-1',
    objectUid: 'u-1',
  });
  const recent = {
    metadata,
    eventTime: '2026-11-21T07:53:00.000000Z',
    series: { count: 4, lastObservedTime: '2026-11-21T07:55:00.000000Z' },
  };
  const facts = toClusterEvent(recent);
  assert.deepEqual([facts?.count, facts?.firstAt, facts?.lastAt], [4, at, at + 120_000]);
});

test('a template keeps its hash whatever the order of its keys, and changes it with its content', () => {
  const one = {
    backoffLimit: 2,
    template: { metadata: { labels: { a: 'x' } }, spec: { containers: [{ name: 'm', image: 'i:1' }] } },
  };
  const turned = {
    template: { spec: { containers: [{ image: 'i:1', name: 'm' }] }, metadata: { labels: { a: 'x' } } },
    backoffLimit: 2,
  };
  assert.equal(hash(one), hash(turned));
  for (const changed of [
    { ...one, backoffLimit: 3 },
    { ...one, activeDeadlineSeconds: 5 },
    { ...one, template: { ...one.template, spec: { containers: [{ name: 'm', image: 'i:2' }] } } },
    { ...one, template: { ...one.template, metadata: { labels: { a: 'y' } } } },
  ]) {
    assert.notEqual(hash(changed), hash(one));
  }
});

test('what is generated for each Job does not enter its hash', () => {
  const template = { metadata: { labels: { a: 'x' } }, spec: {} };
  const labels = {
    a: 'x',
    'controller-uid': 'u',
    'job-name': 'n',
    'batch.kubernetes.io/controller-uid': 'u',
    'batch.kubernetes.io/job-name': 'n',
  };
  const generated = {
    template: { metadata: { labels, creationTimestamp: null }, spec: {} },
    selector: { matchLabels: { x: 'u' } },
    suspend: true,
    manualSelector: false,
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    podReplacementPolicy: 'TerminatingOrFailed',
  };
  assert.equal(hash(generated), hash({ template }));
});

test('equal texts are one text, also after the pool was renewed', () => {
  const intern = createInterner(2);
  assert.equal(intern('a'), 'a');
  intern('b');
  intern('c');
  assert.equal(intern('a'), 'a');
  assert.equal(intern(undefined), undefined);
});
