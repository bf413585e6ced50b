import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Execution, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  FencedError,
  findExecution,
  listChanges,
  listExecutions,
  listGridCells,
  listRecentRuns,
  listRecordedJobs,
  projectCronJob,
  recordRuns,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected, seen } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

import { aDay, dayCounts as counts, none } from '../expected.ts';
export const recording = contract('the recording of runs', (test) => {
  test('writes a row once, whatever is repeated', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, {
      status: 'failed',
      exitCode: 137,
      reason: 'OOMKilled',
      jobReason: 'BackoffLimitExceeded',
      attempts: 3,
    });
    assert.deepEqual(await recordRuns(store, epoch, [run]), { ...none, inserted: [run.jobUid] });
    const before = await readRows(store, 'select * from executions where cronjob_id = ?', [cronJob.id]);
    assert.deepEqual(await recordRuns(store, epoch, [run]), { ...none, known: [run.jobUid] });
    assert.deepEqual(await recordRuns(store, epoch, [{ ...run, status: 'success', exitCode: 0 }]), {
      ...none,
      known: [run.jobUid],
    });
    assert.deepEqual(await readRows(store, 'select * from executions where cronjob_id = ?', [cronJob.id]), before);
    assert.deepEqual(await counts(store, cronJob.id), [aDay({ failed: 1 })]);
  });

  test('keeps every field', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, {
      failedIndexes: '1,4-6',
      fault: { cause: 'platform', scope: 'registry ghcr.io' },
      isRetry: true,
      retryOf: 'the-first',
      delayed: true,
      inMaintenance: true,
    });
    await recordRuns(store, epoch, [run]);
    const kept = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.deepEqual(kept, { ...run, hasLogs: false, hasEvents: false, fix: undefined, facts: new Map() });
    const [row] = await readRows(store, 'select flags from executions where cronjob_id = ?', [cronJob.id]);
    assert.deepEqual(row, { flags: 1 + 4 });
  });

  test('keeps a name, a reason and a retry of any form', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const forms: Partial<Execution>[] = [
      { jobName: 'made-by-hand', reason: '#5', jobReason: 'SomethingNew' },
      { jobName: `${cronJob.name}-manual-1795243921`, reason: 'OOMKilled', isRetry: true, retryOf: undefined },
      { jobName: cronJob.name, reason: '', templateHash: undefined },
    ];
    for (const [i, form] of forms.entries()) {
      const run = aRun(cronJob, { createdAt: now + i * minuteMs, status: 'failed', ...form });
      await recordRuns(store, epoch, [run]);
      const kept = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName, uid: run.jobUid });
      assert.deepEqual(kept, { ...run, hasLogs: false, hasEvents: false, fix: undefined, facts: new Map() });
    }
  });

  test('counts each run in the UTC day its Job was created in', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const midnight = now - (now % dayMs);
    const runs = [
      aRun(cronJob, { createdAt: midnight - 1, finishedAt: midnight + minuteMs }),
      aRun(cronJob, { createdAt: midnight, finishedAt: midnight + 10_000 }),
      aRun(cronJob, { createdAt: midnight + minuteMs, finishedAt: midnight + minuteMs + 30_000 }),
      aRun(cronJob, { createdAt: midnight + 2 * minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: midnight + 3 * minuteMs, status: 'replaced' }),
      aRun(cronJob, { createdAt: midnight + 4 * minuteMs, status: 'deleted' }),
      aRun(cronJob, { createdAt: midnight + 5 * minuteMs, trigger: 'manual', scheduledAt: undefined }),
      aRun(cronJob, { createdAt: midnight + 6 * minuteMs, trigger: 'rerun', scheduledAt: undefined, status: 'failed' }),
      aRun(cronJob, { createdAt: midnight + 7 * minuteMs, inMaintenance: true }),
      aRun(cronJob, {
        createdAt: midnight + 8 * minuteMs,
        startedAt: undefined,
        finishedAt: undefined,
        status: 'unobserved',
      }),
    ];
    for (const part of [runs.slice(0, 4), runs.slice(2), runs]) await recordRuns(store, epoch, part);
    assert.deepEqual(await counts(store, cronJob.id), [
      aDay({
        day: Math.floor(now / dayMs) - 1,
        success: 1,
        duration_n: 1,
        duration_sum: minuteMs + 1,
        duration_min: minuteMs + 1,
        duration_max: minuteMs + 1,
      }),
      aDay({
        success: 2,
        failed: 1,
        replaced: 1,
        deleted: 1,
        unobserved: 1,
        manual: 2,
        duration_n: 2,
        duration_sum: 40_000,
        duration_min: 10_000,
        duration_max: 30_000,
      }),
    ]);
  });

  test('moves last run, last success, last failure and oldest run of the CronJob, in any order of arrival', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const runs = [0, 1, 2, 3].map((i) =>
      aRun(cronJob, { createdAt: now + i * minuteMs, status: i % 2 === 0 ? 'success' : 'failed', exitCode: i }),
    );
    for (const i of [2, 0, 3, 1]) await recordRuns(store, epoch, runs.slice(i, i + 1));
    const [row] = await readRows(
      store,
      'select last_run, last_success_at, last_failure_at, oldest_run_at from cronjobs where id = ?',
      [cronJob.id],
    );
    assert.equal(row?.['last_success_at'], now + 3 * minuteMs);
    assert.equal(row['last_failure_at'], now + 4 * minuteMs);
    assert.equal(row['oldest_run_at'], now);
    const lastRun = JSON.parse(String(row['last_run'])) as Record<string, unknown>;
    assert.deepEqual([lastRun['jobUid'], lastRun['status'], lastRun['exitCode']], [runs[3]?.jobUid, 'failed', 3]);
  });

  test('of two runs that were made in one second the same is the last of its CronJob, the first of its list and the newest of its strip', async ({
    store,
    epoch,
  }) => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const cronJob = await projected(store, epoch);
      const runs = [0, 1].map((i) => aRun(cronJob, { createdAt: now, jobName: `twin-${i}` }));
      for (const i of order) await recordRuns(store, epoch, runs.slice(i, i + 1));
      const [row] = await readRows(store, 'select last_run from cronjobs where id = ?', [cronJob.id]);
      const lastRun = JSON.parse(String(row?.['last_run'])) as { readonly jobName: string };
      const [first] = await listExecutions(store, { cronJobIds: [cronJob.id] }, { page: { limit: 1, offset: 0 } });
      assert.ok(first);
      assert.equal(first.jobUid, runs.map(({ jobUid }) => jobUid).toSorted()[0]);
      const recent = await listRecentRuns(store, [cronJob.id], { count: 2, lateAfterMs: minuteMs });
      const window = { from: now, until: now + 1, lateAfterMs: minuteMs };
      const cells = await listGridCells(store, [cronJob.id], window, 2);
      const newest = [lastRun, recent.get(cronJob.id)?.at(-1), cells.get(cronJob.id)?.at(-1)];
      assert.deepEqual(
        newest.map((one) => one?.jobName),
        [first.jobName, first.jobName, first.jobName],
      );
    }
  });

  test('takes a hundred runs of many CronJobs at once, and no more', async ({ store, epoch }) => {
    const cronJobs = await Promise.all(Array.from({ length: 7 }, () => projected(store, epoch)));
    const runs = Array.from({ length: 100 }, (_, i) => {
      const cronJob = cronJobs[i % cronJobs.length];
      assert.ok(cronJob);
      return aRun(cronJob, { createdAt: now - i * minuteMs });
    });
    const result = await recordRuns(store, epoch, runs);
    assert.deepEqual(new Set(result.inserted), new Set(runs.map(({ jobUid }) => jobUid)));
    assert.equal(
      await readNumber(
        store,
        `select sum(success) as n from rollups where cronjob_id in (${cronJobs.map(({ id }) => id).join()})`,
      ),
      100,
    );
    await assert.rejects(recordRuns(store, epoch, [...runs, ...runs]), RangeError);
  });

  test('is done by the leader alone', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob);
    await assert.rejects(recordRuns(store, epoch - 1, [run]), FencedError);
    assert.equal(await readNumber(store, 'select count(*) as n from executions where cronjob_id = ?', [cronJob.id]), 0);
  });

  test('waits for the CronJob of a Job that came first', async ({ store, epoch }) => {
    const { id: _, ...known } = await projected(store, epoch);
    const stranger = { ...known, uid: randomUUID() };
    const [early, good] = [aRun(stranger), aRun(known)];
    assert.deepEqual(await recordRuns(store, epoch, [early, good]), {
      ...none,
      inserted: [good.jobUid],
      orphaned: [early.jobUid],
    });
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...stranger, name: 'late' })));
    assert.deepEqual(await recordRuns(store, epoch, [early]), { ...none, inserted: [early.jobUid] });
  });

  test('keeps the histories of two objects of one name apart', async ({ store, epoch }) => {
    const old = await projected(store, epoch, { name: 'same', namespace: 'prod' });
    const young = await projected(store, epoch, { name: 'same', namespace: 'prod' });
    await recordRuns(store, epoch, [aRun(old), aRun(young), aRun(young, { createdAt: now + minuteMs })]);
    assert.equal(await readNumber(store, 'select count(*) as n from executions where cronjob_id = ?', [old.id]), 1);
    assert.equal(await readNumber(store, 'select count(*) as n from executions where cronjob_id = ?', [young.id]), 2);
  });

  test('makes text from the cluster safe instead of failing on it', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { status: 'failed', reason: `a\0b\ud800c ${'🦊'.repeat(300)}`, node: 'n\0' });
    assert.deepEqual((await recordRuns(store, epoch, [run])).inserted, [run.jobUid]);
    const kept = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.equal(kept?.node, 'n');
    assert.equal(kept.reason, `ab\ufffdc ${'🦊'.repeat(247)}`);
  });

  test('tells each new run to those who listen, its CronJob when that shows something else, and a replay tells nothing', async ({
    store,
    epoch,
    clock,
  }) => {
    clock.offsetMs = now + 2 * minuteMs - Date.now();
    const cronJob = await projected(store, epoch);
    const last = await readNumber(store, 'select max(id) as n from changes');
    const runs = [aRun(cronJob), aRun(cronJob, { createdAt: now + 1 })];
    for (const run of [...runs, ...runs]) await recordRuns(store, epoch, [run]);
    const changes = await listChanges(store, { id: last, limit: 10 });
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['execution', 'cronjob', 'execution'],
    );
    assert.deepEqual(changes[0]?.data, {
      namespace: cronJob.namespace,
      cronJobName: cronJob.name,
      jobName: runs[0]?.jobName,
      status: 'success',
      trigger: 'scheduled',
      durationSeconds: 60,
    });
    assert.partialDeepStrictEqual(changes[1]?.data, { status: 'healthy', runningJobs: 0 });
    clock.offsetMs = 0;
  });

  test('of long ago is told by its CronJob alone', async ({ store, epoch, clock }) => {
    clock.offsetMs = now + dayMs - Date.now();
    const cronJob = await projected(store, epoch);
    const last = await readNumber(store, 'select max(id) as n from changes');
    await recordRuns(
      store,
      epoch,
      Array.from({ length: 50 }, (_, i) => aRun(cronJob, { createdAt: now + i })),
    );
    const changes = await listChanges(store, { id: last, limit: 100 });
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['cronjob'],
    );
    clock.offsetMs = 0;
  });

  test('of one batch by several recorders at once makes one row each', async ({ store, open, epoch }) => {
    const first = await projected(store, epoch);
    const cronJobs = [first, ...(await Promise.all(Array.from({ length: 4 }, () => projected(store, epoch))))];
    const runs = Array.from({ length: 60 }, (_, i) =>
      aRun(cronJobs[i % 5] ?? first, { createdAt: now + i * minuteMs }),
    );
    const other = store.dialect.name === 'sqlite' ? store : open();
    const parts = [runs.slice(0, 40), runs.slice(20), runs.toReversed().slice(0, 50), runs.slice(10, 60)];
    const results = await Promise.all(parts.map((part, i) => recordRuns(i % 2 === 0 ? store : other, epoch, part)));
    assert.equal(results.flatMap(({ inserted }) => inserted).length, 60);
    const ids = cronJobs.map(({ id }) => id).join();
    assert.equal(await readNumber(store, `select count(*) as n from executions where cronjob_id in (${ids})`), 60);
    assert.equal(await readNumber(store, `select sum(success) as n from rollups where cronjob_id in (${ids})`), 60);
  });

  test('knows which Jobs are recorded, however many are asked for', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const runs = [aRun(cronJob, { jobUid: 'a job of no UUID' }), aRun(cronJob, { createdAt: now + minuteMs })];
    const unseen = aRun(cronJob, { createdAt: now + 2 * minuteMs, status: 'unobserved', finishedAt: undefined });
    await recordRuns(store, epoch, [...runs, unseen]);
    const strangers = Array.from({ length: 1_200 }, () => randomUUID());
    const recorded = await listRecordedJobs(store, [...strangers, unseen.jobUid, ...runs.map(({ jobUid }) => jobUid)]);
    assert.deepEqual(new Set(recorded.keys()), new Set(runs.map(({ jobUid }) => jobUid)));
    assert.equal((await listRecordedJobs(store, [])).size, 0);
  });
});
