import assert from 'node:assert/strict';
import { type CronJobFacts, type Execution, hourMs, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  countOutcomes,
  countRateFacts,
  listOldestSince,
  listDueRuns,
  listExecutions,
  listJudgedRuns,
  listLastScheduledRuns,
  countFailures,
  measureDurationShift,
  measureLastDurations,
  recordRuns,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { contract } from '../suite.ts';

const manual = { trigger: 'manual', scheduledAt: undefined } as const;
const maintained = { inMaintenance: true } as const;

/** A run that was created so long before `now` and took so many seconds. */
function ago(cronJob: CronJobFacts, agoMs: number, seconds: number, changes: Partial<Execution> = {}): Execution {
  const createdAt = now - agoMs;
  return aRun(cronJob, { createdAt, startedAt: createdAt, finishedAt: createdAt + seconds * 1000, ...changes });
}

async function recordAll(store: Store, epoch: number, runs: readonly Execution[]): Promise<void> {
  for (let start = 0; start < runs.length; start += 100) await recordRuns(store, epoch, runs.slice(start, start + 100));
}

export const rateFacts = contract('facts of the success rate', (test) => {
  test('the first day is counted from rows, the others from the figures of days', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    const from = now - 7 * dayMs;
    await recordAll(store, epoch, [
      aRun(cronJob, { createdAt: from - minuteMs }), // on the first day, before the window
      aRun(cronJob, { createdAt: from }),
      aRun(cronJob, { createdAt: from + minuteMs, status: 'failed' }),
      aRun(cronJob, { createdAt: from + 2 * minuteMs, status: 'failed', ...maintained }),
      aRun(cronJob, { createdAt: from + 3 * minuteMs, status: 'replaced' }),
      aRun(cronJob, { createdAt: now - 3 * dayMs, status: 'failed' }),
      aRun(cronJob, { createdAt: now - 2 * dayMs, ...manual }),
      aRun(cronJob, { createdAt: now - minuteMs }),
      aRun(other, { createdAt: from - minuteMs, status: 'failed' }),
    ]);
    const facts = await countRateFacts(store, [cronJob.id, other.id, 999_999], { from, missed: false });
    assert.deepEqual([...facts], [[cronJob.id, { success: 2, failed: 2, missed: 0, approximate: false }]]);
    const shown = await countOutcomes(store, { from, to: Math.ceil(now / dayMs) * dayMs }, [cronJob.id]);
    const expected = { success: 2, failed: 2, approximate: false, firstAt: from };
    assert.deepEqual(shown.get(cronJob.id), expected, 'what the API shows');
    const midnight = Math.floor(from / dayMs) * dayMs;
    const whole = await countRateFacts(store, [cronJob.id, other.id], { from: midnight, missed: false });
    assert.deepEqual(whole.get(cronJob.id), { success: 3, failed: 2, missed: 0, approximate: false });
    assert.deepEqual(whole.get(other.id), { success: 0, failed: 1, missed: 0, approximate: false });
  });

  test('a first day whose rows are pruned counts whole and says so', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const from = now - 30 * dayMs;
    const early = aRun(cronJob, { createdAt: from - hourMs });
    await recordAll(store, epoch, [early, aRun(cronJob, { createdAt: from + minuteMs, status: 'failed' })]);
    await store
      .sql('executions')
      .where({ job_uid: store.dialect.id16(early.jobUid) })
      .delete();
    const facts = await countRateFacts(store, [cronJob.id], { from, missed: false });
    assert.deepEqual(facts.get(cronJob.id), { success: 1, failed: 1, missed: 0, approximate: true });
  });

  test('missed runs are counted when they are asked for', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const from = now - 7 * dayMs;
    const slot = (slotAt: number, outcome: number): object => ({
      cronjob_id: cronJob.id,
      slot_at: slotAt,
      outcome,
      in_maintenance: 0,
      decided_at: now,
    });
    await store
      .sql('slots')
      .insert([slot(from - minuteMs, 0), slot(from, 0), slot(from + minuteMs, 3), slot(now - dayMs, 0)]);
    const day = (at: number, missed: number): object => ({
      cronjob_id: cronJob.id,
      day: Math.floor(at / dayMs),
      missed,
      suspended: 1,
    });
    await store.sql('rollups').insert([day(from, 2), day(now - dayMs, 1)]);
    const asked = await countRateFacts(store, [cronJob.id], { from, missed: true });
    assert.deepEqual(asked.get(cronJob.id), { success: 0, failed: 0, missed: 2, approximate: false });
    const notAsked = await countRateFacts(store, [cronJob.id], { from, missed: false });
    assert.equal(notAsked.has(cronJob.id), false);
  });

  test('what a window loses next is its oldest run or its oldest slot', async ({ store, epoch }) => {
    const from = now - 7 * dayMs;
    const [runs, slots, before] = [
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
    ];
    await recordAll(store, epoch, [
      aRun(runs, { createdAt: from - minuteMs }),
      aRun(runs, { createdAt: from + hourMs }),
      aRun(runs, { createdAt: from + 2 * hourMs }),
      aRun(slots, { createdAt: from + hourMs }),
      aRun(before, { createdAt: from - minuteMs }),
    ]);
    await store.sql('slots').insert({
      cronjob_id: slots.id,
      slot_at: from + minuteMs,
      outcome: 0,
      in_maintenance: 0,
      decided_at: now,
    });
    const oldest = await listOldestSince(store, [runs.id, slots.id, before.id, 999_999], from);
    assert.deepEqual(
      oldest,
      new Map([
        [runs.id, from + hourMs],
        [slots.id, from + minuteMs],
      ]),
    );
  });

  test('more CronJobs than one statement takes', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordAll(store, epoch, [aRun(cronJob)]);
    const ids = [...Array.from({ length: 1_200 }, (_, index) => 1_000_000 + index), cronJob.id];
    assert.deepEqual([...(await countRateFacts(store, ids, { from: now - dayMs, missed: true })).keys()], [cronJob.id]);
    assert.deepEqual([...(await listJudgedRuns(store, ids, { count: 3, includeManual: true })).keys()], [cronJob.id]);
  });
});

export const runFacts = contract('facts of the last runs', (test) => {
  test('judged runs stand newest end first, manual ones only when included', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    const long = ago(cronJob, 5 * hourMs, 4 * 3_600 + 3_590, { status: 'failed', exitCode: 3, reason: 'Error' });
    const middle = ago(cronJob, 2 * hourMs, 60);
    const byHand = ago(cronJob, hourMs, 60, manual);
    await recordAll(store, epoch, [
      long,
      middle,
      byHand,
      ago(cronJob, 30 * minuteMs, 60, { status: 'replaced' }),
      ago(cronJob, 6 * hourMs, 60),
      ago(other, hourMs, 60, manual),
    ]);
    const asked = { count: 3, includeManual: true };
    const all = await listJudgedRuns(store, [cronJob.id, other.id], asked);
    assert.deepEqual(
      all.get(cronJob.id)?.map(({ jobUid }) => jobUid),
      [long, byHand, middle].map(({ jobUid }) => jobUid),
    );
    assert.deepEqual(all.get(cronJob.id)?.[0], {
      jobUid: long.jobUid,
      jobName: long.jobName,
      status: 'failed',
      durationMs: (4 * 3_600 + 3_590) * 1_000,
      isScheduled: true,
      isCounted: true,
      isUnjudged: false,
      endedAt: long.finishedAt,
      exitCode: 3,
      reason: 'Error',
      jobReason: 'CompletionsReached',
      fault: undefined,
      failedIndexes: undefined,
    });
    const scheduled = await listJudgedRuns(store, [cronJob.id, other.id], { ...asked, includeManual: false });
    assert.deepEqual(
      scheduled.get(cronJob.id)?.map(({ status }) => status),
      ['failed', 'success', 'success'],
    );
    assert.equal(scheduled.has(other.id), false);
  });

  test('of runs that end in the same second the newest is the one that lists of runs show first', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const runs = [3, 1, 1, 1, 2].map((minutes, index) =>
      ago(cronJob, minutes * minuteMs, 0, { finishedAt: now, status: index % 2 === 0 ? 'failed' : 'success' }),
    );
    await recordAll(store, epoch, runs);
    const judged = await listJudgedRuns(store, [cronJob.id], { count: 5, includeManual: true });
    const page = { limit: 5, offset: 0 };
    const listed = await listExecutions(store, { cronJobIds: [cronJob.id] }, { page });
    assert.deepEqual(
      judged.get(cronJob.id)?.map(({ jobUid }) => jobUid),
      listed.map(({ jobUid }) => jobUid),
    );
  });

  test('the newest ended run and the newest success are scheduled ones that count', async ({ store, epoch }) => {
    const [failing, fine, quiet] = [
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
    ];
    const success = ago(failing, 3 * hourMs, 90);
    const failure = ago(failing, 2 * hourMs, 30, { status: 'failed' });
    const good = ago(fine, hourMs, 45);
    await recordAll(store, epoch, [
      success,
      failure,
      ago(failing, hourMs, 700, { ...manual, status: 'failed' }),
      ago(failing, hourMs, 800, { ...maintained, scheduledAt: now - hourMs, createdAt: now - hourMs + 1 }),
      ago(fine, 2 * hourMs, 20, { status: 'failed' }),
      good,
      ago(quiet, hourMs, 20, { status: 'deleted' }),
    ]);
    const runs = await listLastScheduledRuns(store, [failing.id, fine.id, quiet.id]);
    const toRun = ({ jobUid, jobName, finishedAt, durationMs }: Execution): object => ({
      jobUid,
      jobName,
      endedAt: finishedAt,
      durationMs,
    });
    assert.deepEqual(runs.get(failing.id), { lastEnded: toRun(failure), lastSuccess: toRun(success) });
    assert.deepEqual(runs.get(fine.id), { lastEnded: toRun(good), lastSuccess: toRun(good) });
    assert.equal(runs.has(quiet.id), false);
  });

  test('percentiles of the last durations are nearest rank over so many runs', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordAll(store, epoch, [
      ...Array.from({ length: 30 }, (_, index) => ago(cronJob, (index + 1) * hourMs, index + 1)),
      ago(cronJob, minuteMs * 50, 500, { status: 'failed' }),
      ago(cronJob, minuteMs * 40, 600, manual),
    ]);
    const measured = await measureLastDurations(store, [cronJob.id, 999_999], 20);
    assert.deepEqual([...measured], [[cronJob.id, { runs: 20, p50Ms: 10_000, p95Ms: 19_000, p99Ms: 20_000 }]]);
    assert.equal((await measureLastDurations(store, [cronJob.id], 100)).get(cronJob.id)?.runs, 30);
  });

  test('how many runs failed or were stopped since an instant, each CronJob from its own on', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    await recordAll(store, epoch, [
      ago(cronJob, 5 * hourMs, 60, { status: 'failed' }),
      ago(cronJob, 3 * hourMs, 60, { status: 'failed', ...manual }),
      ago(cronJob, 2 * hourMs, 60),
      ago(cronJob, hourMs, 60, { status: 'failed' }),
      ago(cronJob, hourMs, 60, { status: 'unobserved' }),
      ago(other, hourMs, 60, { status: 'failed' }),
      ago(other, 3 * hourMs, 60, { status: 'replaced' }),
      ago(other, 4 * hourMs, 60, { status: 'deleted' }),
    ]);
    const since = (cronJobId: number, hours: number) => ({ cronJobId, sinceAt: now - hours * hourMs });
    const asked = [since(cronJob.id, 9), since(cronJob.id, 4), since(other.id, 0.5), since(other.id, 9)];
    const failures = await countFailures(store, asked);
    const none = { failed: 0, stopped: 0 };
    assert.deepEqual(asked.map(failures), [
      { failed: 3, stopped: 0 },
      { failed: 2, stopped: 0 },
      none,
      { failed: 1, stopped: 2 },
    ]);
    assert.deepEqual(failures(since(999_999, 9)), none, 'what was not asked');
    assert.deepEqual((await countFailures(store, []))(since(cronJob.id, 9)), none);
  });

  test('the first success of the runs due in an interval', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const at = (hours: number): number => now - hours * hourMs;
    const slow = ago(cronJob, 5 * hourMs, 3 * 3_600);
    const quick = ago(cronJob, 4 * hourMs, 60);
    await recordAll(store, epoch, [
      ago(cronJob, 6 * hourMs, 30),
      slow,
      quick,
      ago(cronJob, 3 * hourMs, 5, { status: 'failed' }),
    ]);
    const interval = (afterHours: number, untilHours: number): Parameters<typeof listDueRuns>[1][number] => ({
      cronJobId: cronJob.id,
      afterAt: at(afterHours),
      untilAt: at(untilHours),
    });
    assert.deepEqual(await listDueRuns(store, [interval(6, 4), interval(4, 2), interval(6, 5), interval(7, 6)]), [
      { firstSuccessAt: quick.finishedAt, known: 2 },
      { firstSuccessAt: undefined, known: 1 },
      { firstSuccessAt: slow.finishedAt, known: 1 },
      { firstSuccessAt: at(6) + 30_000, known: 1 },
    ]);
    assert.deepEqual(await listDueRuns(store, []), []);
  });
});

export const durationShift = contract('facts of a regression', (test) => {
  const window = { now, baselineWindowMs: 14 * dayMs };

  test('recent runs are those of the last 24 h, the baseline is what ended before them', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const hourly = (hours: number): Execution => ago(cronJob, hours * hourMs, hours <= 24 ? 100 + hours : 60);
    await recordAll(store, epoch, [
      ...Array.from({ length: 20 * 24 }, (_, index) => hourly(index + 1)),
      ago(cronJob, 30 * minuteMs, 900, manual),
      ago(cronJob, 20 * minuteMs, 900, { status: 'failed' }),
      ago(cronJob, 10 * minuteMs, 900, maintained),
    ]);
    const shift = (await measureDurationShift(store, [cronJob.id, 999_999], window)).get(cronJob.id);
    assert.deepEqual(
      shift?.recentMs,
      // The run of 24 h ago ended within the last 24 h.
      Array.from({ length: 24 }, (_, index) => (101 + index) * 1000),
    );
    assert.equal(shift?.newestEndAt, now - hourMs + 101_000);
    // Yesterday's runs before the recent ones, and 14 whole days before yesterday.
    assert.equal(shift?.baseline.runs, 8 + 14 * 24);
    for (const p of [shift?.baseline.p25, shift?.baseline.p95]) assert.ok(Math.abs((p ?? 0) - 60_000) <= 600);
  });

  test('a daily run has five recent ones, and a baseline of 20 beyond its window', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordAll(
      store,
      epoch,
      Array.from({ length: 60 }, (_, index) => ago(cronJob, (index + 1) * dayMs, index + 1)),
    );
    const shift = (await measureDurationShift(store, [cronJob.id], window)).get(cronJob.id);
    assert.deepEqual(shift?.recentMs, [1_000, 2_000, 3_000, 4_000, 5_000]);
    assert.equal(shift?.baseline.runs, 20);
    assert.ok(Math.abs((shift?.baseline.p95 ?? 0) - 24_000) <= 240, 'the 19th of 6 to 25 seconds');
    const wide = await measureDurationShift(store, [cronJob.id], { now, baselineWindowMs: 40 * dayMs });
    assert.equal(wide.get(cronJob.id)?.baseline.runs, 40);
  });

  test('a weekly run reaches back for months', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { createdAt: now - 800 * dayMs });
    await recordAll(
      store,
      epoch,
      Array.from({ length: 40 }, (_, index) => ago(cronJob, (7 * index + 1) * dayMs, 60)),
    );
    const shift = (await measureDurationShift(store, [cronJob.id], window)).get(cronJob.id);
    assert.deepEqual([shift?.recentMs.length, shift?.baseline.runs], [5, 20]);
  });

  test('a long run of the day before belongs to the recent ones only', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const long = ago(cronJob, 40 * hourMs, 39 * 3_600);
    const hourly = Array.from({ length: 5 * 24 }, (_, index) => ago(cronJob, (index + 1) * hourMs + 1, 60));
    await recordAll(store, epoch, [...hourly, long]);
    const shift = (await measureDurationShift(store, [cronJob.id], window)).get(cronJob.id);
    assert.ok(shift?.recentMs.includes(39 * hourMs));
    assert.equal((shift?.recentMs.length ?? 0) + (shift?.baseline.runs ?? 0), hourly.length + 1);
  });

  test('history is in neither part, to the very run', async ({ store, epoch }) => {
    const [cut, whole] = [await projected(store, epoch), await projected(store, epoch)];
    for (const cronJob of [cut, whole])
      await recordAll(
        store,
        epoch,
        Array.from({ length: 10 * 24 }, (_, index) => ago(cronJob, (index + 1) * hourMs, index < 100 ? 60 : 600)),
      );
    const sinceAt = now - 100 * hourMs;
    const sinceOf = new Map([[cut.id, sinceAt]]);
    const shifts = await measureDurationShift(store, [cut.id, whole.id], { ...window, sinceOf });
    const { recentMs = [], baseline } = shifts.get(cut.id) ?? {};
    assert.equal(recentMs.length + (baseline?.runs ?? 0), 100, 'those that ended since');
    assert.ok((baseline?.p95 ?? 0) < 61_000, 'no run of history tells what is usual');
    assert.ok((shifts.get(whole.id)?.baseline.p95 ?? 0) > 590_000, 'without a beginning all of them count');
    const late = new Map([[cut.id, now - 3 * hourMs]]);
    const few = (await measureDurationShift(store, [cut.id], { ...window, sinceOf: late })).get(cut.id);
    assert.deepEqual([few?.recentMs.length, few?.baseline.runs], [3, 0]);
  });

  test('fewer than five runs are all that there is', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordAll(store, epoch, [ago(cronJob, 90 * dayMs, 7), ago(cronJob, 30 * dayMs, 8)]);
    assert.deepEqual((await measureDurationShift(store, [cronJob.id], window)).get(cronJob.id), {
      recentMs: [8_000, 7_000],
      newestEndAt: now - 30 * dayMs + 8_000,
      baseline: { runs: 0, p25: 0, p75: 0, p95: 0 },
    });
  });
});
