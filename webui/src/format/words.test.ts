import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  alertStates,
  deliveryStates,
  executionStatuses,
  healthStates,
  monitorPhases,
  slaTargetVerdicts,
  slotOutcomes,
  type HealthState,
  type Verdict,
} from '@cronjob-monitor/shared/contract';
import { alertMark, deliveryMarks, phaseMarks, runningMark, stateMarks, targetMark } from './marks.ts';
import { causeText, executionMarks, faultText, activeRunMark, runMark, slotMarks, waitingText } from './runs.ts';

const written = ({ word, shape, tone }: { word: string; shape: string; tone: string }): string =>
  `${word} ${shape} ${tone}`;

const verdictIn = (state: HealthState) => ({ state }) as Verdict; // nothing else of it is read

describe('the word, shape and tone', () => {
  test('of a state, with the check for what is healthy alone', () => {
    assert.deepEqual(
      healthStates.map((state) => written(stateMarks[state])),
      [
        'Critical cross crit',
        'Warning exclamation warn',
        'Failing hollow warn',
        'Not known yet question off',
        'Suspended bars off',
        'Healthy check ok',
      ],
    );
    assert.equal(written(runningMark), 'Running triangle run');
  });

  test('of a target: the check for what is met alone, the shape of its severity for what is breached', () => {
    assert.deepEqual(
      slaTargetVerdicts.map((verdict) => written(targetMark({ verdict, judged: verdictIn('critical') }))),
      [
        'Breached cross crit',
        'Not judged yet hourglass warn',
        'At risk hollow warn',
        'No data question off',
        'Met check ok',
      ],
    );
    assert.equal(
      written(targetMark({ verdict: 'breached', judged: verdictIn('warning') })),
      'Breached exclamation warn',
    );
  });

  test('of a run', () => {
    assert.deepEqual(
      executionStatuses.map(
        (status) => `${executionMarks[status].word} ${executionMarks[status].bar} ${executionMarks[status].tone}`,
      ),
      ['Failed crossed crit', 'Not seen hatched off', 'Deleted open off', 'Replaced half off', 'Succeeded full ok'],
    );
  });

  test('of an expected run', () => {
    assert.deepEqual(
      slotOutcomes
        .filter((outcome) => outcome !== 'matched')
        .map((outcome) => `${slotMarks[outcome].word} ${slotMarks[outcome].bar} ${slotMarks[outcome].tone}`),
      [
        'Late clock warn',
        'Missed dashed crit',
        'Skipped one off',
        'Too late two off',
        'Suspended three off',
        'Not seen hatched off',
        'Cannot be told unsure off',
      ],
    );
  });

  test('of an alert in each state', () => {
    const alert = { severity: 'critical', suppressedBy: null } as const;
    assert.deepEqual(
      alertStates.map((state) => written(alertMark({ ...alert, state }))),
      [
        'Waiting hourglass off',
        'Active cross crit',
        'Held back bar held',
        'Resolved check ok',
        'Expired dash off',
        'Never sent dash off',
      ],
    );
    assert.equal(alertMark({ ...alert, state: 'suppressed', suppressedBy: 'silence' }).word, 'Held back: silence');
  });

  test('of a monitor and of a delivery', () => {
    assert.deepEqual(
      monitorPhases.map((phase) => written(phaseMarks[phase])),
      ['Error cross crit', 'Degraded exclamation warn', 'Pending question off', 'Active check ok'],
    );
    assert.deepEqual(
      deliveryStates.map((state) => written(deliveryMarks[state])),
      [
        'Queued hourglass off',
        'Queued hourglass off',
        'Sent check ok',
        'Parked bar held',
        'Given up cross crit',
        'Not needed dash off',
        'In a digest list off',
        'Joined merge off',
      ],
    );
  });
});

describe('a bar of the strip', () => {
  const rows = [
    ['matched', 'success', 'Succeeded'],
    ['late', 'success', 'Late'],
    ['late', 'failed', 'Failed'],
    ['matched', 'failed', 'Failed'],
    ['matched', null, 'Running'],
    ['missed', null, 'Missed'],
    [null, null, 'Due'],
    [null, 'success', 'Succeeded'],
  ] as const;
  for (const [outcome, status, word] of rows) {
    test(`of ${outcome ?? 'an unjudged run'} and ${status ?? 'no end'} is "${word}"`, () =>
      assert.equal(runMark({ outcome, status }).word, word));
  }
});

test('a cause is told as far as it is known', () => {
  assert.equal(causeText({ exitCode: 137, reason: 'OOMKilled' }), 'exit code 137, OOMKilled');
  assert.equal(causeText({ exitCode: null, reason: 'Evicted' }), 'Evicted');
  assert.equal(causeText({ exitCode: 1, reason: null }), 'exit code 1');
  assert.equal(causeText({ exitCode: null, reason: null }), undefined);
});

test('whose fault it is is said with what else that concerns, and nothing where nothing tells', () => {
  assert.equal(faultText({ cause: 'platform', scope: 'node node-3' }), 'Platform: what runs the cluster (node node-3)');
  assert.equal(faultText({ cause: 'application', scope: null }), 'Application: the program itself failed');
  assert.equal(faultText({ cause: null, scope: null }), undefined);
});

test('an active run says what it waits for, where that is known', () => {
  const waits = { waitingReason: 'InvalidImageName', waitingMessage: 'invalid reference format' };
  assert.equal(waitingText(waits), 'Waits: InvalidImageName, invalid reference format');
  assert.equal(waitingText({ ...waits, waitingMessage: null }), 'Waits: InvalidImageName');
  assert.equal(waitingText({ waitingReason: null, waitingMessage: null }), undefined);
});

test('a run whose pod cannot start is not called running', () => {
  const wordOf = (podPhase: string | null, waitingReason: string | null): string =>
    activeRunMark({ podPhase, waitingReason }).word;
  assert.equal(wordOf('Pending', 'ImagePullBackOff'), 'Not started');
  assert.equal(wordOf(null, 'FailedCreate'), 'Not started');
  assert.equal(wordOf('Running', 'CrashLoopBackOff'), 'Running');
  assert.equal(wordOf('Pending', null), 'Running', 'nothing says that it waits in vain');
});

test('a run whose Job is suspended is called that, and waits for nothing else', () => {
  assert.equal(activeRunMark({ podPhase: null, waitingReason: 'Suspended' }).word, 'Suspended');
  const waits = { waitingReason: 'Suspended', waitingMessage: 'the Job has spec.suspend: true' };
  assert.equal(waitingText(waits), 'the Job has spec.suspend: true');
});
