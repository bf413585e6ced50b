import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  FencedError,
  findExecution,
  listActiveJobs,
  listCronJobsById,
  listIncompleteRuns,
  listSlotClaims,
  putActiveJobs,
  recordRuns,
  takeEpoch,
  updateExecutionEvidence,
  type ActiveJob,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

export const activeJobs = contract('active Jobs', (test) => {
  const active = (cronJob: { uid: string }, changes: Partial<ActiveJob> = {}): ActiveJob => ({
    ...anActiveJob(cronJob.uid, { createdAt: now, waitingReason: undefined }),
    waitingMessage: undefined,
    hopelessSinceAt: undefined,
    ...changes,
  });

  test('are counted on their CronJob as they come and go', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [a, b] = [active(cronJob), active(cronJob, { createdAt: now + 1, jobName: 'job-2' })];
    const running = (): Promise<number> =>
      readNumber(store, 'select running as n from cronjobs where id = ?', [cronJob.id]);
    const early = active({ uid: randomUUID() });
    const leftOut = await store.fenced(epoch, (tx) => putActiveJobs(tx, [b, a, early]));
    assert.deepEqual(leftOut, [early.jobUid], 'its CronJob has no row yet');
    assert.equal(await running(), 2);
    const waits = { waitingReason: 'ErrImageNeverPull', waitingMessage: 'not on the node', hopelessSinceAt: now + 2 };
    const runs = { startedAt: now + 5, podName: 'pod', podPhase: 'Running', ready: '1/1', finishing: true };
    const moved = { ...a, ...runs, ...waits };
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [moved]));
    assert.deepEqual(await listActiveJobs(store, [cronJob.id]), [
      { ...moved, cronJobId: cronJob.id },
      { ...b, cronJobId: cronJob.id },
    ]);
    await recordRuns(store, epoch, [aRun(cronJob, { jobUid: a.jobUid })]);
    assert.equal(await running(), 1);
    await recordRuns(store, epoch, [aRun(cronJob, { jobUid: b.jobUid })]);
    assert.equal(await running(), 0);
  });

  test('that wait in vain make their CronJob failing, until none does', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const told = async (): Promise<unknown[]> => {
      const [item] = await listCronJobsById(store, [cronJob.id]);
      const [row] = await readRows(store, 'select waiting from cronjobs where id = ?', [cronJob.id]);
      const text = row?.['waiting'] as string | null; // the column holds JSON
      const waiting = text === null ? {} : (JSON.parse(text) as Record<string, unknown>);
      return [item?.state, waiting['jobName'], waiting['reason'], waiting['sinceAt']];
    };
    const wait = { waitingReason: 'InvalidImageName', waitingMessage: 'no such name', hopelessSinceAt: now + 2 };
    const [a, b] = [
      active(cronJob, { ...wait, jobName: 'a' }),
      active(cronJob, { ...wait, jobName: 'b', hopelessSinceAt: now + 1 }),
    ];
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [a, b]));
    assert.deepEqual(await told(), ['failing', 'b', 'InvalidImageName', now + 1]);
    await recordRuns(store, epoch, [aRun(cronJob, { jobUid: b.jobUid, status: 'success' })]);
    assert.deepEqual(await told(), ['failing', 'a', 'InvalidImageName', now + 2]);
    await recordRuns(store, epoch, [aRun(cronJob, { jobUid: a.jobUid, status: 'success' })]);
    assert.deepEqual((await told()).slice(1), [undefined, undefined, undefined]);
  });

  test('do not come back once their end is recorded', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob);
    await recordRuns(store, epoch, [run]);
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [active(cronJob, { jobUid: run.jobUid })]));
    assert.deepEqual(await listActiveJobs(store, [cronJob.id]), []);
  });

  test('and recorded ones own slots', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob);
    const running = active(cronJob, { scheduledAt: now + minuteMs, createdAt: now + minuteMs, podPhase: 'Odd' });
    await recordRuns(store, epoch, [run]);
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [running]));
    const slot = (slotAt: number): { cronJobUid: string; slotAt: number } => ({ cronJobUid: cronJob.uid, slotAt });
    const claims = await listSlotClaims(store, [
      slot(now),
      slot(now + minuteMs),
      slot(now + 2 * minuteMs),
      { cronJobUid: 'x', slotAt: now },
    ]);
    assert.deepEqual(claims, [
      { cronJobUid: cronJob.uid, jobUid: run.jobUid, jobName: run.jobName, slotAt: now, createdAt: now },
      {
        cronJobUid: cronJob.uid,
        jobUid: running.jobUid,
        jobName: 'job-1',
        slotAt: now + minuteMs,
        createdAt: now + minuteMs,
      },
    ]);
    assert.equal((await listActiveJobs(store))[0]?.podPhase, 'Unknown');
  });
});

export const lateFacts = contract('what is learned after a run was recorded', (test) => {
  test('fills what is missing and changes nothing else', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { status: 'failed', node: undefined });
    await recordRuns(store, epoch, [run]);
    assert.equal(
      await updateExecutionEvidence(store, epoch, run.jobUid, {
        exitCode: 137,
        reason: 'OOMKilled',
        attempts: 3,
        node: 'node-9',
      }),
      true,
    );
    assert.equal(
      await updateExecutionEvidence(store, epoch, run.jobUid, {
        exitCode: 1,
        reason: 'Error',
        attempts: 2,
        node: 'node-8',
      }),
      false,
    );
    const kept = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.partialDeepStrictEqual(kept, { exitCode: 137, reason: 'OOMKilled', attempts: 3, node: 'node-9' });
    const [shown] = await readRows(store, 'select last_run from cronjobs where id = ?', [cronJob.id]);
    const { exitCode, reason } = JSON.parse(String(shown?.['last_run'])) as Record<string, unknown>;
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled']);
  });

  test('takes the place of the reason of the Job, which stands in for it', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { status: 'failed', reason: 'BackoffLimitExceeded', jobReason: 'BackoffLimitExceeded' });
    await recordRuns(store, epoch, [run]);
    await updateExecutionEvidence(store, epoch, run.jobUid, { reason: 'Error' });
    await updateExecutionEvidence(store, epoch, run.jobUid, { reason: 'ContainerCannotRun' });
    const kept = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.equal(kept?.reason, 'Error');
  });

  test('that memory ran out takes the place of Error alone, which a kubelet may write before it knows', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const runs = ['Error', 'Evicted'].map((reason, at) =>
      aRun(cronJob, { status: 'failed', exitCode: 137, reason, createdAt: now + at * minuteMs }),
    );
    await recordRuns(store, epoch, runs);
    const told = (reason: string) => runs.map(({ jobUid }) => ({ jobUid, reason }));
    assert.deepEqual([...(await listIncompleteRuns(store, told('Error')))], []);
    assert.deepEqual([...(await listIncompleteRuns(store, told('OOMKilled')))], [runs[0]?.jobUid]);
    const reasons: unknown[] = [];
    for (const { jobUid, jobName } of runs) {
      await updateExecutionEvidence(store, epoch, jobUid, { exitCode: 137, reason: 'OOMKilled' });
      reasons.push((await findExecution(store, { cronJobIds: [cronJob.id], jobName }))?.reason);
    }
    assert.deepEqual(reasons, ['OOMKilled', 'Evicted']);
  });

  test('of an unknown run is nothing', async ({ store, epoch }) => {
    assert.equal(await updateExecutionEvidence(store, epoch, randomUUID(), { exitCode: 1 }), false);
  });

  test('is written by the leader alone', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { status: 'failed' });
    await recordRuns(store, epoch, [run]);
    const next = await takeEpoch(store, 'next');
    await assert.rejects(updateExecutionEvidence(store, epoch, run.jobUid, { exitCode: 1 }), FencedError);
    assert.equal(await updateExecutionEvidence(store, next, run.jobUid, { exitCode: 1 }), true);
  });
});
