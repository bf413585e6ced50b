import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyRuleOf } from '../execution/fault.ts';
import { failureSignature, jobFailed, type JobFailedRule, type JudgedRun } from './job-failed.ts';
import { aJobFailedRule } from '../../testing/rules.ts';

const rule: JobFailedRule = aJobFailedRule();

test('a failure names the indexes that failed, or the rule that ended it, where these are known', () => {
  const of = (more: Partial<JudgedRun>): unknown[] => {
    const verdict = jobFailed(rule, { runs: runs('Fs').map((run) => ({ ...run, ...more })), isOpen: false });
    assert.ok(verdict.kind === 'holds');
    return [verdict.detail['failedIndexes'], verdict.detail['policyRule']];
  };
  assert.deepEqual(of({ failedIndexes: '0,2-3' }), ['0,2-3', undefined]);
  assert.deepEqual(of({ policyRule: 'FailJob rule at index 0' }), [undefined, 'FailJob rule at index 0']);
});

test('the rule of a podFailurePolicy is what the condition of the Job ends with', () => {
  const said = 'Container main for pod shop/nightly-1-x7k2p failed with exit code 42 matching FailJob rule at index 0';
  assert.equal(policyRuleOf(said), 'FailJob rule at index 0');
  assert.deepEqual([policyRuleOf(`${said}, it says`), policyRuleOf(undefined)], [undefined, undefined]);
});

/** Runs written newest first: F failed, s succeeded; ends a minute apart. */
function runs(text: string): JudgedRun[] {
  return [...text].map((letter, index) => ({
    jobName: `job-${text.length - index}`,
    status: letter === 'F' ? 'failed' : 'success',
    endedAt: (text.length - index) * 60_000,
    exitCode: letter === 'F' ? 1 : undefined,
    reason: letter === 'F' ? 'Error' : undefined,
  }));
}

// runs: newest first; open: whether the alert is open; count: failures in a row it tells, undefined = quiet
const cases: { says: string; more?: Partial<JobFailedRule>; runs: string; open?: boolean; count?: number }[] = [
  { says: 'one failure is enough by default', runs: 'Fss', count: 1 },
  { says: 'a success after it ends it', runs: 'sF', open: true },
  { says: 'nothing ran yet', runs: '' },
  { says: 'failures in a row are counted', runs: 'FFFs', count: 3 },
  { says: 'stays quiet below the threshold', more: { failureThreshold: 3 }, runs: 'FFs' },
  { says: 'opens at the threshold', more: { failureThreshold: 3 }, runs: 'FFFs', count: 3 },
  {
    says: 'one success is not enough when two are asked for',
    more: { recoveryThreshold: 2 },
    runs: 'sFF',
    open: true,
    count: 1,
  },
  { says: 'two successes in a row end it', more: { recoveryThreshold: 2 }, runs: 'ssF', open: true },
  {
    says: 'a success between failures starts the recovery anew',
    more: { recoveryThreshold: 2 },
    runs: 'sFs',
    open: true,
    count: 1,
  },
  {
    says: '3 of the last 5 open it',
    more: { failureThreshold: 9, failuresOfLast: { failures: 3, runs: 5 } },
    runs: 'FsFsF',
    count: 1,
  },
  {
    says: '2 of the last 5 do not',
    more: { failureThreshold: 9, failuresOfLast: { failures: 3, runs: 5 } },
    runs: 'FssFs',
  },
  {
    says: 'failures of long ago do not open it after a success',
    more: { failureThreshold: 9, failuresOfLast: { failures: 3, runs: 5 } },
    runs: 'sFFFs',
  },
  { says: 'switched off', more: { enabled: false }, runs: 'FFF' },
];

for (const { says, more, runs: text, open, count } of cases) {
  test(`jobFailed: ${says}`, () => {
    const verdict = jobFailed({ ...rule, ...more }, { runs: runs(text), isOpen: open ?? false });
    assert.equal(verdict.kind === 'holds' ? verdict.count : undefined, count);
  });
}

test('jobFailed began with the first failure of the row', () => {
  const verdict = jobFailed(rule, { runs: runs('FFs'), isOpen: true });
  assert.equal(verdict.kind === 'holds' && verdict.since, 2 * 60_000);
});

test('the kind of a failure changes with the class of its exit code and with its reason', () => {
  const signature = (exitCode: number | undefined, reason?: string) => failureSignature({ exitCode, reason });
  assert.equal(signature(1), signature(2));
  assert.equal(new Set([1, 126, 137, 143, 139, undefined].map((code) => signature(code))).size, 6);
  assert.notEqual(signature(137), signature(137, 'OOMKilled'));
});

test('what so many of the last runs opened says how many failed up to the newest failure', () => {
  const ofLast = { ...rule, failureThreshold: 9, recoveryThreshold: 2, failuresOfLast: { failures: 3, runs: 5 } };
  const shareIn = (text: string, isOpen: boolean, of: JobFailedRule = ofLast): unknown => {
    const verdict = jobFailed(of, { runs: runs(text), isOpen });
    if (verdict.kind !== 'holds') return verdict.kind;
    return [verdict.detail['failedOfLast'], verdict.detail['ofLast']];
  };
  assert.deepEqual(shareIn('FsFsFF', false), [3, 5]);
  assert.deepEqual(shareIn('sFFFs', true), [3, 4], 'it is told of the newest failure, however many succeeded since');
  assert.deepEqual(shareIn('FFFss', false, { ...ofLast, failureThreshold: 3 }), [undefined, undefined]);
});
