import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Execution } from '../execution/execution.ts';
import {
  rolloutOf,
  withRun,
  type RolloutAlert,
  type RolloutFacts,
  type TemplateRun,
  type TemplateRuns,
} from './rollout.ts';
import { minuteMs } from '../duration.ts';

const at = Date.UTC(2026, 10, 21, 7);
const template = { hash: 'new', at };

function facts(more: Partial<RolloutFacts> = {}): RolloutFacts {
  return {
    deletedAt: undefined,
    isMonitored: true,
    suspended: false,
    problem: undefined,
    template,
    templateRuns: {},
    lastScheduleAt: undefined,
    lastSuccessAt: undefined,
    running: 0,
    nextRunAt: at + 60 * minuteMs,
    alerts: [],
    ...more,
  };
}

function ran(status: 'success' | 'failed', more: Partial<TemplateRun> = {}): TemplateRun {
  return {
    jobUid: 'uid-1',
    jobName: 'backup-1',
    status,
    createdAt: at + minuteMs,
    finishedAt: at + 2 * minuteMs,
    exitCode: status === 'failed' ? 137 : undefined,
    reason: status === 'failed' ? 'OOMKilled' : undefined,
    ...more,
  };
}

const alert = (type: RolloutAlert['type'], more: Partial<RolloutAlert> = {}): RolloutAlert => ({
  type,
  severity: 'warning',
  sinceAt: at + 5 * minuteMs,
  ...more,
});
const succeeded = { templateRuns: { last: ran('success') } };
const failed = { templateRuns: { last: ran('failed') } };

for (const [says, given, state, message] of [
  ['it is new and no slot came yet', facts(), 'Progressing', /next is due 2026-11-21T08:00:00Z/],
  ['its first run goes on', facts({ running: 1 }), 'Progressing', /one goes on/],
  ['its first run failed', facts(failed), 'Degraded', /^Its last run failed \(exit code 137, OOMKilled\)\.$/],
  ['its last run succeeded', facts(succeeded), 'Healthy', /succeeded/],
  ['its last run failed and the next goes on', facts({ ...failed, running: 1 }), 'Degraded', /failed/],
  [
    'a template follows after a failed one, whose alert is open',
    facts({ alerts: [alert('jobFailed', { sinceAt: at - minuteMs })] }),
    'Progressing',
    /No run/,
  ],
  [
    'a run of the template before fails after this one was written',
    facts({ alerts: [alert('jobFailed', { runStartedAt: at - minuteMs })] }),
    'Progressing',
    /No run/,
  ],
  [
    'runs are missed since',
    facts({ ...succeeded, alerts: [alert('missedSchedule')] }),
    'Degraded',
    /^MissedSchedule since 2026-11-21T07:05:00Z\.$/,
  ],
  ['it is suspended and failed before', facts({ ...failed, suspended: true }), 'Suspended', /suspended/],
  [
    'its Job went before it was watched, and the cluster tells of a success',
    facts({ lastScheduleAt: at + minuteMs, lastSuccessAt: at + 2 * minuteMs }),
    'Healthy',
    /succeeded/,
  ],
  [
    'the success that the cluster tells of was started by the template before',
    facts({ lastScheduleAt: at - minuteMs, lastSuccessAt: at + minuteMs }),
    'Progressing',
    /No run/,
  ],
  ['an SLA is missed', facts({ ...succeeded, alerts: [alert('slaBreached')] }), 'Healthy', /succeeded/],
  [
    'two monitors tell the same',
    facts({
      ...succeeded,
      alerts: [alert('jobFailed', { sinceAt: at + 6 * minuteMs, severity: 'critical' }), alert('jobFailed')],
    }),
    'Degraded',
    /^JobFailed since 2026-11-21T07:05:00Z\.$/,
  ],
  ['its schedule cannot be read', facts({ ...succeeded, problem: 'unparsable' }), 'Degraded', /schedule/],
  ['no monitor selects it', facts({ ...failed, isMonitored: false }), 'Unknown', /No monitor/],
  ['it was deleted', facts({ ...failed, deletedAt: at }), 'Unknown', /deleted/],
  ['its template was not read since an upgrade', facts({ ...failed, template: undefined }), 'Unknown', /not read/],
] as const) {
  test(`${says}: ${state}`, () => {
    const found = rolloutOf(given);
    assert.equal(found.state, state);
    assert.match(found.message, message);
  });
}

test('the reason of a Degraded one is the label of its worst alert, then its run, then its schedule', () => {
  const all = { ...failed, problem: 'unknownZone' } as const;
  const alerts = [alert('jobFailed'), alert('deadManTriggered', { severity: 'critical' })];
  assert.equal(rolloutOf(facts({ ...all, alerts })).reason, 'DeadManSwitch');
  assert.equal(rolloutOf(facts(all)).reason, 'LastRunFailed');
  assert.equal(rolloutOf(facts({ ...succeeded, problem: 'unknownZone' })).reason, 'ScheduleProblem');
  assert.equal(rolloutOf(facts(succeeded)).reason, undefined);
});

const run = (more: Partial<Execution>): Execution =>
  ({ ...ran('success'), templateHash: 'new', ...more }) as unknown as Execution;

for (const [says, more, counts] of [
  ['made from it', {}, true],
  ['made after it, which a webhook changed', { templateHash: 'changed' }, true],
  ['of the second in which it was written, with another template', { templateHash: 'old', createdAt: at }, false],
  ['of the second in which it was written, with this template', { createdAt: at }, true],
  ['made before it, with another template', { templateHash: 'old', createdAt: at - minuteMs }, false],
  ['that was deleted while it went on', { status: 'deleted' }, false],
  ['whose end was not seen', { status: 'unobserved' }, false],
] as const) {
  test(`a run ${says} is ${counts ? 'a' : 'no'} run of the template`, () => {
    assert.equal(withRun({}, run(more), template).last !== undefined, counts);
  });
}

test('the first and the last run do not depend on the order in which runs are told', () => {
  const all = [1, 2, 3].map((minute) => run({ jobName: `backup-${minute}`, createdAt: at + minute * minuteMs }));
  const older = run({ jobName: 'backup-0', createdAt: at - minuteMs }); // the template had been there before
  for (const order of [
    [...all, older],
    [older, ...all.toReversed()],
  ]) {
    const { first, last } = order.reduce<TemplateRuns>((known, one) => withRun(known, one, template), {});
    assert.deepEqual([first?.jobName, last?.jobName], ['backup-1', 'backup-3']);
  }
});
