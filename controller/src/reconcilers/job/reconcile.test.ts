import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobFacts } from '@cronjob-monitor/shared/domain';
import { aCronJob, aFailedJob, aJob } from '@cronjob-monitor/shared/testing';
import { conclude, mayBeRerun, type ConclusionContext } from './reconcile.ts';
import type { GatheredJob } from './gather.ts';

const context: ConclusionContext = {
  now: 10_000_000,
  watchingSinceAt: 0,
  judgedSinceAt: 0,
  recordedClaims: [],
  inMaintenance: () => false,
};
const gathered = (job: JobFacts, more: Partial<GatheredJob> = {}): GatheredJob => ({
  snapshot: { job, gone: undefined },
  held: undefined,
  pods: [],
  cronJob: aCronJob(),
  siblings: [],
  monitored: true,
  ...more,
});
const running = aJob({ outcome: undefined, endedAt: undefined });
const recordOf = (job: GatheredJob, more: Partial<ConclusionContext> = {}) => {
  const conclusion = conclude(job, { ...context, ...more });
  assert.equal(conclusion.kind, 'ended');
  return conclusion.kind === 'ended' ? conclusion.execution : undefined;
};

test('a Job without a terminal condition goes on, whatever its pods did', () => {
  assert.equal(conclude(gathered({ ...running, failedPods: 3 }), context).kind, 'running');
});

test('a Job that failed is a run that failed', () => {
  assert.equal(recordOf(gathered(aFailedJob()))?.status, 'failed');
});

test('a Job that was deleted before it ended is a run that was deleted', () => {
  const snapshot = { job: running, gone: { at: 5_000, seen: true } };
  assert.equal(recordOf(gathered(running, { snapshot }))?.status, 'deleted');
});

test('a Job that went during a gap of the watch is a run that was not seen', () => {
  const snapshot = { job: running, gone: { at: 5_000, seen: false } };
  assert.equal(recordOf(gathered(running, { snapshot }))?.status, 'unobserved');
});

test('under Replace it is waited for the Job that may have replaced it', () => {
  const at = 9_999_000;
  const snapshot = { job: { ...running, slotAt: 60_000 }, gone: { at, seen: true } };
  const job = gathered(running, { snapshot, cronJob: aCronJob({ policy: 'Replace' }) });
  assert.deepEqual(conclude(job, context), { kind: 'undecided', untilAt: at + 60_000 });
  const newer = aJob({ uid: 'newer', slotAt: 120_000, createdAt: at });
  assert.equal(recordOf({ ...job, siblings: [newer] })?.status, 'replaced');
});

test('a run that ended before we watched is late news only if its CronJob was known then', () => {
  const job = gathered(aFailedJob());
  const endedAt = job.snapshot.job.endedAt ?? 0;
  assert.equal(recordOf(job, { watchingSinceAt: endedAt + 1, judgedSinceAt: endedAt - 1 })?.delayed, true);
  assert.equal(
    recordOf(job, { watchingSinceAt: endedAt + 1, judgedSinceAt: undefined })?.delayed,
    false,
    'first sight',
  );
  assert.equal(recordOf(job, { watchingSinceAt: endedAt - 1, judgedSinceAt: 0 })?.delayed, false, 'seen as it ended');
});

test('a copy of a Job whose slot another owns is a rerun, also when the other one is recorded alone', () => {
  const job = aJob({
    uid: 'copy',
    name: 'copy-of-it',
    cronJobName: 'etl',
    slotAt: 60_000,
    createdAt: 900_000,
    outcome: 'success',
    endedAt: 901_000,
  });
  assert.equal(mayBeRerun(gathered(job)), true);
  const original = { jobUid: 'first', jobName: 'etl-1', slotAt: 60_000, createdAt: 60_000 };
  assert.equal(recordOf(gathered(job), { recordedClaims: [original] })?.trigger, 'rerun');
});

test('a Job with the canonical name of its slot needs no question to the store', () => {
  assert.equal(mayBeRerun(gathered(aJob({ name: 'etl-1', cronJobName: 'etl', slotAt: 60_000 }))), false);
});

test('a run due in a window that leaves it out of the SLA says so', () => {
  assert.equal(recordOf(gathered(aFailedJob()), { inMaintenance: () => true })?.inMaintenance, true);
});
