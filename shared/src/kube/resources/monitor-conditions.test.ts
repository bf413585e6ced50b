import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RolloutState } from '../../contract/index.ts';
import { decodeMonitorSpec } from './decode-monitor.ts';
import { judgeMonitor, monitorConditionTypes, phaseOf, type MonitorFacts } from './monitor-conditions.ts';
import { monitorDefaults } from '../../testing/decoded-monitor.ts';

function facts(
  more: Partial<MonitorFacts> = {},
  spec: unknown = { alerting: { channelRefs: [{ name: 'a' }, { name: 'b' }] } },
): MonitorFacts {
  return {
    decoded: decodeMonitorSpec({ spec }, monitorDefaults),
    evaluation: 'done',
    reach: { namespaces: new Set(['prod']), refused: [], passedOver: [] },
    channelFaults: [],
    scheduleFaults: [],
    rollouts: [],
    selected: 1,
    findings: [],
    ...more,
  };
}

test('all conditions are judged, in their order; Stalled is absent while the spec works', () => {
  assert.deepEqual(
    judgeMonitor(facts()).map(({ type, status }) => `${type} ${status}`),
    monitorConditionTypes.filter((type) => type !== 'Stalled').map((type) => `${type} True`),
  );
});

const refused = (reason: 'NamespaceNotAuthorized' | 'NamespaceIgnored' | 'NamespaceNotFound', namespace = 'x') => ({
  namespace,
  reason,
});
const reach = (...all: ReturnType<typeof refused>[]) => ({
  reach: { namespaces: new Set<string>(), refused: all, passedOver: [] },
});
const fault = (
  fault: 'ScheduleInvalid' | 'ZoneUnknown' | 'ZoneMismatch' | 'ScheduleNeverFires' | 'EveryNeverRuns',
) => ({ namespace: 'p', name: 'c', fault });

for (const { says, given, condition, reason, phase, names } of [
  { says: 'all is well', given: facts(), condition: 'Ready', reason: 'Evaluated', phase: 'Active', names: '' },
  {
    says: 'it has not been evaluated',
    given: facts({ evaluation: 'pending' }),
    condition: 'Ready',
    reason: 'NotEvaluated',
    phase: 'Pending',
    names: '',
  },
  {
    says: 'its evaluation failed',
    given: facts({ evaluation: { failed: 'no database' } }),
    condition: 'Ready',
    reason: 'EvaluationFailed',
    phase: 'Error',
    names: 'no database',
  },
  {
    says: 'its spec is no object',
    given: facts({}, 'x'),
    condition: 'SpecValid',
    reason: 'Undecodable',
    phase: 'Error',
    names: 'spec',
  },
  {
    says: 'a field cannot be used',
    given: facts({}, { sla: { windowDays: 0 } }),
    condition: 'SpecValid',
    reason: 'InvalidField',
    phase: 'Degraded',
    names: 'spec.sla.windowDays',
  },
  {
    says: 'a zone does not exist',
    given: facts({}, { sla: { finishBy: { time: '06:00', timezone: 'A/B' } } }),
    condition: 'SpecValid',
    reason: 'InvalidTimeZone',
    phase: 'Degraded',
    names: 'spec.sla.finishBy.timezone',
  },
  {
    says: 'a field cannot be used before it was evaluated',
    given: facts({ evaluation: 'pending' }, { sla: 7 }),
    condition: 'SpecValid',
    reason: 'InvalidField',
    phase: 'Degraded',
    names: 'spec.sla',
  },
  {
    says: 'no channel is referenced',
    given: facts({}, {}),
    condition: 'ChannelsResolved',
    reason: 'NoneReferenced',
    phase: 'Active',
    names: '',
  },
  {
    says: 'a channel is missing and another not ready',
    given: facts({
      channelFaults: [
        { name: 'a', fault: { notReady: 'SecretNotFound' } },
        { name: 'b', fault: 'missing' },
      ],
    }),
    condition: 'ChannelsResolved',
    reason: 'ChannelNotFound',
    phase: 'Degraded',
    names: 'b: there is no such channel',
  },
  {
    says: 'a channel is not ready',
    given: facts({ channelFaults: [{ name: 'a', fault: { notReady: 'SecretNotFound' } }] }),
    condition: 'ChannelsResolved',
    reason: 'ChannelNotReady',
    phase: 'Degraded',
    names: 'SecretNotFound',
  },
  {
    says: 'a namespace has not agreed',
    given: facts(reach(refused('NamespaceNotFound', 'y'), refused('NamespaceNotAuthorized'))),
    condition: 'SelectorAuthorized',
    reason: 'NamespaceNotAuthorized',
    phase: 'Degraded',
    names: 'namespace y does not exist; namespace x has not agreed',
  },
  {
    says: 'a namespace is ignored',
    given: facts(reach(refused('NamespaceIgnored'))),
    condition: 'SelectorAuthorized',
    reason: 'NamespaceIgnored',
    phase: 'Degraded',
    names: 'x',
  },
  {
    says: 'namespaces are passed over',
    given: facts({ reach: { namespaces: new Set(), refused: [], passedOver: ['q', 'r'] } }),
    condition: 'SelectorAuthorized',
    reason: 'Authorized',
    phase: 'Active',
    names: 'q, r',
  },
  {
    says: 'a schedule is not understood',
    given: facts({ scheduleFaults: [fault('EveryNeverRuns'), fault('ZoneUnknown')] }),
    condition: 'SchedulesUnderstood',
    reason: 'ZoneUnknown',
    phase: 'Degraded',
    names:
      'p/c: its startingDeadlineSeconds is shorter than the period of its schedule; p/c: its time zone is not known',
  },
  ...(
    [
      ['what it expects was not asked yet', undefined, 'NotEvaluated', ''],
      ['all that it expects is there', { missing: [], namespaceGone: [], outOfReach: [] }, 'AllPresent', ''],
      [
        'one that it expects is missing, and one has no namespace',
        { missing: ['prod/a'], namespaceGone: ['gone/b'], outOfReach: [] },
        'Missing',
        'missing: prod/a; in a namespace that is not there: gone/b',
      ],
      [
        'the namespace of one is not there',
        { missing: [], namespaceGone: ['gone/b'], outOfReach: [] },
        'NamespaceGone',
        'gone/b',
      ],
      [
        'the monitor may not look into the namespace of one',
        { missing: [], namespaceGone: ['gone/b'], outOfReach: ['bank/c'] },
        'OutOfReach',
        'in a namespace that this monitor may not look into, and not judged: bank/c',
      ],
    ] as const
  ).map(([says, expectations, reason, names]) => ({
    says,
    given: facts({ expectations }, { expects: { seen: true } }),
    condition: 'ExpectationsMet' as const,
    reason,
    phase: 'Active' as const,
    names,
  })),
  {
    says: 'the lint warns',
    given: facts({ findings: [{ code: 'HistoryTooShort', level: 'warning', message: 'm' }] }),
    condition: 'ConfigurationSound',
    reason: 'LintFindings',
    phase: 'Active',
    names: 'HistoryTooShort: m',
  },
  {
    says: 'the lint only notes',
    given: facts({ findings: [{ code: 'CrowdedMinute', level: 'note', message: 'm' }] }),
    condition: 'ConfigurationSound',
    reason: 'Noted',
    phase: 'Active',
    names: 'CrowdedMinute: m',
  },
  {
    says: 'retention is lowered',
    given: facts({}, { dataRetention: { retentionDays: 200 } }),
    condition: 'ConfigurationSound',
    reason: 'Noted',
    phase: 'Active',
    names: 'RetentionClamped: spec.dataRetention.retentionDays',
  },
]) {
  test(`when ${says}, ${condition} says ${reason} and the phase is ${phase}`, () => {
    const verdicts = judgeMonitor(given);
    const found = verdicts.find(({ type }) => type === condition);
    assert.equal(found?.reason, reason);
    assert.ok(found.message.includes(names), found.message);
    assert.equal(phaseOf(verdicts), phase);
  });
}

test('the worst condition gives the phase', () => {
  const verdicts = judgeMonitor(
    facts({ evaluation: { failed: 'x' }, scheduleFaults: [fault('ZoneMismatch')] }, { sla: 7 }),
  );
  assert.equal(phaseOf(verdicts), 'Error');
});

const rollout = (name: string, state: RolloutState, reason?: string) => ({ namespace: 'prod', name, state, reason });
const six = ['a', 'b', 'c', 'd', 'e', 'f'];

for (const { says, given, status, reason, message } of [
  {
    says: 'nothing is selected',
    given: { selected: 0 },
    status: 'Unknown',
    reason: 'NothingSelected',
    message: /no CronJob/,
  },
  {
    says: 'a target has no row yet',
    given: { rollouts: undefined },
    status: 'Unknown',
    reason: 'NotEvaluated',
    message: /not yet|yet/,
  },
  {
    says: 'the template of a target was not read yet, though another fails',
    given: { rollouts: [rollout('a', 'Unknown'), rollout('b', 'Degraded', 'JobFailed')] },
    status: 'Unknown',
    reason: 'NotEvaluated',
    message: /yet/,
  },
  {
    says: 'one has not run and one fails',
    given: { rollouts: [rollout('a', 'Progressing'), rollout('b', 'Degraded', 'LastRunFailed')] },
    status: 'False',
    reason: 'LastRunFailed',
    message: /^prod\/b: LastRunFailed$/,
  },
  {
    says: 'several fail: the worst gives the reason and comes first',
    given: {
      rollouts: [
        rollout('a', 'Degraded', 'ScheduleProblem'),
        rollout('b', 'Degraded', 'MissedSchedule'),
        rollout('c', 'Degraded', 'DeadManSwitch'),
      ],
    },
    status: 'False',
    reason: 'DeadManSwitch',
    message: /^prod\/c: DeadManSwitch, prod\/b: MissedSchedule, prod\/a: ScheduleProblem$/,
  },
  {
    says: 'six fail: five are named',
    given: { rollouts: six.map((name) => rollout(name, 'Degraded', 'JobFailed')) },
    status: 'False',
    reason: 'JobFailed',
    message: /prod\/e: JobFailed and 1 more$/,
  },
  {
    says: 'one has not run yet',
    given: { rollouts: [rollout('a', 'Progressing')] },
    status: 'Unknown',
    reason: 'Progressing',
    message: /prod\/a$/,
  },
  {
    says: 'the others are suspended or well',
    given: { rollouts: [] },
    status: 'True',
    reason: 'AllHealthy',
    message: /healthy$/,
  },
] as const) {
  test(`Healthy: ${says}`, () => {
    const verdicts = judgeMonitor(facts(given));
    const found = verdicts.find(({ type }) => type === 'Healthy');
    assert.deepEqual([found?.status, found?.reason], [status, reason]);
    assert.match(found?.message ?? '', message);
    assert.equal(phaseOf(verdicts), 'Active');
  });
}

test('a spec that cannot work is Stalled and not Ready, for tools that know these two alone, and Degraded', () => {
  const verdicts = judgeMonitor(facts({}, { missedSchedule: { grace: 5 } }));
  const told = verdicts
    .filter(({ type }) => ['Ready', 'SpecValid', 'Stalled'].includes(type))
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  assert.deepEqual(told, ['Ready False InvalidSpec', 'SpecValid False InvalidField', 'Stalled True InvalidField']);
  assert.equal(phaseOf(verdicts), 'Degraded');
});

test('groups of Jobs beyond the bound are named, and are no fault of the spec', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `prod/~${name}`);
  const conditions = judgeMonitor(facts({ refusedGroups: { count: 7, names } }));
  const found = conditions.find(({ type }) => type === 'SpecValid');
  assert.deepEqual([found?.status, found?.reason], ['True', 'TooManyGroups']);
  assert.equal(
    found?.message,
    'jobs selects more groups of Jobs than are watched: 7 are not, such as prod/~a, prod/~b, prod/~c, prod/~d, prod/~e',
  );
});
