import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  countExecutions,
  findExecution,
  findOldestExecution,
  listCronJobsById,
  listExecutions,
  listLastFailures,
  listRecentRuns,
  measureStorage,
  readHistories,
  recordRuns,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { contract } from '../suite.ts';
import { dayMs, minuteMs } from '@cronjob-monitor/shared/domain';

const lateAfterMs = 60_000;
const agesOf = (runs: readonly StoredExecution[]): number[] =>
  runs.map(({ createdAt }) => (now - createdAt) / minuteMs);

export const runHistory = contract('the history of runs', (test) => {
  test('gives every run once when the list is read in parts, in each order', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'parts' });
    const statuses = ['success', 'failed', 'deleted'] as const;
    const runs = Array.from({ length: 24 }, (_, index) => {
      const createdAt = now - Math.floor(index / 3) * minuteMs; // three at a time
      const status = statuses[index % 3] ?? 'success';
      const isOver = status !== 'deleted';
      return aRun(cronJob, {
        status,
        createdAt,
        jobName: `parts-${index}`,
        trigger: 'manual',
        scheduledAt: undefined,
        startedAt: isOver ? createdAt : undefined,
        finishedAt: createdAt + (index % 4) * 1_000,
        durationMs: isOver ? (index % 4) * 1_000 : undefined,
      });
    });
    await recordRuns(store, epoch, runs);
    for (const key of ['time', 'duration', 'status'] as const) {
      for (const descending of [false, true]) {
        const sort = { key, descending };
        const filter = { cronJobIds: [cronJob.id] };
        const whole = await listExecutions(store, filter, { sort, page: { limit: 100, offset: 0 } });
        const parts: StoredExecution[] = [];
        for (let last: StoredExecution | undefined; ; last = parts.at(-1)) {
          const part = await listExecutions(store, filter, { sort, page: { limit: 5, offset: 0 }, after: last });
          parts.push(...part);
          if (part.length < 5) break;
        }
        const uidsOf = (list: readonly StoredExecution[]) => list.map(({ jobUid }) => jobUid);
        assert.equal(whole.length, 24);
        assert.deepEqual(uidsOf(parts), uidsOf(whole), `${key} ${descending ? 'falling' : 'rising'}`);
      }
    }
  });

  test('is read whole for a preview, from an instant on, with the success before it', async ({ store, epoch }) => {
    const first = await projected(store, epoch, { name: 'first' });
    const second = await projected(store, epoch, { name: 'second' });
    const none = await projected(store, epoch, { name: 'none' });
    const failed = { status: 'failed', exitCode: 3, reason: 'Error' } as const;
    await recordRuns(store, epoch, [
      aRun(first, { createdAt: now - 3 * dayMs }),
      aRun(first, { createdAt: now - dayMs, ...failed }),
      aRun(first, { createdAt: now }),
      aRun(second, { createdAt: now }),
    ]);
    const ids = [first.id, second.id, none.id];
    const { of, isWhole } = await readHistories(store, ids, { from: now - 2 * dayMs, mostRows: 10 });
    assert.equal(isWhole, true);
    assert.deepEqual([...of.keys()], [first.id, second.id]);
    const history = of.get(first.id);
    assert.equal(history?.lastSuccessBeforeAt, now - 3 * dayMs + minuteMs);
    assert.deepEqual(
      history.runs.map(({ createdAt, status, exitCode, trigger }) => [createdAt, status, exitCode, trigger]),
      [
        [now - dayMs, 'failed', 3, 'scheduled'],
        [now, 'success', undefined, 'scheduled'],
      ],
    );
    assert.equal((await readHistories(store, ids, { from: now - 2 * dayMs, mostRows: 2 })).isWhole, false);
  });

  test('finds a page that begins far on, in each order', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'far' });
    const runs = Array.from({ length: 160 }, (_, index) =>
      aRun(cronJob, {
        createdAt: now - Math.floor(index / 2) * minuteMs,
        jobName: `far-${index}`,
        trigger: 'manual',
        scheduledAt: undefined,
        durationMs: (index % 7) * 1_000,
      }),
    );
    for (let start = 0; start < runs.length; start += 80) await recordRuns(store, epoch, runs.slice(start, start + 80));
    const filter = { cronJobIds: [cronJob.id] };
    for (const key of ['time', 'duration', 'status'] as const) {
      for (const descending of [true, false]) {
        const sort = { key, descending };
        const whole = await listExecutions(store, filter, { sort, page: { limit: 200, offset: 0 } });
        assert.equal(whole.length, 160);
        // Two runs were created at once: a page may begin with either.
        for (const offset of [130, 131, 159, 160]) {
          const far = await listExecutions(store, filter, { sort, page: { limit: 20, offset } });
          assert.deepEqual(far, whole.slice(offset, offset + 20), `${key} from ${offset}`);
        }
      }
    }
  });

  test('filters, sorts and pages the runs of a name, earlier objects included', async ({ store, epoch }) => {
    const before = await projected(store, epoch, { name: 'history' });
    const after = await projected(store, epoch, { name: 'history' });
    const at = (minutes: number): number => now - minutes * minuteMs;
    await recordRuns(store, epoch, [
      aRun(before, { createdAt: at(50) }),
      aRun(after, {
        createdAt: at(40),
        status: 'failed',
        exitCode: 1,
        finishedAt: at(37),
        fault: { cause: 'platform', scope: 'node node-3' },
      }),
      aRun(after, { createdAt: at(30), trigger: 'manual', scheduledAt: undefined }),
      aRun(after, { createdAt: at(20), status: 'deleted', startedAt: undefined, finishedAt: at(19) }),
      aRun(after, { createdAt: at(10), isRetry: true, retryOf: 'history-1', delayed: true }),
    ]);
    const ids = [before.id, after.id];
    const page = { limit: 20, offset: 0 };
    const list = (filter: object, options: object = {}) =>
      listExecutions(store, { cronJobIds: ids, ...filter }, { page, ...options });

    const all = await list({});
    assert.deepEqual(agesOf(all), [10, 20, 30, 40, 50], 'newest first');
    assert.deepEqual(
      all.map(({ cronJobUid }) => cronJobUid),
      [after.uid, after.uid, after.uid, after.uid, before.uid],
    );
    assert.deepEqual([all[0]?.isRetry, all[0]?.retryOf, all[0]?.delayed], [true, 'history-1', true]);
    assert.deepEqual([all[3]?.exitCode, all[3]?.durationMs, all[3]?.isRetry], [1, 180_000, false]);
    assert.equal(all[1]?.durationMs, undefined);
    assert.deepEqual(agesOf(await list({ statuses: ['failed', 'deleted'] })), [20, 40]);
    assert.deepEqual(agesOf(await list({ triggers: ['manual'] })), [30]);
    assert.deepEqual(agesOf(await list({ causes: ['platform', 'capacity'] })), [40]);
    assert.deepEqual(all[3]?.fault, { cause: 'platform', scope: 'node node-3' });
    assert.deepEqual(agesOf(await list({ causes: ['application'] })), []);
    assert.deepEqual(agesOf(await list({ since: at(40), until: at(20) })), [30, 40], 'since counts, until does not');
    assert.deepEqual(agesOf(await list({}, { page: { limit: 2, offset: 1 } })), [20, 30]);
    assert.deepEqual(agesOf(await list({}, { sort: { key: 'time', descending: false } })), [50, 40, 30, 20, 10]);
    const byStatus = await list({}, { sort: { key: 'status', descending: false } });
    assert.deepEqual(
      byStatus.map(({ status }) => status),
      ['failed', 'deleted', 'success', 'success', 'success'],
    );
    const byDuration = await list({}, { sort: { key: 'duration', descending: true } });
    assert.deepEqual([agesOf(byDuration)[0], agesOf(byDuration)[4]], [40, 20], 'no duration is last');
    assert.equal(await countExecutions(store, { cronJobIds: ids, statuses: ['success'] }), 3);
    assert.deepEqual(await list({ cronJobIds: [] }), []);
    assert.equal(await findOldestExecution(store, ids), at(50));
    assert.equal(await findOldestExecution(store, []), undefined);
    assert.equal(await findOldestExecution(store, [999_999]), undefined);
  });

  test('names the scheduled run that failed last, also where one has succeeded since', async ({ store, epoch }) => {
    const [mended, well, byHand] = [
      await projected(store, epoch, { name: 'mended' }),
      await projected(store, epoch, { name: 'well' }),
      await projected(store, epoch, { name: 'by-hand' }),
    ];
    const ago = (minutes: number) => ({ createdAt: now - minutes * minuteMs });
    const manual = { trigger: 'manual', scheduledAt: undefined } as const;
    const last = aRun(mended, { ...ago(20), status: 'failed' });
    await recordRuns(store, epoch, [
      aRun(mended, { ...ago(30), status: 'failed' }),
      last,
      aRun(mended, ago(10)),
      aRun(mended, { ...ago(5), ...manual, jobName: 'tried', status: 'failed' }),
      aRun(well, ago(10)),
      aRun(byHand, { ...ago(10), ...manual, jobName: 'alone', status: 'failed' }),
    ]);
    const cronJobs = await listCronJobsById(store, [mended.id, well.id, byHand.id]);
    assert.deepEqual([...(await listLastFailures(store, cronJobs))], [[mended.id, last.jobName]]);
    assert.deepEqual([...(await listLastFailures(store, []))], []);
  });

  test('finds one run by its name, the newest of several, or by its UID', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'one' });
    const cronJobIds = [cronJob.id];
    const canonical = aRun(cronJob, { createdAt: now - 5 * minuteMs });
    const older = aRun(cronJob, {
      createdAt: now - 4 * minuteMs,
      jobName: 'by-hand',
      trigger: 'manual',
      scheduledAt: undefined,
    });
    const newer = aRun(cronJob, {
      createdAt: now - 3 * minuteMs,
      jobName: 'by-hand',
      trigger: 'manual',
      scheduledAt: undefined,
    });
    await recordRuns(store, epoch, [canonical, older, newer]);
    const find = async (jobName: string, uid?: string) =>
      (await findExecution(store, { cronJobIds, jobName, uid }))?.jobUid;
    assert.equal(await find(canonical.jobName), canonical.jobUid);
    assert.equal(await find('by-hand'), newer.jobUid);
    assert.equal(await find('by-hand', older.jobUid), older.jobUid);
    assert.equal(await find('by-hand', canonical.jobUid), undefined, 'the name must be its own');
    assert.equal(await find('by-hand', randomUUID()), undefined);
    assert.equal(await find('never'), undefined);
    assert.equal(await find('one-29920793'), undefined);
    assert.equal(await findExecution(store, { cronJobIds: [], jobName: 'by-hand' }), undefined);
  });

  test('gives the newest runs and unanswered slots of many CronJobs at once, oldest first', async ({
    store,
    epoch,
  }) => {
    const first = await projected(store, epoch, { name: 'first' });
    const second = await projected(store, epoch, { name: 'second' });
    const quiet = await projected(store, epoch, { name: 'quiet' });
    const at = (minutes: number): number => now - minutes * minuteMs;
    await recordRuns(store, epoch, [
      aRun(first, { createdAt: at(60) }),
      aRun(first, { jobName: 'first-2', createdAt: at(40), scheduledAt: at(42), status: 'failed' }),
      aRun(second, { jobName: 'second-1', createdAt: at(10), trigger: 'manual', scheduledAt: undefined }),
    ]);
    await store.sql('slots').insert([
      { cronjob_id: first.id, slot_at: at(50), outcome: 0, in_maintenance: 0, decided_at: at(45) },
      { cronjob_id: second.id, slot_at: at(90), outcome: 1, in_maintenance: 0, decided_at: at(45) },
    ]);
    const recent = await listRecentRuns(store, [first.id, second.id, quiet.id], { count: 2, lateAfterMs });
    assert.deepEqual(recent.get(first.id), [
      { at: at(50), outcome: 'missed', status: undefined, durationMs: undefined, jobName: undefined },
      { at: at(42), outcome: 'late', status: 'failed', durationMs: minuteMs, jobName: 'first-2' },
    ]);
    assert.deepEqual(recent.get(second.id), [
      { at: at(90), outcome: 'skippedForbid', status: undefined, durationMs: undefined, jobName: undefined },
      { at: at(10), outcome: undefined, status: 'success', durationMs: minuteMs, jobName: 'second-1' },
    ]);
    assert.equal(recent.get(quiet.id), undefined);
    assert.equal((await listRecentRuns(store, [first.id], { count: 0, lateAfterMs })).size, 0);
  });

  test('counts what is stored', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'counted' });
    const before = await measureStorage(store);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now - 80 * dayMs })]);
    const after = await measureStorage(store);
    assert.equal(after.executions, before.executions + 1);
    assert.equal(after.oldestExecutionAt, now - 80 * dayMs);
    assert.equal(after.approximate, false);
    assert.ok(after.sizeBytes === undefined || after.sizeBytes > 0);
    assert.equal(after.slots, 2);
  });
});
