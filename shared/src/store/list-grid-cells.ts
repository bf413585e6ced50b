import type { ExecutionStatus, ExecutionTrigger, SlotOutcome } from '../contract/index.ts';
import type { Instant } from '../domain/index.ts';
import { inParts, marks, rows, type Row } from './ask.ts';
import { optionalText, numberOfPart } from './column.ts';
import type { Db } from './database.ts';
import { fullJobName } from './executions/short-text.ts';
import { toOutcome } from './executions/list-recent-runs.ts';
import { outcomeWords, statusWords, triggerWords } from './words.ts';

/** A run, or an expected run that came to nothing. */
export interface Cell {
  readonly at: Instant;
  /** Undefined for a run that no expected run asked for. */
  readonly outcome: SlotOutcome | undefined;
  /** From here on undefined without a Job. */
  readonly jobName: string | undefined;
  readonly status: ExecutionStatus | undefined;
  readonly trigger: ExecutionTrigger | undefined;
  readonly durationMs: number | undefined;
}

export interface CellWindow {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
  readonly lateAfterMs: number;
}

/** CronJobs of one statement: each is two pieces of it. */
const cronJobsPerStatement = 100;

/** The newest `most` cells of each CronJob in a window, oldest first. */
export async function listGridCells(
  db: Db,
  cronJobIds: readonly number[],
  window: CellWindow,
  most: number,
): Promise<ReadonlyMap<number, readonly Cell[]>> {
  const cells = new Map<number, Cell[]>();
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    // What a piece does not have is -1, since a bare null has no type that the other pieces could share.
    const pieces = ids.flatMap((_, index) => [
      'select * from (select e.cronjob_id, coalesce(e.scheduled_at, e.created_at) as at_ms, e.scheduled_at, e.created_at, e.status, ' +
        'e."trigger", e.duration_ms, e.job_name, c.name as cronjob_name, -1 as outcome from executions e ' +
        'join cronjobs c on c.id = e.cronjob_id where e.cronjob_id = ? and e.created_at >= ? and e.created_at < ? ' +
        `order by e.created_at desc, e.job_uid limit ?) e${index}`,
      'select * from (select cronjob_id, slot_at as at_ms, -1 as scheduled_at, -1 as created_at, -1 as status, -1 as "trigger", ' +
        `-1 as duration_ms, '' as job_name, '' as cronjob_name, outcome from slots ` +
        `where cronjob_id = ? and slot_at >= ? and slot_at < ? order by slot_at desc limit ?) s${index}`,
    ]);
    const bindings = ids.flatMap((id) => [id, window.from, window.until, most, id, window.from, window.until, most]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const id = Number(row['cronjob_id']);
      const list = cells.get(id) ?? [];
      cells.set(id, list);
      list.push(toCell(row, window.lateAfterMs));
    }
  }
  for (const [id, list] of cells)
    cells.set(
      id,
      list
        .reverse()
        .sort((a, b) => a.at - b.at)
        .slice(-most),
    );
  return cells;
}

/** How many cells each CronJob has in a window, by what became of them; `none` are runs that no expected run asked for. */
export async function countGridCells(
  db: Db,
  cronJobIds: readonly number[],
  window: CellWindow,
): Promise<ReadonlyMap<number, ReadonlyMap<SlotOutcome | 'none', number>>> {
  const counts = new Map<number, Map<SlotOutcome | 'none', number>>();
  const add = (id: number, outcome: SlotOutcome | 'none', count: number): void => {
    const ofOne = counts.get(id) ?? new Map<SlotOutcome | 'none', number>();
    counts.set(id, ofOne);
    if (count > 0) ofOne.set(outcome, count);
  };
  for (const ids of inParts(cronJobIds)) {
    const within = [...ids, window.from, window.until];
    const runs = await rows(
      db,
      'select cronjob_id, count(*) as n, sum(case when scheduled_at is null then 1 else 0 end) as n_none, ' +
        'sum(case when created_at - scheduled_at > ? then 1 else 0 end) as n_late from executions ' +
        `where cronjob_id in (${marks(ids)}) and created_at >= ? and created_at < ? group by cronjob_id`,
      [window.lateAfterMs, ...within],
    );
    for (const row of runs) {
      const id = Number(row['cronjob_id']);
      const [none, late] = [Number(row['n_none'] ?? 0), Number(row['n_late'] ?? 0)];
      add(id, 'none', none);
      add(id, 'late', late);
      add(id, 'matched', Number(row['n']) - none - late);
    }
    const slots = await rows(
      db,
      `select cronjob_id, outcome, count(*) as n from slots where cronjob_id in (${marks(ids)}) ` +
        'and slot_at >= ? and slot_at < ? group by cronjob_id, outcome',
      within,
    );
    for (const row of slots) add(Number(row['cronjob_id']), outcomeWords.toWord(row['outcome']), Number(row['n']));
  }
  return counts;
}

function toCell(row: Row, lateAfterMs: number): Cell {
  const outcome = numberOfPart(row['outcome']);
  const status = numberOfPart(row['status']);
  const trigger = numberOfPart(row['trigger']);
  const jobName = optionalText(row['job_name']);
  return {
    at: Number(row['at_ms']),
    outcome:
      outcome === undefined
        ? toOutcome(numberOfPart(row['scheduled_at']), numberOfPart(row['created_at']), lateAfterMs)
        : outcomeWords.toWord(outcome),
    jobName: jobName ? fullJobName(jobName, String(row['cronjob_name'])) : undefined,
    status: status === undefined ? undefined : statusWords.toWord(status),
    trigger: trigger === undefined ? undefined : triggerWords.toWord(trigger),
    durationMs: numberOfPart(row['duration_ms']),
  };
}
