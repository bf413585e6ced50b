import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsReach } from '../detect/facts-reach.ts';
import { nearestRank } from '../stats/percentile.ts';
import { dayMs, dayOf, minuteMs } from '../duration.ts';
import { ShiftOverTime } from './shift-over-time.ts';

const startAt = Date.UTC(2026, 10, 1);

type Success = readonly [createdAt: number, finishedAt: number, durationMs: number];

/** The same from its definition, with the whole history each time. */
function defined(all: readonly Success[], now: number, windowDays: number): ReturnType<ShiftOverTime['at']> {
  const newestFirst = all.toReversed().slice(0, 5_000);
  const inLastDay = newestFirst.filter(([, finishedAt]) => finishedAt > now - dayMs).length;
  const recent = newestFirst.slice(0, Math.max(factsReach.recentRuns, inLastDay));
  const sinceDay = Math.min(dayOf(now - dayMs), dayOf(recent[factsReach.recentRuns - 1]?.[0] ?? now)) - windowDays;
  const rising = newestFirst
    .slice(recent.length)
    .filter(([createdAt], index) => index < factsReach.baselineRuns || dayOf(createdAt) >= sinceDay)
    .map(([, , durationMs]) => durationMs)
    .sort((a, b) => a - b);
  const rank = (p: number): number => nearestRank(rising, p) ?? 0;
  return {
    recentMs: recent.map(([, , durationMs]) => durationMs),
    newestEndAt: newestFirst[0]?.[1],
    baseline: { runs: rising.length, p25: rank(0.25), p75: rank(0.75), p95: rank(0.95) },
  };
}

for (const [gapMs, runs, windowDays] of [
  [dayMs, 60, 14],
  [61 * minuteMs, 900, 3],
  [5 * minuteMs, 6_000, 14],
] as const)
  test(`the baseline that is carried on is the one that is computed anew, with a run each ${gapMs / minuteMs} min`, () => {
    const shift = new ShiftOverTime();
    const all: Success[] = [];
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    for (let index = 0; index < runs; index++) {
      // Pauses in between, and runs that overlap.
      const finishedAt = Math.max(all.at(-1)?.[1] ?? 0, startAt + index * gapMs + (index > runs / 2 ? 9 * dayMs : 0));
      const durationMs = Math.ceil(random() * 3 * gapMs);
      all.push([finishedAt - durationMs, finishedAt, durationMs]);
      shift.learn(finishedAt - durationMs, finishedAt, durationMs);
      const isAsked = runs < 2_000 || index % 97 < 3;
      for (const now of isAsked ? [finishedAt, finishedAt + gapMs / 2] : [])
        assert.deepEqual(shift.at(now, windowDays * dayMs), defined(all, now, windowDays), `run ${index}, seed 7`);
    }
  });
