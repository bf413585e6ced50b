import { dayOf, type FailuresInRow, type Instant } from '../../domain/index.ts';
import type { Db } from '../database.ts';
import { listJudgedRuns, type JudgedRunRow } from '../facts/list-runs.ts';
import { measureLastDurations, type LastDurations } from '../facts/measure-last-durations.ts';
import { measureLongestOfDays } from '../facts/measure-longest-runs.ts';

/** Reads something of CronJobs by their ids; one of which nothing is found is missing. */
type ReadOf<T> = (ids: readonly number[]) => Promise<ReadonlyMap<number, T | undefined>>;

/** What the ended runs of CronJobs say of their next ones. */
export interface EndedRuns {
  /** No run of late took longer, in ms. */
  readonly longestMs: ReadOf<number>;
  /** Of the last 20 scheduled successes: what grew within weeks is as long as it is now. */
  readonly durations: ReadOf<LastDurations>;
  /** How many of the newest scheduled runs failed in the same way; 0 when the newest succeeded. Ten count as ten or more. */
  readonly alike: ReadOf<FailuresInRow['alike']>;
}

/** Runs whose durations are asked for. */
const usualRuns = 20;
/** The longest run of so many days bounds what runs take. */
const daysOfDurations = 35;
/** Failures in a row are counted up to so many. */
const mostInRow = 10;

/** `keep` may answer from what was read before. */
export function readEndedRuns(
  db: Db,
  now: () => Instant,
  keep: <T>(read: (ids: readonly number[]) => Promise<ReadonlyMap<number, T>>) => ReadOf<T> = (read) => read,
): EndedRuns {
  return {
    longestMs: keep((ids) => measureLongestOfDays(db, ids, dayOf(now()) - daysOfDurations)),
    durations: keep((ids) => measureLastDurations(db, ids, usualRuns)),
    alike: keep(async (ids) => {
      const runs = await listJudgedRuns(db, ids, { count: mostInRow, includeManual: false });
      return new Map([...runs].map(([id, newestFirst]) => [id, countAlike(newestFirst)]));
    }),
  };
}

/** How many of the newest failed in the same way. */
function countAlike(newestFirst: readonly JudgedRunRow[]): number {
  const [newest] = newestFirst;
  const other = newestFirst.findIndex(
    ({ status, exitCode, reason }) => status !== 'failed' || exitCode !== newest?.exitCode || reason !== newest?.reason,
  );
  return other === -1 ? newestFirst.length : other;
}
