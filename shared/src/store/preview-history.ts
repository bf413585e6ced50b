import type { Instant } from '../domain/index.ts';
import type { PreviewedRun, PreviewedSlot } from '../domain/preview/index.ts';
import { inParts, marks, rows, type Row } from './ask.ts';
import { optionalNumber } from './column.ts';
import type { Db } from './database.ts';
import { toFault } from './fault-columns.ts';
import { listRunFacts, type FactValues } from './executions/run-facts.ts';
import { readRun } from './executions/execution-row.ts';
import { causeWords, flagBits, outcomeWords, statusWords } from './words.ts';

/** Stored history of one CronJob since an instant. */
export interface StoredHistory {
  /** By creation. */
  readonly runs: readonly PreviewedRun[];
  readonly slots: readonly PreviewedSlot[];
  /** End of the newest success that was created before; undefined: no success is stored. */
  readonly lastSuccessBeforeAt: Instant | undefined;
}

/**
 * Runs and expected runs of these CronJobs from `from` on, at most so many rows of each in all; `isWhole` false: there were more, and the
 * CronJobs that came last lack some. One without anything is absent.
 */
export async function readHistories(
  db: Db,
  cronJobIds: readonly number[],
  wanted: { readonly from: Instant; readonly mostRows: number },
): Promise<{ readonly of: ReadonlyMap<number, StoredHistory>; readonly isWhole: boolean }> {
  const { from, mostRows } = wanted;
  const runs = new Map<number, PreviewedRun[]>();
  const slots = new Map<number, PreviewedSlot[]>();
  const before = new Map<number, Instant>();
  let [runRows, slotRows] = [0, 0];
  for (const ids of inParts(cronJobIds, 50)) {
    const list = marks(ids);
    const left = (read: number): string => ` limit ${Math.max(0, mostRows + 1 - read)}`;
    const foundRuns = await rows(
      db,
      `select e.cronjob_id, c.name as cronjob_name, e.job_uid, e.job_name, e."trigger", e.scheduled_at, e.created_at, e.started_at, ` +
        'e.finished_at, e.status, e.duration_ms, e.exit_code, e.reason, e.job_reason, e.flags, e.cause, e.scope from executions e ' +
        `join cronjobs c on c.id = e.cronjob_id where e.cronjob_id in (${list}) and e.created_at >= ? ` +
        `order by e.cronjob_id, e.created_at${left(runRows)}`,
      [...ids, from],
    );
    runRows += foundRuns.length;
    const facts = await listRunFacts(db, foundRuns);
    for (const row of foundRuns) add(runs, row, toRun(db, row, facts));
    const foundSlots = await rows(
      db,
      'select cronjob_id, slot_at, outcome, coalesce(cause, -1) as cause, decided_at from slots ' +
        `where cronjob_id in (${list}) and slot_at >= ? order by cronjob_id, slot_at${left(slotRows)}`,
      [...ids, from],
    );
    slotRows += foundSlots.length;
    for (const row of foundSlots) add(slots, row, toSlot(row));
    const newest = await rows(
      db,
      `select cronjob_id, max(finished_at) as at_ms from executions where cronjob_id in (${list}) ` +
        `and status = ${statusWords.toNumber('success')} and created_at < ? group by cronjob_id`,
      [...ids, from],
    );
    for (const row of newest) {
      const at = optionalNumber(row['at_ms']);
      if (at !== undefined) before.set(Number(row['cronjob_id']), at);
    }
  }
  const of = new Map<number, StoredHistory>();
  for (const id of cronJobIds) {
    const history = { runs: runs.get(id) ?? [], slots: slots.get(id) ?? [], lastSuccessBeforeAt: before.get(id) };
    if (history.runs.length + history.slots.length > 0 || history.lastSuccessBeforeAt !== undefined)
      of.set(id, history);
  }
  return { of, isWhole: runRows <= mostRows && slotRows <= mostRows };
}

function add<T>(to: Map<number, T[]>, row: Row, value: T): void {
  const id = Number(row['cronjob_id']);
  const list = to.get(id);
  if (list) list.push(value);
  else to.set(id, [value]);
}

function toRun(db: Db, row: Row, facts: ReadonlyMap<string, FactValues>): PreviewedRun {
  const run = readRun(db, row);
  const isUnknown = (Number(row['flags']) & (flagBits.factsUnknown | flagBits.inferred)) !== 0;
  return {
    ...run,
    fault: toFault(row),
    values: isUnknown ? undefined : (facts.get(run.jobUid) ?? new Map()),
  };
}

function toSlot(row: Row): PreviewedSlot {
  const cause = Number(row['cause']);
  return {
    at: Number(row['slot_at']),
    outcome: outcomeWords.toWord(row['outcome']),
    cause: cause === -1 ? undefined : causeWords.toWord(cause),
    decidedAt: Number(row['decided_at']),
  };
}
