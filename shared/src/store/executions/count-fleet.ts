import type { SlotCounts } from '../../contract/index.ts';
import { slotOutcomes } from '../../contract/vocabulary.ts';
import type { Instant } from '../../domain/index.ts';
import { firstRow, marks, rows } from '../ask.ts';
import { rowsOfFleet } from '../bounded-reads.ts';
import type { Db } from '../database.ts';
import { flagBits, outcomeWords, statusWords, triggerWords } from '../words.ts';

interface FleetFigures {
  /** Runs that ended in it. */
  readonly ended: number;
  /** Scheduled runs created in it. */
  readonly success: number;
  readonly failed: number;
  /** Expected runs that were due in it. */
  readonly slots: SlotCounts;
}

/**
 * Figures of all CronJobs with kept history, removed ones included, in [from, now]. A run counts as late when its Job was created more than
 * `lateAfterMs` after the instant it was due.
 */
export async function countFleet(
  db: Db,
  asked: { readonly from: Instant; readonly namespaces: readonly string[]; readonly lateAfterMs: number },
): Promise<FleetFigures> {
  const [ended, { success, failed, matched, late }, unmatched] = await Promise.all([
    countEnded(db, asked),
    countRuns(db, asked),
    countUnmatched(db, asked),
  ]);
  const counts = new Map<string, number>([['matched', matched], ['late', late], ...unmatched]);
  const slots = Object.fromEntries(slotOutcomes.map((outcome) => [outcome, counts.get(outcome) ?? 0]));
  return { ended, success, failed, slots: slots as SlotCounts };
}

interface Asked {
  readonly from: Instant;
  readonly namespaces: readonly string[];
  readonly lateAfterMs: number;
}

/** A condition on the CronJob's row `c`. */
function withinOf(namespaces: readonly string[]): string {
  return namespaces.length > 0 ? ` and c.namespace in (${marks(namespaces)})` : '';
}

/** By the index that ends with the end of a run: one short range for each CronJob and status. */
async function countEnded(db: Db, { from, namespaces }: Asked): Promise<number> {
  const statuses = statusWords.all.map((word) => statusWords.toNumber(word)).join(', ');
  const row = await firstRow(
    db,
    'select count(*) as n from cronjobs c join executions e on e.cronjob_id = c.id ' +
      `and e.status in (${statuses}) and e.finished_at >= ? where c.id > 0${withinOf(namespaces)}`,
    [from, ...namespaces],
  );
  return Number(row?.['n'] ?? 0);
}

interface RunCounts {
  readonly success: number;
  readonly failed: number;
  /** Expected runs that a run answers are not slots of their own: they are told from the run. */
  readonly matched: number;
  readonly late: number;
}

/**
 * All of it in one pass over the runs of the window. What is counted stands in the sums and not among the conditions: how many rows
 * pass a test of bits no database can guess, and one that guesses too few joins and sorts them one by one. A run never outlives the row of
 * its CronJob: the whole fleet needs no look at it.
 */
async function countRuns(db: Db, { from, namespaces, lateAfterMs }: Asked): Promise<RunCounts> {
  const sum = (condition: string): string => `sum(case when ${condition} then 1 else 0 end)`;
  const counted = (status: 'success' | 'failed'): string =>
    sum(
      `e.status = ${statusWords.toNumber(status)} and e."trigger" = ${triggerWords.toNumber('scheduled')} ` +
        `and (e.flags & ${flagBits.inMaintenance}) = 0`,
    );
  const found = await rowsOfFleet(
    db,
    (condition) =>
      `select ${counted('success')} as n_success, ${counted('failed')} as n_failed, ${sum('e.scheduled_at >= ?')} as n_matched, ` +
      `${sum('e.scheduled_at >= ? and e.created_at - e.scheduled_at > ?')} as n_late ` +
      `from executions e where e.created_at >= ?${condition}`,
    [from, from, lateAfterMs, from],
    namespaces,
  );
  const count = (name: string): number => found.reduce((all, row) => all + Number(row[name] ?? 0), 0);
  const late = count('n_late');
  return { success: count('n_success'), failed: count('n_failed'), matched: count('n_matched') - late, late };
}

async function countUnmatched(db: Db, { from, namespaces }: Asked): Promise<[string, number][]> {
  const found = await rows(
    db,
    'select s.outcome, count(*) as n from slots s join cronjobs c on c.id = s.cronjob_id ' +
      `where s.slot_at >= ?${withinOf(namespaces)} group by s.outcome`,
    [from, ...namespaces],
  );
  return found.map((row) => [outcomeWords.toWord(row['outcome']), Number(row['n'])]);
}
