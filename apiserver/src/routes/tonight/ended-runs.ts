import { dayOf, type FailuresInRow } from '@cronjob-monitor/shared/domain';
import {
  listJudgedRuns,
  measureLastDurations,
  measureLongestOfDays,
  type JudgedRunRow,
  type LastDurations,
} from '@cronjob-monitor/shared/store';
import type { ReadFacts } from '../../live/kept-facts.ts';
import type { RouteDeps } from '../deps.ts';

/** What the ended runs of CronJobs say of their next ones: the whole fleet is asked for it, so it is kept until another run has ended. */
export interface EndedRuns {
  /** No run of late took longer, in ms. */
  readonly longestMs: ReadFacts<number | undefined>;
  /** Of the last 100 scheduled successes. */
  readonly durations: ReadFacts<LastDurations | undefined>;
  /** How many of the newest scheduled runs failed in the same way; 0 when the newest succeeded. Ten count as ten or more. */
  readonly alike: ReadFacts<FailuresInRow['alike'] | undefined>;
}

/** Runs whose durations are asked for. */
const usualRuns = 100;
/** The longest run of so many days bounds what runs take. */
const daysOfDurations = 35;
/** Failures in a row are counted up to so many. */
const mostInRow = 10;

export function keepEndedRuns({ store, fleet, clock }: Pick<RouteDeps, 'store' | 'fleet' | 'clock'>): EndedRuns {
  return {
    longestMs: fleet.keep((ids) => measureLongestOfDays(store, ids, dayOf(clock.now()) - daysOfDurations)),
    durations: fleet.keep((ids) => measureLastDurations(store, ids, usualRuns)),
    alike: fleet.keep(async (ids) => {
      const runs = await listJudgedRuns(store, ids, { count: mostInRow, includeManual: false });
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
