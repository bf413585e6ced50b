import assert from 'node:assert/strict';
import { sketchOf, encodeSketch, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  countGridCells,
  countLaneRuns,
  countSlots,
  countWallRuns,
  countWallSlots,
  findOldestDay,
  listDayDurations,
  listDays,
  listGridCells,
  listIdsWithOutcome,
  listMedianDurations,
  listSlots,
  recordRuns,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { contract } from '../suite.ts';

const today = Math.floor(now / dayMs);
const lateAfterMs = minuteMs;

export const runDays = contract('days and slots of runs', (test) => {
  test('counts runs by the UTC day of their creation', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { namespace: 'days', name: 'a' });
    const other = await projected(store, epoch, { namespace: 'days', name: 'b' });
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: now - dayMs }),
      aRun(cronJob, { createdAt: now - dayMs + minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: now - minuteMs, trigger: 'manual', scheduledAt: undefined }),
      aRun(other, { createdAt: now - 2 * minuteMs, status: 'replaced' }),
    ]);
    const days = { from: today - 5, to: today };
    const mine = await listDays(store, { cronJobIds: [cronJob.id] }, days);
    assert.deepEqual(
      mine.map(({ day, success, failed, manual, replaced }) => [day - today, success, failed, manual, replaced]),
      [
        [-1, 1, 1, 0, 0],
        [0, 0, 0, 1, 0],
      ],
    );
    const fleet = await listDays(store, { namespaces: ['days'] }, days);
    assert.deepEqual(
      fleet.map(({ day, success, manual, replaced }) => [day - today, success, manual, replaced]),
      [
        [-1, 1, 0, 0],
        [0, 0, 1, 1],
      ],
    );
    assert.deepEqual(await listDays(store, { namespaces: ['nowhere'] }, days), []);
    assert.deepEqual(await listDays(store, { namespaces: [], monitor: { namespace: 'x', name: 'y' } }, days), []);
    assert.deepEqual(await listDays(store, { cronJobIds: [] }, days), []);
    assert.equal(await findOldestDay(store, { cronJobIds: [cronJob.id] }), today - 1);
    assert.equal(await findOldestDay(store, { namespaces: ['nowhere'] }), undefined);
  });

  test('measures the durations of a day from its rows, and from its sketch when they are gone', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch, { name: 'lasting' });
    const lasting = (day: number, seconds: number, changes = {}) => {
      const createdAt = now - day * dayMs + seconds;
      return aRun(cronJob, { createdAt, startedAt: createdAt, finishedAt: createdAt + seconds * 1000, ...changes });
    };
    await recordRuns(store, epoch, [
      ...Array.from({ length: 20 }, (_, index) => lasting(1, index + 1)),
      lasting(1, 900, { status: 'failed' }),
      ...[100, 200, 300].map((seconds) => lasting(3, seconds)),
    ]);
    await store
      .sql('rollups')
      .where({ cronjob_id: cronJob.id, day: today - 3 })
      .update({
        sketch: Buffer.from(encodeSketch(sketchOf([100_000, 200_000, 300_000]))),
      });
    await store
      .sql('executions')
      .where('cronjob_id', cronJob.id)
      .where('created_at', '<', now - 2 * dayMs)
      .delete();
    const durations = await listDayDurations(store, [cronJob.id], { from: today - 5, to: today });
    assert.deepEqual(durations.get(today - 1), {
      avgMs: 10_500,
      p50Ms: 10_000,
      p95Ms: 19_000,
      maxMs: 20_000,
      approximate: false,
    });
    const sketched = durations.get(today - 3);
    assert.ok(sketched?.approximate);
    assert.equal(sketched.avgMs, 200_000);
    assert.ok(Math.abs(sketched.p50Ms / 200_000 - 1) < 0.01, String(sketched.p50Ms));
    assert.equal(sketched.maxMs, 300_000);
    assert.equal(durations.has(today), false);
    assert.equal((await listDayDurations(store, [], { from: 0, to: today })).size, 0);
  });

  test('lists expected runs with what became of them', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { name: 'slots' });
    const at = (minutes: number): number => now - minutes * minuteMs;
    const late = aRun(cronJob, { createdAt: at(18), scheduledAt: at(20), status: 'failed', jobName: 'slots-late' });
    const after = aRun(cronJob, { createdAt: at(5), scheduledAt: undefined, trigger: 'manual', jobName: 'by-hand' });
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: at(40), inMaintenance: true }), late, after]);
    const slot = { cronjob_id: cronJob.id, in_maintenance: 0, decided_at: now };
    await store
      .sql('slots')
      .insert({ ...slot, slot_at: at(30), outcome: 1, cause: 0, message: 'slots-1 was still active' });
    await store
      .sql('slots')
      .insert({ ...slot, slot_at: at(10), outcome: 0, job_uid: store.dialect.id16(after.jobUid) });
    const filter = { cronJobIds: [cronJob.id], since: at(60), until: now, outcomes: [], lateAfterMs };
    const options = { descending: true, page: { limit: 100, offset: 0 } };
    const all = await listSlots(store, filter, options);
    assert.deepEqual(
      all.map(({ at: slotAt, outcome, cause, jobName, status }) => [
        (now - slotAt) / minuteMs,
        outcome,
        cause,
        jobName,
        status,
      ]),
      [
        [10, 'missed', undefined, 'by-hand', 'success'],
        [20, 'late', undefined, 'slots-late', 'failed'],
        [30, 'skippedForbid', 'previousRunning', undefined, undefined],
        [40, 'matched', undefined, `slots-${Math.floor(at(40) / minuteMs)}`, 'success'],
      ],
    );
    assert.equal(all[2]?.message, 'slots-1 was still active');
    assert.deepEqual([all[3]?.inMaintenance, all[2]?.inMaintenance], [true, false]);
    assert.deepEqual([all[1]?.createdAt, all[2]?.createdAt], [at(18), undefined]);
    const agesOf = async (outcomes: typeof filter.outcomes | ('late' | 'matched' | 'missed')[], page = options.page) =>
      (await listSlots(store, { ...filter, outcomes }, { descending: false, page })).map(
        ({ at: slotAt }) => (now - slotAt) / minuteMs,
      );
    assert.deepEqual(await agesOf([]), [40, 30, 20, 10]);
    assert.deepEqual(await agesOf([], { limit: 2, offset: 1 }), [30, 20]);
    assert.deepEqual(await agesOf(['late']), [20]);
    assert.deepEqual(await agesOf(['matched']), [40]);
    assert.deepEqual(await agesOf(['missed', 'late']), [20, 10]);
    const counts = await countSlots(store, { ...filter, outcomes: ['missed'] });
    assert.deepEqual(
      [counts.matched, counts.late, counts.missed, counts.skippedForbid, counts.suspended],
      [1, 1, 1, 1, 0],
    );
    assert.equal((await countSlots(store, { ...filter, cronJobIds: [] })).matched, 0);
  });

  test('gives the cells of many CronJobs in a window, and counts them', async ({ store, epoch }) => {
    const first = await projected(store, epoch, { name: 'cells' });
    const second = await projected(store, epoch, { name: 'quiet' });
    const at = (minutes: number): number => now - minutes * minuteMs;
    await recordRuns(store, epoch, [
      aRun(first, { createdAt: at(90) }),
      aRun(first, { createdAt: at(40), scheduledAt: at(42) }),
      aRun(first, { createdAt: at(10), trigger: 'manual', scheduledAt: undefined, jobName: 'by-hand' }),
    ]);
    await store
      .sql('slots')
      .insert({ cronjob_id: first.id, slot_at: at(30), outcome: 3, in_maintenance: 0, decided_at: now });
    const window = { from: at(60), until: now, lateAfterMs };
    const cells = await listGridCells(store, [first.id, second.id], window, 200);
    assert.deepEqual(
      cells
        .get(first.id)
        ?.map((cell) => [(now - cell.at) / minuteMs, cell.outcome, cell.jobName, cell.trigger, cell.durationMs]),
      [
        [42, 'late', `cells-${Math.floor(at(40) / minuteMs)}`, 'scheduled', minuteMs],
        [30, 'suspended', undefined, undefined, undefined],
        [10, undefined, 'by-hand', 'manual', minuteMs],
      ],
    );
    assert.equal(cells.has(second.id), false);
    assert.equal((await listGridCells(store, [first.id], window, 2)).get(first.id)?.length, 2);
    const counts = await countGridCells(store, [first.id, second.id], window);
    assert.deepEqual(Object.fromEntries(counts.get(first.id) ?? []), { none: 1, late: 1, suspended: 1 });
    assert.equal((await listMedianDurations(store, [first.id])).get(first.id), minuteMs);
    assert.equal((await listMedianDurations(store, [second.id])).has(second.id), false);
  });

  test('counts the runs of each column by how they ended, with the newest of each', async ({ store, epoch }) => {
    const first = await projected(store, epoch, { name: 'columns' });
    const quiet = await projected(store, epoch, { name: 'none' });
    const stepMs = 30 * minuteMs;
    const from = Math.floor(now / stepMs) * stepMs - 2 * stepMs;
    const span = { from, until: from + 2 * stepMs, stepMs };
    const at = (minutes: number): number => from + minutes * minuteMs;
    const failed = { status: 'failed', reason: 'OOMKilled', exitCode: 137 } as const;
    await recordRuns(store, epoch, [
      aRun(first, { createdAt: at(-5), scheduledAt: at(-5) }),
      aRun(first, { createdAt: at(1), scheduledAt: at(1), ...failed, jobName: 'older' }),
      aRun(first, { createdAt: at(4), scheduledAt: at(4), ...failed, jobName: 'newer' }),
      aRun(first, { createdAt: at(31), scheduledAt: at(29), jobName: 'due-before' }),
      aRun(first, { createdAt: at(32), trigger: 'manual', scheduledAt: undefined, jobName: 'by-hand' }),
    ]);
    const row = { cronjob_id: first.id, in_maintenance: 0, decided_at: now };
    await store.sql('slots').insert([
      { ...row, slot_at: at(40), outcome: 0 },
      { ...row, slot_at: at(45), outcome: 0 },
    ]);
    const ids = [first.id, quiet.id];
    const runs = await countWallRuns(store, ids, span, lateAfterMs);
    assert.deepEqual(
      runs
        .get(first.id)
        ?.map(({ at: columnAt, status, isLate, count, newest }) => [
          columnAt - from,
          status,
          isLate,
          count,
          newest?.jobName,
        ])
        .toSorted(),
      [
        [0, 'failed', false, 2, 'newer'],
        [0, 'success', true, 1, 'due-before'],
        [stepMs, 'success', false, 1, 'by-hand'],
      ],
    );
    assert.deepEqual(
      (await countLaneRuns(store, ids, span, lateAfterMs))
        .map(({ at: columnAt, status, isLate, count }) => [columnAt - from, status, isLate, count])
        .toSorted(),
      [
        [0, 'failed', false, 2],
        [0, 'success', true, 1],
        [stepMs, 'success', false, 1],
      ],
    );
    const newest = runs.get(first.id)?.find(({ status }) => status === 'failed')?.newest;
    assert.deepEqual([newest?.reason, newest?.exitCode, newest?.durationMs], ['OOMKilled', 137, minuteMs]);
    assert.equal(runs.has(quiet.id), false);
    assert.deepEqual((await countWallSlots(store, ids, span)).get(first.id), [
      { at: from + stepMs, outcome: 'missed', count: 2 },
    ]);
    const having = async (...outcomes: ('failed' | 'late' | 'missed' | 'unseen')[]) =>
      [...(await listIdsWithOutcome(store, ids, span, { outcomes, lateAfterMs }))].length;
    assert.deepEqual([await having('failed'), await having('late', 'missed'), await having('unseen')], [1, 1, 0]);
  });
});
