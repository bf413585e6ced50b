import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertTypes, alertTypeTable, type AlertSubject, type AlertType } from '../../contract/index.ts';
import { holds, type Figures } from '../detect/verdict.ts';
import { keepKnown, withEvidence, withoutAbsent } from './alert-context.ts';
import { toHolding, type AlertSurroundings } from './to-holding.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const at = (time: string): number => Date.parse(`2026-11-${time}Z`);

interface Row {
  readonly type: AlertType;
  readonly subject?: AlertSubject;
  readonly reason?: string;
  readonly count?: number;
  readonly figures?: Partial<Figures>;
  readonly detail?: Record<string, unknown>;
  readonly around?: Partial<AlertSurroundings>;
  readonly says: string;
}

const rows: Row[] = [
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 137, reason: 'OOMKilled' },
    count: 3,
    around: { run: { jobUid: 'u1', jobName: 'nightly-1', attempts: 7 } },
    says: 'Run nightly-1 failed after 7 attempts with exit code 137 (OOMKilled). It is the 3rd failure in a row.',
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 1, reason: 'Error', failedOfLast: 3, ofLast: 10 },
    says: 'Run nightly-1 failed with exit code 1 (Error). With it 3 of the last 10 runs had failed.',
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 1, reason: 'Error', jobReason: 'FailedIndexes' },
    around: { run: { jobUid: 'u1', jobName: 'nightly-1', attempts: 3 } },
    says: 'Run nightly-1 failed with exit code 1 (Error).',
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 1, reason: 'Error', jobReason: 'FailedIndexes', failedIndexes: '0,2-3' },
    says: 'Run nightly-1 failed with exit code 1 (Error). Its indexes 0,2-3 failed.',
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 1, failedIndexes: '0,2,4,6,8,10,12,14,16,18,20,'.repeat(20) },
    says: `Run nightly-1 failed with exit code 1. Its indexes ${'0,2,4,6,8,10,12,14,16,18,20,'.repeat(20).slice(0, 99)}… failed.`,
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', exitCode: 42, reason: 'Error', policyRule: 'FailJob rule at index 1' },
    says: 'Run nightly-1 failed with exit code 42 (Error). Its podFailurePolicy ended it, by the FailJob rule at index 1.',
  },
  {
    type: 'jobFailed',
    detail: { jobName: 'nightly-1', reason: 'DeadlineExceeded', successesInRow: 1 },
    says: 'Run nightly-1 failed: DeadlineExceeded. Since then 1 run succeeded, which alone does not end it.',
  },
  { type: 'jobFailed', detail: { jobName: 'nightly-1' }, says: 'Run nightly-1 failed.' },
  {
    type: 'missedSchedule',
    reason: 'missed',
    detail: { firstSlotAt: at('21T01:00:00'), lastSlotAt: at('21T01:00:00'), cause: 'deadlinePassed' },
    around: { timeZone: 'Europe/Berlin' },
    says: 'The run expected at 2026-11-21 02:00 Europe/Berlin did not start: its starting deadline passed before its Job was created.',
  },
  {
    type: 'missedSchedule',
    reason: 'missed',
    detail: { lastSlotAt: at('21T01:00:00'), cause: 'createRejected', refusal: 'exceeded quota: jobs.' },
    says: 'The run expected at 2026-11-21 01:00 UTC did not start: the cluster refused to create its Job. The cluster says: exceeded quota: jobs.',
  },
  {
    type: 'missedSchedule',
    reason: 'missed',
    count: 3,
    detail: { firstSlotAt: at('20T23:00:00'), lastSlotAt: at('21T01:00:00'), cause: 'constructor' },
    says: 'The run expected at 2026-11-21 01:00 UTC did not start. 3 runs in a row are missing, the first of 2026-11-20 23:00 UTC.',
  },
  {
    type: 'missedSchedule',
    reason: 'skipped',
    count: 4,
    detail: { firstSlotAt: at('21T00:00:00'), lastSlotAt: at('21T03:00:00') },
    says: '4 runs in a row were skipped since 2026-11-21 00:00 UTC. The run before was still going on each time: the job takes longer than its period.',
  },
  {
    type: 'deadManTriggered',
    figures: { measured: 26 * hour, limit: 25 * hour, unit: 'seconds' },
    detail: { lastSuccessAt: at('20T01:00:00'), countsFromAt: at('20T01:00:00') },
    says: 'No run has succeeded since 2026-11-20 01:00 UTC, 26 h ago. The limit is 25 h.',
  },
  {
    type: 'deadManTriggered',
    figures: { measured: hour, limit: hour, unit: 'seconds' },
    detail: { lastSuccessAt: at('01T01:00:00'), countsFromAt: at('20T01:00:00') },
    says: 'No run has succeeded since the CronJob was resumed at 2026-11-20 01:00 UTC, 1 h ago. The limit is 1 h.',
  },
  {
    type: 'slaBreached',
    subject: 'successRate',
    reason: 'rateBelowMinimum',
    figures: { measured: 91.38, limit: 95, unit: 'percent' },
    detail: { success: 53, runs: 58, windowDays: 7 },
    says: '53 of 58 runs of the last 7 days succeeded, 91.3 %. The minimum is 95 %.',
  },
  {
    type: 'slaBreached',
    subject: 'successRate',
    reason: 'recovering',
    figures: { measured: 95.5, limit: 95, unit: 'percent' },
    detail: { success: 191, runs: 200, windowDays: 1 },
    says: '191 of 200 runs of the last day succeeded, 95.5 %. The minimum is 95 %. It recovers, but has to stay well for a while.',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'tookTooLong',
    figures: { measured: 52 * minute, limit: 45 * minute, unit: 'seconds' },
    detail: { jobName: 'nightly-1' },
    says: 'Run nightly-1 took 52 min. The maximum is 45 min.',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'tookTooLong',
    figures: { measured: 410, limit: 390, unit: 'seconds' },
    detail: { jobName: 'nightly-1' },
    says: 'Run nightly-1 took 6 min 50 s. The maximum is 6 min 30 s.',
  },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    reason: 'runningTooLong',
    count: 2,
    figures: { measured: 52 * minute, limit: 45 * minute, unit: 'seconds' },
    detail: { jobName: 'nightly-1', running: ['nightly-1', 'nightly-2'] },
    says: 'Run nightly-1 has been running for 52 min. The maximum is 45 min. 2 runs are over it.',
  },
  {
    type: 'slaBreached',
    subject: 'minDuration',
    figures: { measured: 3, limit: 2 * minute, unit: 'seconds' },
    detail: { jobName: 'nightly-1' },
    says: 'Run nightly-1 succeeded after only 3 s. The minimum is 2 min.',
  },
  {
    type: 'slaBreached',
    subject: 'finishBy',
    figures: { measured: 100, unit: 'seconds' },
    detail: { time: '06:00', timeZone: 'Europe/Zurich' },
    says: 'No run that was due before 06:00 Europe/Zurich had succeeded by then.',
  },
  {
    type: 'slaBreached',
    subject: 'output',
    figures: { measured: 0, limit: 1 },
    detail: {
      jobName: 'nightly-1',
      broken: [
        { fact: 'rows', value: 0, limit: 1, by: 'minimum' },
        { fact: 'bytes', by: 'missing' },
        { fact: 'files', value: 1234.5, limit: 5_000, by: 'drop' },
        { fact: 'duration_seconds', value: 400, limit: 300, by: 'maximum' },
      ],
    },
    says:
      'Run nightly-1 succeeded with rows 0 (minimum 1), bytes missing, files 1,234.5 (minimum 5,000 by the runs before), ' +
      'duration_seconds 6 min (maximum 5 min).',
  },
  {
    type: 'durationRegression',
    figures: { measured: 12 * minute, limit: 10 * minute, unit: 'seconds' },
    detail: { baseline: { runs: 20, p25: 1, p75: 2, p95: 400_000 }, risePercent: 80.4 },
    says: 'The 95th percentile of recent durations is 12 min, 80 % more than the 6 min of the runs before. The limit is 10 min.',
  },
  {
    type: 'durationRegression',
    figures: { measured: 9 * minute, limit: 7.5 * minute, unit: 'seconds' },
    detail: { baseline: { runs: 20, p25: 1, p75: 2, p95: 298_800 }, risePercent: 80.4 },
    says: 'The 95th percentile of recent durations is 9 min, 80 % more than the 5 min of the runs before. The limit is 7 min 30 s.',
  },
  {
    type: 'jobSuspended',
    figures: { measured: 8 * day, limit: 7 * day, unit: 'seconds' },
    detail: { suspendedSinceAt: at('13T00:00:00') },
    says: 'The CronJob has been suspended since 2026-11-13 00:00 UTC, for 8 d. The limit is 7 d.',
  },
  {
    type: 'jobStuck',
    subject: 'notStarted',
    figures: { measured: 14 * minute, limit: 10 * minute, unit: 'seconds' },
    detail: { jobName: 'nightly-1', reason: 'ImagePullBackOff', jobs: ['nightly-1'] },
    says: 'Job nightly-1 has waited 14 min for its first container: ImagePullBackOff. The limit is 10 min.',
  },
  {
    type: 'jobStuck',
    subject: 'notStarted',
    figures: { measured: 2 * minute, limit: 60, unit: 'seconds' },
    detail: {
      jobName: 'nightly-1',
      reason: 'FailedCreate',
      refusal: 'Error creating: pods "nightly-1-x7k2p" is forbidden: exceeded quota: compute.',
      jobs: ['nightly-1'],
    },
    says:
      'Job nightly-1 has waited 2 min for its first container: FailedCreate. The cluster says: Error creating: pods ' +
      '"nightly-1-x7k2p" is forbidden: exceeded quota: compute. The limit is 1 min.',
  },
  {
    type: 'jobStuck',
    subject: 'overrunning',
    count: 2,
    figures: { measured: 13 * hour, limit: 12 * hour, unit: 'seconds' },
    detail: { jobName: 'nightly-1', jobs: ['nightly-1', 'nightly-2'] },
    says: 'Job nightly-1 has been running for 13 h. The limit is 12 h. 2 Jobs are in this state: nightly-1, nightly-2.',
  },
  {
    type: 'jobStuck',
    subject: 'overrunning',
    figures: { measured: 6, limit: 6, unit: 'seconds' },
    detail: { jobName: 'nightly-1', neverRan: true, jobs: ['nightly-1'] },
    says: 'Job nightly-1 has not started for 6 s. The limit is 6 s.',
  },
  {
    type: 'jobStuck',
    subject: 'terminating',
    figures: { measured: 12 * minute, limit: 10 * minute, unit: 'seconds' },
    detail: { jobName: 'nightly-1', jobs: ['nightly-1'] },
    says: 'Job nightly-1 is still there 12 min after its end was decided. The limit is 10 min.',
  },
  {
    type: 'absent',
    subject: 'neverSucceeded',
    figures: { measured: 26 * hour, limit: 25 * hour, unit: 'seconds' },
    detail: { firstSlotAt: at('20T01:00:00'), failedRuns: 1, runningRuns: 0 },
    says: 'No run has succeeded since the first was due, 26 h ago: 1 failed, 0 are running.',
  },
  {
    type: 'absent',
    subject: 'neverSucceeded',
    figures: { measured: 26 * hour, limit: 25 * hour, unit: 'seconds' },
    detail: { firstSlotAt: at('20T01:00:00'), failedRuns: 0, stoppedRuns: 4, runningRuns: 1 },
    says: 'No run has succeeded since the first was due, 26 h ago: 0 failed, 4 were replaced or deleted, 1 is running.',
  },
  {
    type: 'absent',
    subject: 'neverSucceeded',
    figures: { measured: 26 * hour, limit: 25 * hour, unit: 'seconds' },
    detail: { firstSlotAt: at('20T01:00:00'), failedRuns: 0, runningRuns: 1 },
    says: 'No run has succeeded since the first was due, 26 h ago: 0 failed, 1 is running.',
  },
  {
    type: 'absent',
    subject: 'disappeared',
    detail: {
      absence: {
        cause: 'deleted',
        deletedFromAt: at('20T01:00:00'),
        deletedUntilAt: at('20T01:00:00'),
        lastWriter: { manager: 'helm', operation: 'Update', at: at('13T00:00:00'), managedBy: 'release backups' },
      },
    },
    says: 'The CronJob was deleted 2026-11-20 01:00 UTC. It was last written by helm (release backups) on 2026-11-13. The cluster does not record who deleted it.',
  },
  {
    type: 'absent',
    subject: 'disappeared',
    detail: { absence: { cause: 'deleted', deletedFromAt: at('20T01:00:00'), deletedUntilAt: at('20T03:00:00') } },
    says: 'The CronJob was deleted between 2026-11-20 01:00 and 2026-11-20 03:00 UTC. The cluster does not record who deleted it.',
  },
  {
    type: 'absent',
    subject: 'disappeared',
    detail: { absence: { cause: 'deselected', lastWriter: { manager: 'kubectl-label', at: at('20T01:00:00') } } },
    says: 'The CronJob is there, but the monitor does not select it: its labels or the consent of its namespace do not fit. It was last written by kubectl-label on 2026-11-20.',
  },
  {
    type: 'absent',
    subject: 'disappeared',
    detail: { absence: { cause: 'neverExisted' } },
    says: 'The monitor expects the CronJob, and none of its name was ever seen.',
  },
];

for (const { says, type, subject, around, ...verdict } of rows) {
  test(`says: ${says}`, () => {
    const found = holds({ since: 7, reason: 'x', ...verdict });
    assert.equal(toHolding(type, subject, found, { timeZone: 'UTC', ...around }).message, says);
  });
}

test('every type and subject has a sentence, also when the verdict says nothing else', () => {
  for (const type of alertTypes) {
    const { subjects } = alertTypeTable[type];
    for (const subject of subjects.length === 0 ? [undefined] : subjects) {
      assert.ok(rows.some((row) => row.type === type && row.subject === subject));
      const bare = holds({ since: 0, reason: '', detail: { cause: 5, jobs: 'x', baseline: {} } });
      const { message } = toHolding(type, subject, bare, { timeZone: 'Nowhere/City' });
      assert.match(message, /^[A-Z0-9][^]*\.$/);
      assert.doesNotMatch(message, /undefined|NaN|null/);
    }
  }
});

const failed = holds({
  since: 7,
  reason: 'runFailed',
  figures: { measured: 1, limit: 1, unit: 'runs' },
  detail: { jobName: 'nightly-1', exitCode: 1, reason: 'Error', signature: '1-125/Error', successesInRow: 0 },
});
const run = {
  jobUid: 'u1',
  jobName: 'nightly-1',
  trigger: 'scheduled',
  scheduledAt: 1,
  startedAt: 2,
  finishedAt: 3,
  durationMs: 1,
  exitCode: 1,
  reason: 'Error',
  attempts: 2,
  fix: 'Look at the log.',
  hasLogs: true,
  hasEvents: false,
} as const;

test('an alert keeps its run, its verdict and what the API shows of them, and survives JSON', () => {
  const worded = toHolding('jobFailed', undefined, failed, { timeZone: 'UTC', run });
  assert.deepEqual(JSON.parse(JSON.stringify(worded)), withoutAbsent({ ...worded }));
  assert.equal(worded.signature, '1-125/Error');
  assert.deepEqual(worded.context, {
    jobUid: 'u1',
    jobName: 'nightly-1',
    exitCode: 1,
    reason: 'Error',
    run: { trigger: 'scheduled', scheduledAt: 1, startedAt: 2, finishedAt: 3, durationMs: 1, attempts: 2 },
    suggestedFix: 'Look at the log.',
    hasLogs: true,
    hasEvents: false,
    verdict: { reason: 'runFailed', count: 1, timeZone: 'UTC', detail: failed.detail },
  });
});

test('what the monitor does not want in its alerts is left out', () => {
  const include = { suggestedFixes: false, logs: false, events: false };
  const { context } = toHolding('jobFailed', undefined, failed, { timeZone: 'UTC', run, include });
  assert.deepEqual([context.suggestedFix, context.hasLogs, context.hasEvents], [undefined, undefined, undefined]);
});

test('a verdict asked again keeps what evidence told of the same run, and forgets that of another', () => {
  const first = toHolding('jobFailed', undefined, failed, { timeZone: 'UTC', run: { ...run, fix: undefined } }).context;
  const known = withEvidence(first, { suggestedFix: 'Add memory.', logsUnavailable: 'timeout' });
  const again = keepKnown(known, first) as typeof known;
  assert.deepEqual([again.suggestedFix, again.logsUnavailable], ['Add memory.', 'timeout']);
  const next = { ...first, jobUid: 'u2', jobName: 'nightly-2' };
  assert.deepEqual(keepKnown(known, next), next);
});
