import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { statusWords } from '../words.ts';
import { isFailed } from './read-any-of.ts';

/** Of which CronJob failures are counted, and from which end on. */
interface FailuresSince {
  readonly cronJobId: number;
  readonly sinceAt: Instant;
}

/** How many runs did not succeed. */
interface Unsuccessful {
  readonly failed: number;
  /** Replaced or deleted before their end. */
  readonly stopped: number;
}

/**
 * How many runs of each of these did not succeed since; none for what was not asked. Each piece reads one index range: few CronJobs are
 * asked.
 */
export async function countFailures(
  db: Db,
  asked: readonly FailuresSince[],
): Promise<(of: FailuresSince) => Unsuccessful> {
  const counts = new Map<string, Unsuccessful>();
  const stopped = [statusWords.toNumber('replaced'), statusWords.toNumber('deleted')].join(', ');
  for (const part of inParts(asked, 100)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as piece, sum(case when ${isFailed} then 1 else 0 end) as n_failed, ` +
        `sum(case when status in (${stopped}) then 1 else 0 end) as n_stopped ` +
        'from executions where cronjob_id = ? and status <> 0 and finished_at >= ?',
    );
    const bindings = part.flatMap(({ cronJobId, sinceAt }) => [cronJobId, sinceAt]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const of = part[Number(row['piece'])];
      if (of) counts.set(keyOf(of), { failed: Number(row['n_failed']), stopped: Number(row['n_stopped']) });
    }
  }
  return (of) => counts.get(keyOf(of)) ?? { failed: 0, stopped: 0 };
}

const keyOf = ({ cronJobId, sinceAt }: FailuresSince): string => `${cronJobId} ${sinceAt}`;
