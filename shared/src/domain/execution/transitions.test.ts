import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFailedJob, aJob } from '../../testing/index.ts';
import { isOver, nextSnapshot, type JobSnapshot } from './to-execution.ts';

const running: JobSnapshot = { job: aJob(), gone: undefined };
const later: JobSnapshot = { job: aJob({ readyPods: 1 }), gone: undefined };
const failed: JobSnapshot = { job: aFailedJob(), gone: undefined };
const goneSeen = (job = aJob()): JobSnapshot => ({ job, gone: { at: 5, seen: true } });
const goneUnseen = (job = aJob()): JobSnapshot => ({ job, gone: { at: 9, seen: false } });

const decided = { jobReason: 'BackoffLimitExceeded', decidedAt: 3 } as const;
const failing = aJob({ ...decided, decidedAs: 'failed' });
const failedThen = aJob({ ...decided, outcome: 'failed', endedAt: 3 });
const succeeding = aJob({ ...decided, decidedAs: 'success' });
const succeededThen = aJob({ ...decided, outcome: 'success', endedAt: 3 });

/** [title, known, arrived, kept] */
const rows: [string, JobSnapshot | undefined, JobSnapshot, JobSnapshot][] = [
  ['the first one is kept', undefined, running, running],
  ['the newest of two unfinished ones is kept', running, later, later],
  ['an end replaces an unfinished one', running, failed, failed],
  ['a late unfinished one does not undo an end', failed, later, failed],
  [
    'of two ends the newest is kept',
    failed,
    { ...failed, job: aFailedJob({ failedPods: 2 }) },
    { ...failed, job: aFailedJob({ failedPods: 2 }) },
  ],
  ['a departure is added to an end', failed, goneSeen(aFailedJob()), goneSeen(aFailedJob())],
  ['a departure noticed by a list keeps the end known before', failed, goneUnseen(), goneUnseen(aFailedJob())],
  ['a departed Job does not come back', goneSeen(), later, goneSeen()],
  ['an end that arrives after the departure is kept', goneUnseen(), failed, goneUnseen(aFailedJob())],
  ['a departure that was seen is not weakened', goneSeen(), goneUnseen(), goneSeen()],
  ['a departure that was noticed is strengthened', goneUnseen(), goneSeen(), goneSeen()],
  [
    'while its pods end, what is decided is no end',
    running,
    { job: failing, gone: undefined },
    { job: failing, gone: undefined },
  ],
  [
    'deleted while its pods end, it failed as was decided',
    { job: failing, gone: undefined },
    goneSeen(failing),
    goneSeen(failedThen),
  ],
  [
    'that holds where a list noticed that it is gone',
    { job: failing, gone: undefined },
    goneUnseen(failing),
    goneUnseen(failedThen),
  ],
  ['and where nothing was known of it before', undefined, goneSeen(failing), goneSeen(failedThen)],
  [
    'what had met its criteria succeeded',
    { job: succeeding, gone: undefined },
    goneSeen(succeeding),
    goneSeen(succeededThen),
  ],
  [
    'another UID is another Job',
    failed,
    { job: aJob({ uid: 'other' }), gone: undefined },
    { job: aJob({ uid: 'other' }), gone: undefined },
  ],
];

for (const [title, known, arrived, kept] of rows) {
  test(`snapshots: ${title}`, () => {
    assert.deepEqual(nextSnapshot(known, arrived), kept);
  });
}

test('a Job is over when it ended or is gone', () => {
  assert.equal(isOver(running), false);
  assert.equal(isOver(failed), true);
  assert.equal(isOver(goneSeen()), true);
});
