import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import {
  countedDurationMs,
  counterOf,
  decodeSketch,
  nearestRank,
  sketchOf,
  sketchPercentile,
  type Execution,
  dayMs,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import {
  deleteHistory,
  findClusterState,
  listExecutions,
  measureDurationShift,
  projectCronJob,
  pruneHistory,
  recordRuns,
  sealRollups,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected, seen } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const limits = { budgetMs: 60_000 };
const today = Math.floor(now / dayMs);
const nextDay = now + dayMs;

/** The figures of every day as they would be if they were counted anew from the rows, without the code that moves them. */
async function recounted(store: Store, ids: readonly number[]): Promise<Map<string, Record<string, number | null>>> {
  const page = { limit: 100_000, offset: 0 };
  const runs = await listExecutions(store, { cronJobIds: ids }, { sort: { key: 'time', descending: false }, page });
  const idOf = new Map(
    (await readRows(store, 'select id, uid_text from cronjobs')).map((row) => [row['uid_text'], Number(row['id'])]),
  );
  const days = new Map<string, Record<string, number | null>>();
  for (const run of runs) {
    const key = `${idOf.get(run.cronJobUid)} ${Math.floor(run.createdAt / dayMs)}`;
    const day = days.get(key) ?? { duration_n: 0, duration_sum: 0, duration_min: null, duration_max: null };
    days.set(key, day);
    const counter = counterOf(run);
    if (counter) day[counter] = (day[counter] ?? 0) + 1;
    const ms = countedDurationMs(run);
    if (ms === undefined) continue;
    day['duration_n'] = (day['duration_n'] ?? 0) + 1;
    day['duration_sum'] = (day['duration_sum'] ?? 0) + ms;
    day['duration_min'] = Math.min(day['duration_min'] ?? ms, ms);
    day['duration_max'] = Math.max(day['duration_max'] ?? ms, ms);
  }
  return days;
}

const counters = ['success', 'failed', 'replaced', 'deleted', 'unobserved', 'manual'];

/** The same as they stand in the table; days on which nothing is counted are left out. */
async function stored(store: Store, ids: readonly number[]): Promise<Map<string, Record<string, number | null>>> {
  const days = new Map<string, Record<string, number | null>>();
  for (const row of await readRows(store, 'select * from rollups')) {
    if (!ids.includes(Number(row['cronjob_id']))) continue;
    const day: Record<string, number | null> = {};
    for (const column of [...counters, 'duration_n', 'duration_sum']) {
      if (Number(row[column]) !== 0 || column.startsWith('duration')) day[column] = Number(row[column]);
    }
    for (const column of ['duration_min', 'duration_max'])
      day[column] = row[column] === null ? null : Number(row[column]);
    if (counters.every((counter) => day[counter] === undefined)) continue;
    days.set(`${Number(row['cronjob_id'])} ${Number(row['day'])}`, day);
  }
  return days;
}

/** Small numbers that a seed repeats. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    // Park and Miller.
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function someRun(cronJob: Parameters<typeof aRun>[0], random: (below: number) => number): Execution {
  const createdAt = now - random(6 * 1_440) * minuteMs - random(1_000);
  const status = (['success', 'success', 'success', 'failed', 'replaced', 'deleted', 'unobserved'] as const)[random(7)];
  const trigger = (['scheduled', 'scheduled', 'scheduled', 'manual', 'unmatched'] as const)[random(5)] ?? 'scheduled';
  const isUnseen = status === 'unobserved' || (status === 'success' && random(4) === 0);
  const finishedAt = createdAt + random(3 * 60 * minuteMs);
  return aRun(cronJob, {
    createdAt,
    startedAt: isUnseen ? undefined : createdAt,
    finishedAt,
    durationMs: isUnseen ? undefined : finishedAt - createdAt,
    status: status ?? 'success',
    trigger,
    scheduledAt: trigger === 'scheduled' ? createdAt - (createdAt % minuteMs) : undefined,
    inferred: isUnseen && status === 'success',
    inMaintenance: random(8) === 0,
  });
}

export const sealing = contract('the sealing of days', (test) => {
  test('after any history the figures are those that the rows give', async ({ store, epoch }) => {
    const seed = Number(process.env['SEED'] ?? randomInt(1, 2_147_483_646));
    const random = seeded(seed);
    const cronJobs = [await projected(store, epoch), await projected(store, epoch), await projected(store, epoch)];
    const ids = cronJobs.map(({ id }) => id);
    const runs: Execution[] = [];
    for (let round = 0; round < 12; round++) {
      const fresh = Array.from({ length: 40 }, () => {
        const cronJob = cronJobs[random(3)] ?? assert.fail();
        const run = someRun(cronJob, random);
        // The Job of a run whose end was not seen appears after all; or one is told twice.
        const twin = runs[random(Math.max(1, runs.length))];
        if (!twin || random(4) > 0) return run;
        const owner = { ...run, cronJobUid: twin.cronJobUid, cronJobName: twin.cronJobName };
        return random(2) === 0
          ? twin
          : { ...owner, createdAt: twin.createdAt, trigger: twin.trigger, scheduledAt: twin.scheduledAt };
      });
      runs.push(...fresh);
      await recordRuns(store, epoch, fresh);
      if (random(3) === 0) await sealRollups(store, epoch, now - random(4) * dayMs, limits);
    }
    const late = await readNumber(store, 'select count(*) as n from rollups where dirty = 1');
    const pass = await sealRollups(store, epoch, nextDay, limits);
    assert.deepEqual(await stored(store, ids), await recounted(store, ids), `SEED=${seed}`);
    assert.equal(pass.recomputed, late, `SEED=${seed}`);
    assert.equal(pass.completed, true);
    assert.equal(await readNumber(store, 'select count(*) as n from rollups where dirty = 1 or sealed_at is null'), 0);

    for (const row of await readRows(store, 'select * from rollups where duration_n > 0')) {
      const id = Number(row['cronjob_id']);
      const start = Number(row['day']) * dayMs;
      const page = { limit: 10_000, offset: 0 };
      const sort = { key: 'time', descending: false } as const;
      const ofDay = (await listExecutions(store, { cronJobIds: [id] }, { sort, page })).filter(
        ({ createdAt }) => createdAt >= start && createdAt < start + dayMs,
      );
      const durations = ofDay.flatMap((run) => countedDurationMs(run) ?? []);
      const sketch = decodeSketch(row['sketch'] as Uint8Array);
      assert.deepEqual(sketch, decodeSketchOf(durations), `SEED=${seed}`);
      const exact =
        nearestRank(
          durations.toSorted((a, b) => a - b),
          0.95,
        ) ?? 0;
      assert.ok(Math.abs((sketchPercentile(sketch, 0.95) ?? 0) - exact) <= exact * 0.010001, `SEED=${seed}`);
    }
  });

  test('a day is sealed when it is over, and a late run marks it', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const yesterday = now - dayMs;
    await recordRuns(store, epoch, [aRun(cronJob), aRun(cronJob, { createdAt: yesterday })]);
    const rowsOf = async (): Promise<unknown> =>
      (await readRows(store, 'select * from rollups where cronjob_id = ? order by day', [cronJob.id])).map((row) => [
        Number(row['day']) - today,
        row['sealed_at'] === null ? 'open' : 'sealed',
        Number(row['dirty']),
        Number(row['duration_max']),
      ]);
    // What expected runs and alerts count is theirs.
    const others = { missed: 3, late: 2, skipped: 1, suspended: 4, unseen: 5, alerts: 6 };
    await store.sql('rollups').where({ cronjob_id: cronJob.id }).update(others);
    await store.fenced(epoch, (tx) => tx.sql('cluster_state').delete());
    await sealRollups(store, epoch, now, limits);
    assert.deepEqual(await rowsOf(), [
      [-1, 'sealed', 0, minuteMs],
      [0, 'open', 0, minuteMs],
    ]);
    for (const row of await readRows(store, 'select * from rollups where cronjob_id = ?', [cronJob.id])) {
      for (const [counter, count] of Object.entries(others)) assert.equal(Number(row[counter]), count, counter);
    }
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: yesterday + minuteMs, finishedAt: yesterday + 3 * minuteMs }),
    ]);
    assert.deepEqual(await rowsOf(), [
      [-1, 'sealed', 1, 2 * minuteMs],
      [0, 'open', 0, minuteMs],
    ]);
    assert.equal((await sealRollups(store, epoch, now, limits)).recomputed, 1);
    assert.deepEqual(await rowsOf(), [
      [-1, 'sealed', 0, 2 * minuteMs],
      [0, 'open', 0, minuteMs],
    ]);
  });

  test('a pass asks for new days only once', async ({ store, epoch }) => {
    await sealRollups(store, epoch, nextDay, limits);
    assert.equal(await findClusterState(store, 'rollupsSealedThrough'), today);
    assert.deepEqual(await sealRollups(store, epoch, nextDay, limits), {
      sealed: 0,
      recomputed: 0,
      compared: 0,
      different: [],
      completed: true,
    });
  });

  test('a day whose rows are pruned keeps its counts and its sketch', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const old = now - 40 * dayMs;
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: old }),
      aRun(cronJob, { createdAt: old + minuteMs, status: 'failed' }),
      aRun(cronJob),
    ]);
    await store.fenced(epoch, (tx) => tx.sql('cluster_state').delete());
    await sealRollups(store, epoch, now, limits);
    const before = now - 30 * dayMs;
    await pruneHistory(store, { before, cronJobIds: [cronJob.id], budgetMs: 60_000, epoch });
    await store.sql('rollups').where({ cronjob_id: cronJob.id }).update({ dirty: 1 });
    await sealRollups(store, epoch, now, limits);
    const [row] = await readRows(store, 'select * from rollups where cronjob_id = ? order by day', [cronJob.id]);
    assert.deepEqual(
      [row?.['success'], row?.['failed'], row?.['duration_n'], row?.['dirty']].map(Number),
      [1, 1, 1, 0],
    );
    assert.ok(row?.['sketch'] instanceof Uint8Array);
    const shift = await measureDurationShift(store, [cronJob.id], { now, baselineWindowMs: 14 * dayMs });
    assert.deepEqual(shift.get(cronJob.id)?.recentMs, [minuteMs], 'what is pruned is no recent run');
  });

  test('figures that are wrong are found by the nightly comparison, told, and mended', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now - dayMs })]);
    await store.fenced(epoch, (tx) => tx.sql('cluster_state').delete());
    await sealRollups(store, epoch, now, limits);
    const day = today - 1;
    await store.sql('rollups').where({ cronjob_id: cronJob.id, day }).update({ success: 7 });
    // The night that has this day in its hundredth.
    let night = nextDay;
    while (Math.floor(night / dayMs) % 100 !== (cronJob.id + day) % 100) night += dayMs;
    const found = await sealRollups(store, epoch, night, limits);
    assert.deepEqual(found.different, [{ cronJobId: cronJob.id, day }]);
    assert.ok(found.compared >= 1);
    const success = (): Promise<number> =>
      readNumber(store, 'select success as n from rollups where cronjob_id = ? and day = ?', [cronJob.id, day]);
    assert.equal(await success(), 7);
    assert.equal((await sealRollups(store, epoch, night, limits)).recomputed, 1);
    assert.equal(await success(), 1);
  });

  test('a pass without time leaves the rest to the next one', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now - 3 * dayMs })]);
    await store.fenced(epoch, (tx) => tx.sql('cluster_state').delete());
    assert.equal((await sealRollups(store, epoch, now, { budgetMs: -1 })).completed, false);
    assert.equal(await findClusterState(store, 'rollupsSealedThrough'), undefined);
    assert.equal((await sealRollups(store, epoch, now, limits)).completed, true);
  });

  test('a history that was deleted is not sealed into being', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now - 3 * dayMs })]);
    await store.sql('rollups').where({ cronjob_id: cronJob.id }).update({ dirty: 1 });
    await deleteHistory(store, cronJob, limits);
    await store.fenced(epoch, (tx) => projectCronJob(tx, seen(cronJob)));
    await sealRollups(store, epoch, now, limits);
    assert.equal(await readNumber(store, 'select count(*) as n from rollups where cronjob_id = ?', [cronJob.id]), 0);
  });
});

function decodeSketchOf(durations: readonly number[]): ReturnType<typeof sketchOf> {
  const { zeros, buckets } = sketchOf(durations);
  return { zeros, buckets: new Map([...buckets].sort(([a], [b]) => a - b)) };
}
