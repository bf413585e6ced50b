import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Told, VerdictStep } from '../../contract/index.ts';
import type { Attempt } from '../execution/attempts.ts';
import { deadlineStep, evictedStep, killedStep } from './patch-steps.ts';
import { missedCause } from '../alert-types/of-absence.ts';
import { openRunOf, stepOf, type StepFacts } from './step.ts';
import { missingIn, waitingCause } from './waiting.ts';

const cronJob = { namespace: 'prod', name: 'backup' };
const monitor = { namespace: 'prod', name: 'dr' };
const quiet: StepFacts = {
  cronJob,
  kind: 'jobFailed',
  findings: [],
  run: undefined,
  waiting: undefined,
  runbook: undefined,
  isSuspended: false,
  refusal: undefined,
  absence: undefined,
  told: undefined,
  monitor,
};
const run = openRunOf(cronJob, 'backup-1');
const patch: VerdictStep = { action: 'copyPatch', words: 'Raise the limit', command: 'kubectl patch', href: null };
const finding = { code: 'DeadManShorterThanPeriod', words: 'The limit is too short', href: '/monitors/prod/dr' };
const runbook = 'https://wiki.example.org/backup';
const told = (state: Told['state'], reason: Told['reason'], channels: Told['channels'] = []): Told => ({
  state,
  reason,
  word: null,
  until: null,
  channels,
});

describe('the next step', () => {
  test('of a rule that cannot hold names the value that would let it, and sets it', () => {
    const mend = { path: 'spec.deadManSwitch.maxTimeSinceLastSuccess', value: '8 d', command: 'kubectl patch it' };
    const other = { code: 'RunsLongerThanPeriod', words: 'Runs take 2 h and come every 1 h', href: finding.href };
    assert.deepEqual(stepOf({ ...quiet, findings: [other, { ...finding, mend }] }), {
      action: 'openRules',
      words: 'Set 8 d in the rule: The limit is too short',
      label: 'Set 8 d in rules',
      command: 'kubectl patch it',
      href: `/monitors/prod/dr?part=rules#${mend.path}`,
    });
  });

  const rows: readonly (readonly [string, Partial<StepFacts>, VerdictStep['action'] | undefined, string | null])[] = [
    ['of a rule that cannot hold are its rules', { findings: [finding], run: patch }, 'openRules', '/monitors/prod/dr'],
    [
      'of a schedule that never comes, of which none before is known, is to give it another one',
      { kind: 'deadManTriggered', findings: [{ code: 'ScheduleNeverFires', words: 'x', href: null }] },
      'copyPatch',
      null,
    ],
    ['of a run that asks for a patch is the patch', { run: patch, runbook }, 'copyPatch', null],
    [
      'of a run that names what is missing is the run',
      { run: { ...run, words: 'Open the run: Secret db is missing' }, runbook },
      'openRun',
      '/cronjobs/prod/backup/runs/backup-1',
    ],
    ['of an exit code is the annotated runbook', { run, runbook }, 'openRunbook', runbook],
    ['of an exit code without a runbook is the run', { run }, 'openRun', '/cronjobs/prod/backup/runs/backup-1'],
    [
      'of a Job that waits is that Job',
      { kind: 'jobStuck', waiting: { jobName: 'backup-2', reason: 'CreateContainerConfigError' } },
      'openRun',
      '/cronjobs/prod/backup/runs/backup-2',
    ],
    ['of a missed run is a run by hand', { kind: 'missedSchedule' }, 'trigger', '/cronjobs/prod/backup'],
    [
      'of a missed run that a quota refused is that quota, which refuses a run by hand as well',
      { kind: 'missedSchedule', refusal: 'jobs "a" is forbidden: exceeded quota: jobs-cap, requested: 1' },
      'copyPatch',
      null,
    ],
    [
      'of a missed run that was refused for something else is a run by hand',
      { kind: 'missedSchedule', refusal: 'admission webhook "policy" denied the request' },
      'trigger',
      '/cronjobs/prod/backup',
    ],
    [
      'of a missed run while it is suspended is to resume it',
      { kind: 'deadManTriggered', isSuspended: true },
      'resume',
      '/cronjobs/prod/backup',
    ],
    [
      'of a CronJob that is not there are the rules that expect it',
      { kind: 'absent', absence: 'deleted' },
      'openRules',
      '/monitors/prod/dr',
    ],
    ['of a suspension is to resume it', { kind: 'suspended' }, 'resume', '/cronjobs/prod/backup'],
    [
      'of what no channel is told is to name one',
      { kind: 'slaBreached', told: told('none', 'noChannel') },
      'mendChannel',
      '/monitors/prod/dr',
    ],
    [
      'of what no channel takes is to route it',
      { kind: 'slaBreached', told: told('none', 'severityNotRouted') },
      'mendChannel',
      '/monitors/prod/dr',
    ],
    [
      'of a message that is held for nothing else is none',
      { kind: 'slaBreached', told: told('held', 'silence') },
      undefined,
      null,
    ],
    ['of what else is not well is the runbook', { kind: 'slaBreached', runbook }, 'openRunbook', runbook],
    [
      'of a missed target of several runs is how they went',
      { kind: 'targetMissed' },
      'openTrends',
      '/cronjobs/prod/backup?part=trends',
    ],
    ['of what is well is none', { kind: 'succeeded', runbook }, undefined, null],
  ];
  for (const [name, facts, action, href] of rows)
    test(name, () => {
      const step = stepOf({ ...quiet, ...facts });
      assert.deepEqual([step?.action, step?.href ?? null], [action, href]);
    });

  test('of a Job whose own template keeps it from starting is to mend the CronJob and to delete that Job', () => {
    const stepFor = (reason: string, message: string): VerdictStep | undefined =>
      stepOf({ ...quiet, kind: 'jobStuck', waiting: { jobName: 'backup-2', reason, message } });
    const keeps = 'then delete the Job that waits, which keeps the old template';
    const selector = "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector. preemption: none.";
    for (const [reason, message, mend] of [
      ['ImagePullBackOff', '', 'Name an image that its nodes can pull, or push this one'],
      [
        'ImagePullBackOff',
        'no match for platform in manifest: not found',
        'Name an image that is built for the platform of its nodes',
      ],
      ['Unschedulable', selector, 'Make its node selector and affinity fit a node, or label a node'],
      ['Unschedulable', '0/3: 3 Insufficient cpu.', 'Lower its request of cpu, or make room on the nodes'],
      [
        'Unschedulable',
        '1 node(s) had untolerated taint {gpu: yes}.',
        'Let it tolerate taint gpu: yes, or take it off a node',
      ],
      ['Unschedulable', 'persistentvolumeclaim "data" not found.', 'Create volume claim data'],
    ] as const) {
      const step = stepFor(reason, message);
      assert.equal(step?.words, `${mend}; ${keeps}`);
      assert.equal(step.command, 'kubectl -n prod delete job backup-2');
    }
    assert.equal(stepFor('Unschedulable', 'for a reason of its own')?.words, 'Open the run: it waits (Unschedulable)');
  });

  test('of a channel that was given up is that channel', () => {
    const dead = {
      channel: 'on-call',
      deliveryId: '1',
      kind: 'firing',
      state: 'dead',
      attempts: 9,
      at: '2026-11-21T00:00:00.000Z',
      nextAttemptAt: null,
      category: null,
      httpStatus: 500,
      mutedThere: null,
      word: null,
    } as const;
    const step = stepOf({ ...quiet, kind: 'slaBreached', told: told('failed', 'rejected', [dead]) });
    assert.deepEqual(
      [step?.action, step?.words, step?.href],
      ['mendChannel', 'Mend the channel on-call', '/channels/on-call'],
    );
  });

  test('has a command that a shell takes as it stands', () => {
    assert.equal(
      stepOf({ ...quiet, kind: 'missedLast' })?.command,
      'kubectl -n prod create job backup-by-hand --from=cronjob/backup',
    );
    assert.equal(
      stepOf({ ...quiet, kind: 'suspended' })?.command,
      `kubectl -n prod patch cronjob backup --patch '{"spec":{"suspend":false}}'`,
    );
  });
});

describe('what a text of Kubernetes says is missing', () => {
  for (const [reason, text, missing] of [
    ['CreateContainerConfigError', 'secret "db-password" not found', 'Secret db-password is missing'],
    ['CreateContainerConfigError', 'configmap "settings" not found', 'ConfigMap settings is missing'],
    ['FailedCreate', 'pods "x" is forbidden: exceeded quota: compute, requested: pods=1', 'Quota compute is used up'],
    [
      'FailedCreate',
      'error looking up service account prod/x: serviceaccount "x" not found',
      'ServiceAccount x is missing',
    ],
    ['FailedMount', 'MountVolume.SetUp failed for volume "data" : timed out', 'Volume data cannot be mounted'],
    [
      'ImagePullBackOff',
      'Back-off pulling image "registry.example.org/dump:9"',
      'Image registry.example.org/dump:9 cannot be pulled',
    ],
    ['ErrImagePull', '', 'Its image cannot be pulled'],
    ['Error', 'exit status 1', undefined],
  ] as const)
    test(missing ?? `is nothing for "${text}"`, () => assert.equal(missingIn(reason, text), missing));
});

describe('what a Job that cannot start waits for', () => {
  const image = 'registry.example.org/dump:9';
  const pulling = (says: string): string => `Back-off pulling image "${image}": ErrImagePull: ${says}`;
  for (const [reason, message, cause] of [
    [
      'ImagePullBackOff',
      pulling('pull access denied, repository does not exist or may require authorization'),
      `Image ${image} cannot be pulled: its registry refuses it`,
    ],
    [
      'ImagePullBackOff',
      pulling(`failed to resolve reference "${image}": not found`),
      `Image ${image} cannot be pulled: its registry has none of that name`,
    ],
    [
      'ImagePullBackOff',
      pulling('dial tcp: lookup registry.example.org: no such host'),
      `Image ${image} cannot be pulled: its registry does not answer`,
    ],
    [
      'ImagePullBackOff',
      pulling('no match for platform in manifest: not found'),
      `Image ${image} cannot be pulled: it is not built for the platform of the node`,
    ],
    ['ImagePullBackOff', pulling('it went wrong'), `Image ${image} cannot be pulled`],
    ['FailedCreate', 'exceeded quota: compute, requested: pods=1', 'Quota compute is used up'],
    [
      'Unschedulable',
      '0/6 nodes are available: 6 Insufficient nvidia.com/gpu. preemption: 0/6 nodes are available.',
      '0/6 nodes are available: 6 Insufficient nvidia.com/gpu',
    ],
    ['FailedCreate', `${'a'.repeat(300)}. And more`, `${'a'.repeat(199)}…`],
    ['Unschedulable', undefined, undefined],
  ] as const)
    test(`is ${cause?.slice(0, 90) ?? 'not known where Kubernetes says nothing'}`, () =>
      assert.equal(waitingCause({ reason, message }), cause));
});

test('a missed run is explained by what the cluster said as it refused its Job, else by what is known of it', () => {
  const refusal = 'Error creating job: jobs.batch "a-1" is forbidden: exceeded quota: jobs-cap, requested: count=1';
  assert.deepEqual(missedCause({ cause: 'createRejected', refusal }), { words: 'Quota jobs-cap is used up', refusal });
  const silent = missedCause({ cause: 'controllerSilent' }).words;
  assert.equal(silent, 'the CronJob controller started nothing at all meanwhile');
  assert.equal(missedCause({ cause: 'toString' }).words, undefined);
  assert.equal(missedCause(undefined).words, undefined);
});

describe('a patch to copy', () => {
  const spec = (resources: object, more: object = {}): object => ({
    ...more,
    template: { spec: { containers: [{ name: 'dump', image: 'dump:1', resources }] } },
  });
  const attempt: Attempt = {
    pod: 'p',
    node: 'node-3',
    phase: 'Failed',
    reason: 'Evicted',
    index: undefined,
    startedAt: 0,
    endedAt: 1,
    containers: [],
  };
  const ran = { jobName: 'backup-1', attempts: 3 };

  test('doubles the memory limit of what was killed', () => {
    const found = killedStep(cronJob, ran, spec({ limits: { memory: '512Mi' } }), []);
    assert.equal(found?.cause, 'Killed at 512 Mi in 3 attempts');
    assert.match(found.step.command ?? '', /"limits":\{"memory":"1Gi"\}/);
  });

  test('lets what was evicted ask for its limit, else for twice as much, and names the node', () => {
    const toLimit = evictedStep(cronJob, ran, spec({ requests: { memory: '100Mi' }, limits: { memory: '1Gi' } }), [
      attempt,
    ]);
    assert.equal(toLimit?.cause, 'Its pod was evicted from node node-3');
    assert.match(toLimit.step.command ?? '', /"requests":\{"memory":"1Gi"\}/);
    const twice = evictedStep(cronJob, ran, spec({ requests: { memory: '300Mi' } }), [attempt]);
    assert.match(twice?.step.command ?? '', /"requests":\{"memory":"600Mi"\}/);
    assert.equal(evictedStep(cronJob, ran, spec({}), [attempt])?.step.action, 'openRun');
  });

  test('raises a deadline to 1.5 times what runs take, or to twice itself where that is no more', () => {
    const withDeadline = spec({}, { activeDeadlineSeconds: 600 });
    assert.match(deadlineStep(cronJob, ran, withDeadline, 590_000)?.step.command ?? '', /"activeDeadlineSeconds":885/);
    assert.match(deadlineStep(cronJob, ran, withDeadline, 60_000)?.step.command ?? '', /"activeDeadlineSeconds":1200/);
    const ofGroup = deadlineStep({ ...cronJob, name: '~migrate' }, ran, withDeadline, 60_000);
    assert.equal(ofGroup?.step.command, null, 'a Job without a CronJob has no template in the cluster');
    assert.match(deadlineStep(cronJob, ran, withDeadline, undefined)?.step.words ?? '', /from 10 min to 20 min/);
    assert.equal(deadlineStep(cronJob, ran, spec({}), 1_000), undefined);
  });
});
