import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { isFailed } from './run-conditions.ts';

/** Of which CronJob failures are counted, and from which end on. */
interface FailuresSince {
  readonly cronJobId: number;
  readonly sinceAt: Instant;
}

/** How many runs of each of these failed since; 0 for what was not asked. Each piece reads one index range: few CronJobs are asked. */
export async function countFailures(db: Db, asked: readonly FailuresSince[]): Promise<(of: FailuresSince) => number> {
  const counts = new Map<string, number>();
  for (const part of inParts(asked, 100)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as piece, count(*) as n from executions where cronjob_id = ? and ${isFailed} and finished_at >= ?`,
    );
    const bindings = part.flatMap(({ cronJobId, sinceAt }) => [cronJobId, sinceAt]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const of = part[Number(row['piece'])];
      if (of) counts.set(keyOf(of), Number(row['n']));
    }
  }
  return (of) => counts.get(keyOf(of)) ?? 0;
}

const keyOf = ({ cronJobId, sinceAt }: FailuresSince): string => `${cronJobId} ${sinceAt}`;
