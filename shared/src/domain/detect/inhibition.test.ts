import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobFailed } from './job-failed.ts';
import { inhibitionOf, toPossibleCause, type PossibleCause, type PossibleSign } from './inhibition.ts';
import { aJobFailedRule } from '../../testing/rules.ts';

const hour = 3_600_000;

function cause(more: Partial<PossibleCause> & Pick<PossibleCause, 'type'>): PossibleCause {
  return {
    id: 'cause',
    subject: undefined,
    severity: 'warning',
    activatedAt: 0,
    jobNames: ['job-1'],
    reason: undefined,
    ...more,
  };
}

function sign(more: Partial<PossibleSign> & Pick<PossibleSign, 'type'>): PossibleSign {
  return { subject: undefined, severity: 'warning', jobNames: ['job-1'], ...more };
}

const missed = cause({ type: 'missedSchedule' });
const tooLong = cause({ type: 'slaBreached', subject: 'maxDuration' });
const deadline = cause({ type: 'jobFailed', reason: 'DeadlineExceeded' });
const notStarted = cause({ type: 'jobStuck', subject: 'notStarted' });
const overrunning = sign({ type: 'jobStuck', subject: 'overrunning' });
const never = sign({ type: 'absent', subject: 'neverSucceeded' });
const slow = sign({ type: 'slaBreached', subject: 'maxDuration' });

for (const [says, by, of, isHeld] of [
  ['a missed run holds back the dead-man', missed, sign({ type: 'deadManTriggered' }), true],
  [
    'the dead-man holds back no missed run',
    cause({ type: 'deadManTriggered' }),
    sign({ type: 'missedSchedule' }),
    false,
  ],
  ['a broken duration limit holds back that the run overruns', tooLong, overrunning, true],
  ['of another run it holds back nothing', tooLong, { ...overrunning, jobNames: ['job-2'] }, false],
  [
    'another broken promise holds back nothing',
    cause({ type: 'slaBreached', subject: 'finishBy' }),
    overrunning,
    false,
  ],
  ['a run ended by its deadline is not told as too long as well', deadline, slow, true],
  [
    'a run that could never start until its deadline is not told as too long as well',
    cause({ type: 'jobFailed', reason: 'ImagePullBackOff' }),
    slow,
    true,
  ],
  ['nor as stuck', deadline, sign({ type: 'jobStuck', subject: 'terminating' }), true],
  [
    'one that was killed for its memory and met its deadline is neither',
    cause({ type: 'jobFailed', reason: 'OOMKilled', jobReason: 'DeadlineExceeded' }),
    slow,
    true,
  ],
  ['a run that failed otherwise is', cause({ type: 'jobFailed', reason: 'Error' }), slow, false],
  ['a run without a container is not told as too long', notStarted, slow, true],
  ['nor as overrunning', notStarted, overrunning, true],
  ...(['jobFailed', 'missedSchedule', 'jobStuck'] as const).map(
    (type) =>
      [
        `${type} of any run holds back that none ever succeeded`,
        cause({ type }),
        { ...never, jobNames: [] },
        true,
      ] as const,
  ),
  [
    'but not when that is critical, and the cause a warning',
    notStarted,
    { ...never, severity: 'critical' as const },
    false,
  ],
  ['that the switch is due holds it back not', cause({ type: 'deadManTriggered' }), never, false],
  ['a warning holds back no critical page', notStarted, { ...slow, severity: 'critical' as const }, false],
  [
    'a critical one does',
    { ...notStarted, severity: 'critical' as const },
    { ...slow, severity: 'critical' as const },
    true,
  ],
] as const) {
  test(says, () => {
    const inhibition = inhibitionOf(of, [by], { now: 0, duplicateWindowMs: hour });
    assert.equal(inhibition?.cause, isHeld ? by : undefined);
  });
}

test('an alert about a run that its deadline ended is known by that, whatever its container ended with', () => {
  const context = { jobName: 'job-1', reason: 'Error', verdict: { detail: { reason: 'DeadlineExceeded' } } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a cause is made of
  const alert = { ...deadline, context } as unknown as Parameters<typeof toPossibleCause>[0];
  assert.equal(toPossibleCause(alert, 0).reason, 'DeadlineExceeded');
});

test('an alert about a run that was killed for its memory and met its deadline tells both', () => {
  const run = { jobName: 'job-1', endedAt: 0, exitCode: 137, reason: 'OOMKilled', jobReason: 'DeadlineExceeded' };
  const rule = aJobFailedRule();
  const verdict = jobFailed(rule, { runs: [{ ...run, status: 'failed' }], isOpen: false });
  assert.ok(verdict.kind === 'holds');
  const context = { jobName: 'job-1', reason: 'OOMKilled', verdict };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a cause is made of
  const alert = { ...deadline, context } as unknown as Parameters<typeof toPossibleCause>[0];
  const { reason, jobReason } = toPossibleCause(alert, 0);
  assert.deepEqual([reason, jobReason], ['OOMKilled', 'DeadlineExceeded']);
});

test('a missed run holds back the dead-man for one duplicate window, the others as long as they last', () => {
  const deadMan = sign({ type: 'deadManTriggered' });
  const at = (now: number) => inhibitionOf(deadMan, [missed], { now, duplicateWindowMs: hour });
  assert.equal(at(hour - 1)?.untilAt, hour);
  assert.equal(at(hour), undefined);
  assert.equal(inhibitionOf(overrunning, [tooLong], { now: 99 * hour, duplicateWindowMs: hour })?.untilAt, undefined);
});
