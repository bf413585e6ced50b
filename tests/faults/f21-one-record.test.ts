import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { StoredExecution } from '@cronjob-monitor/shared/store';
import { createClock } from '@cronjob-monitor/simcluster';
import type { JobShape } from '../cluster/kube-objects.ts';
import { readNumber } from '../store/rows.ts';
import { listStoredRuns, untilAllRecorded, type ReadJob, type Script } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { putCronJob, putJob, runningStatus, setJobStatus, slotNumber, timeText } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

/** Back-offs and graces of minutes pass in seconds. */
const speed = 20;
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };

interface Case {
  readonly shape: JobShape;
  readonly script?: Script;
  readonly says: Partial<StoredExecution>;
}

const cases: Readonly<Record<string, Case>> = {
  'three failed pods, then success': {
    shape: { play: { outcome: 'fail-first:3' }, spec: { backoffLimit: 6 } },
    says: { status: 'success', jobReason: 'CompletionsReached', attempts: 4, exitCode: undefined, reason: undefined },
  },
  'success by a policy while an index hangs': {
    shape: {
      play: { outcome: 'success', 'outcome-of-index.2': 'hang' },
      spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 2 }] } },
    },
    says: { status: 'success', jobReason: 'SuccessPolicy', exitCode: undefined, reason: undefined },
  },
  'one index of three fails': {
    shape: {
      play: { outcome: 'success', 'outcome-of-index.1': 'exit:7' },
      spec: { ...indexed, backoffLimitPerIndex: 0, backoffLimit: undefined },
    },
    script: { exitCodes: [7], reasons: ['Error'] },
    says: { status: 'failed', jobReason: 'FailedIndexes', failedIndexes: '1', attempts: 3 },
  },
};

/** F21: what looks like an end and is none. Each Job has one record, with the outcome and the end of its terminal condition. */
describe('F21, one record for each Job', () => {
  const clock = createClock(Date.now());
  clock.follow(speed);
  const bench = benchOfSuite({ clock });
  let over = 0;

  for (const [number, [title, { shape, script = {}, says }]] of Object.entries(cases).entries()) {
    test(title, async () => {
      const { sim, reader, store } = bench();
      const owner = putCronJob(sim, `case-${number}`);
      const job = putJob(sim, owner, { slotAt: slotNumber(0), ...shape });
      const scriptOf = ({ cronJob }: ReadJob): Script => (cronJob === owner.metadata.name ? script : {});
      await untilAllRecorded(reader, store, { over: ++over, scriptOf, withinMs: 40_000 });
      const row = (await listStoredRuns(store)).find(({ jobUid }) => jobUid === job.metadata.uid);
      for (const [field, value] of Object.entries(says)) assert.equal(row?.[field as keyof typeof row], value, field);
    });
  }

  test('a failure that was decided 30 s before its pods were gone', async () => {
    const { sim, reader, store } = bench();
    const owner = putCronJob(sim, 'decided');
    const startedAt = clock.now();
    // The cluster's own controller leaves it alone.
    const spec = { managedBy: 'example.com/test' };
    const job = putJob(sim, owner, { slotAt: slotNumber(0), spec, status: runningStatus(startedAt) });
    const condition = (type: string, at: number): object => ({
      type,
      status: 'True',
      reason: 'DeadlineExceeded',
      message: 'Job was active longer than specified deadline',
      lastTransitionTime: timeText(at),
    });
    const decidedAt = startedAt + 60_000;
    const target = condition('FailureTarget', decidedAt);
    setJobStatus(sim, job.metadata.name, { ...runningStatus(startedAt), terminating: 1, conditions: [target] });
    await until(
      'it is shown as finishing',
      async () => (await readNumber(store, 'select sum(finishing) as n from active_jobs')) === 1,
    );
    await wait(30_000 / speed);
    assert.deepEqual(
      (await listStoredRuns(store)).filter(({ jobUid }) => jobUid === job.metadata.uid),
      [],
    );

    const endedAt = decidedAt + 30_000;
    const ended = [target, condition('Failed', endedAt)];
    setJobStatus(sim, job.metadata.name, { startTime: timeText(startedAt), failed: 1, conditions: ended });
    await until('it is recorded', async () => (await listStoredRuns(store)).length === over + 1);
    over++;
    const row = (await listStoredRuns(store)).find(({ jobUid }) => jobUid === job.metadata.uid);
    assert.equal(row?.status, 'failed');
    assert.equal(row.jobReason, 'DeadlineExceeded');
    assert.equal(row.finishedAt, Math.floor(endedAt / 1000) * 1000);
    assert.equal(row.durationMs, Math.floor(endedAt / 1000) * 1000 - Math.floor(startedAt / 1000) * 1000);
    await until('the reader agrees', () => reader.jobs().filter(({ end }) => end).length === over);
  });
});
