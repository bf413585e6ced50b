import {
  countedDurationMs,
  counterOf,
  encodeSketch,
  sketchOf,
  startOfDay,
  type RunCounter,
} from '../../domain/index.ts';
import { marks, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Tx } from '../database.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { counters, type Figures } from './stored-day.ts';

/** What a run adds to its day. */
type CountedRun = Parameters<typeof counterOf>[0] & Parameters<typeof countedDurationMs>[0];

/** The runs of one day that are kept, by CronJob. */
export async function listRunsOfDay(
  tx: Tx,
  day: number,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly CountedRun[]>> {
  const found = await rows(
    tx,
    `select cronjob_id, status, "trigger", flags, duration_ms from executions
     where cronjob_id in (${marks(cronJobIds)}) and created_at >= ? and created_at < ?`,
    [...cronJobIds, startOfDay(day), startOfDay(day + 1)],
  );
  const runs = new Map<number, CountedRun[]>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const list = runs.get(id) ?? [];
    runs.set(id, list);
    list.push({
      status: statusWords.toWord(row['status']),
      trigger: triggerWords.toWord(row['trigger']),
      inMaintenance: (Number(row['flags']) & flagBits.inMaintenance) !== 0,
      durationMs: optionalNumber(row['duration_ms']),
    });
  }
  return runs;
}

/** The figures of a day, computed from its runs. */
export function figuresOf(runs: readonly CountedRun[]): Figures {
  const counts: Record<RunCounter, number> = {
    success: 0,
    failed: 0,
    replaced: 0,
    deleted: 0,
    unobserved: 0,
    manual: 0,
  };
  let [durationN, durationSum] = [0, 0];
  let [durationMin, durationMax]: (number | undefined)[] = [];
  for (const run of runs) {
    const counter = counterOf(run);
    if (counter !== undefined) counts[counter]++;
    const durationMs = countedDurationMs(run);
    if (durationMs === undefined) continue;
    durationN++;
    durationSum += durationMs;
    durationMin = Math.min(durationMin ?? durationMs, durationMs);
    durationMax = Math.max(durationMax ?? durationMs, durationMs);
  }
  return { counts, durationN, durationSum, durationMin, durationMax };
}

export function sameFigures(a: Figures, b: Figures): boolean {
  return (
    counters.every((counter) => a.counts[counter] === b.counts[counter]) &&
    a.durationN === b.durationN &&
    a.durationSum === b.durationSum &&
    a.durationMin === b.durationMin &&
    a.durationMax === b.durationMax
  );
}

/** Undefined for a day without a duration. */
export function sketchOfRuns(runs: readonly CountedRun[]): Uint8Array | undefined {
  const durations = runs.flatMap((run) => countedDurationMs(run) ?? []);
  return durations.length === 0 ? undefined : encodeSketch(sketchOf(durations));
}
