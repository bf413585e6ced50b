import type { SlotCounts } from '../contract/index.ts';
import {
  type ExecutionStatus,
  type SlotCause,
  type SlotOutcome,
  slotOutcomes,
  suspendedJob,
} from '../contract/vocabulary.ts';
import type { Instant } from '../domain/index.ts';
import { firstRow, inParts, marks, type Row, rows } from './ask.ts';
import { numberOfPart, optionalNumber, optionalText } from './column.ts';
import type { Db } from './database.ts';
import { mostClockLeadMs } from './executions/recorded-jobs.ts';
import { fullJobName } from './executions/short-text.ts';
import { causeWords, flagBits, outcomeWords, statusWords } from './words.ts';

const maintenanceBit = flagBits.inMaintenance;

/** An expected run and what became of it. */
export interface KnownSlot {
  readonly at: Instant;
  readonly outcome: SlotOutcome;
  readonly cause: SlotCause | undefined;
  readonly message: string | undefined;
  readonly inMaintenance: boolean;
  /** From here on undefined without a Job. */
  readonly jobName: string | undefined;
  /** Undefined too while the Job runs. */
  readonly status: ExecutionStatus | undefined;
  readonly createdAt: Instant | undefined;
  readonly startedAt: Instant | undefined;
  readonly durationMs: number | undefined;
}

/** Expected runs of one name, earlier objects included, due in [since, until). */
export interface SlotFilter {
  readonly cronJobIds: readonly number[];
  readonly since: Instant;
  readonly until: Instant;
  /** Empty: every outcome. */
  readonly outcomes: readonly SlotOutcome[];
  /** A run whose Job was created later than this after its slot is `late`. */
  readonly lateAfterMs: number;
}

/** How many expected runs had which outcome, whatever `outcomes` says. */
export async function countSlots(db: Db, filter: SlotFilter): Promise<SlotCounts> {
  const counts = new Map<SlotOutcome, number>();
  if (filter.cronJobIds.length > 0) {
    const ids = marks(filter.cronJobIds);
    const window = [...filter.cronJobIds, filter.since, filter.until];
    const matched = await firstRow(
      db,
      `select count(*) as n, sum(case when created_at - scheduled_at > ? then 1 else 0 end) as n_late from executions ` +
        `where cronjob_id in (${ids}) and created_at >= ? and scheduled_at >= ? and scheduled_at < ?`,
      [filter.lateAfterMs, ...filter.cronJobIds, filter.since - mostClockLeadMs, filter.since, filter.until],
    );
    const running = await firstRow(
      db,
      `select count(*) as n, sum(case when created_at - scheduled_at > ? then 1 else 0 end) as n_late from active_jobs ` +
        `where cronjob_id in (${ids}) and scheduled_at >= ? and scheduled_at < ?`,
      [filter.lateAfterMs, ...window],
    );
    const sum = (column: string) => Number(matched?.[column] ?? 0) + Number(running?.[column] ?? 0);
    const late = sum('n_late');
    counts.set('late', late).set('matched', sum('n') - late);
    const others = await rows(
      db,
      `select outcome, count(*) as n from slots where cronjob_id in (${ids}) and slot_at >= ? and slot_at < ? group by outcome`,
      window,
    );
    for (const row of others) counts.set(outcomeWords.toWord(row['outcome']), Number(row['n']));
  }
  return Object.fromEntries(slotOutcomes.map((outcome) => [outcome, counts.get(outcome) ?? 0])) as SlotCounts;
}

/** Expected runs by the instant they were due. */
export async function listSlots(
  db: Db,
  filter: SlotFilter,
  options: { readonly descending: boolean; readonly page: { readonly limit: number; readonly offset: number } },
): Promise<KnownSlot[]> {
  if (filter.cronJobIds.length === 0) return [];
  const pieces = [runPiece(filter, ended), runPiece(filter, running), slotPiece(filter)];
  const sql = pieces.map((piece) => piece.sql).join(' union all ');
  const bindings = pieces.flatMap((piece) => piece.bindings);
  const order = options.descending ? ' desc' : '';
  const found = await rows(db, `select * from (${sql}) s order by at_ms${order}, job_name limit ? offset ?`, [
    ...bindings,
    options.page.limit,
    options.page.offset,
  ]);
  return found.map((row) => toKnownSlot(row, filter.lateAfterMs));
}

interface Piece {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** Runs that have ended, found by the order in which they were created. */
const ended = {
  from: 'executions',
  message: "''",
  columns: 'e.flags as flags, c.name as cronjob_name, e.job_name, e.status, e.created_at, e.started_at, e.duration_ms',
  condition: ' and e.created_at >= ?',
} as const;
/** Those whose Job still runs: they are few, and have no outcome of their own yet. */
const running = {
  from: 'active_jobs',
  message: `case when e.waiting_reason = '${suspendedJob}' then 'Its Job is suspended (spec.suspend)' else '' end`,
  columns:
    '0 as flags, c.name as cronjob_name, e.job_name, -1 as status, e.created_at, e.started_at, -1 as duration_ms',
  condition: '',
} as const;

/** Expected runs that a run answers: told from the run. Outcome and cause are -1, since a bare null has no type. */
function runPiece(
  { cronJobIds, since, until, outcomes, lateAfterMs }: SlotFilter,
  { from, message, columns, condition }: typeof ended | typeof running,
): Piece {
  const wanted =
    outcomes.length === 0 ? ['matched', 'late'] : outcomes.filter((word) => word === 'matched' || word === 'late');
  const lateness =
    wanted.length === 2 ? '' : ` and e.created_at - e.scheduled_at ${wanted[0] === 'late' ? '>' : '<='} ?`;
  return {
    sql:
      `select e.scheduled_at as at_ms, -1 as outcome, -1 as cause, ${message} as message, ${columns} ` +
      `from ${from} e join cronjobs c on c.id = e.cronjob_id ` +
      `where e.cronjob_id in (${marks(cronJobIds)})${condition} and e.scheduled_at >= ? and e.scheduled_at < ?` +
      (wanted.length === 0 ? ' and 1 = 0' : lateness),
    bindings: [
      ...cronJobIds,
      ...(condition === '' ? [] : [since - mostClockLeadMs]),
      since,
      until,
      ...(wanted.length === 1 ? [lateAfterMs] : []),
    ],
  };
}

/** All other expected runs; a Job that came too late to count may still be known. */
function slotPiece({ cronJobIds, since, until, outcomes }: SlotFilter): Piece {
  const wanted = outcomes.filter((word) => word !== 'matched' && word !== 'late');
  const numbers = wanted.map((word) => outcomeWords.toNumber(word));
  const condition =
    outcomes.length === 0 ? '' : numbers.length === 0 ? ' and 1 = 0' : ` and s.outcome in (${marks(numbers)})`;
  return {
    sql:
      `select s.slot_at as at_ms, s.outcome, coalesce(s.cause, -1) as cause, coalesce(s.message, '') as message, ` +
      `s.in_maintenance * ${maintenanceBit} as flags, c.name as cronjob_name, coalesce(e.job_name, '') as job_name, ` +
      'coalesce(e.status, -1) as status, e.created_at, e.started_at, e.duration_ms from slots s ' +
      'join cronjobs c on c.id = s.cronjob_id left join executions e on e.job_uid = s.job_uid ' +
      `where s.cronjob_id in (${marks(cronJobIds)}) and s.slot_at >= ? and s.slot_at < ?${condition}`,
    bindings: [...cronJobIds, since, until, ...numbers],
  };
}

function toKnownSlot(row: Row, lateAfterMs: number): KnownSlot {
  const outcome = numberOfPart(row['outcome']);
  const cause = numberOfPart(row['cause']);
  const status = numberOfPart(row['status']);
  const at = Number(row['at_ms']);
  const createdAt = optionalNumber(row['created_at']);
  const isLate = createdAt !== undefined && createdAt - at > lateAfterMs;
  const jobName = optionalText(row['job_name']);
  return {
    at,
    outcome: outcome === undefined ? (isLate ? 'late' : 'matched') : outcomeWords.toWord(outcome),
    cause: cause === undefined ? undefined : causeWords.toWord(cause),
    message: row['message'] === '' ? undefined : optionalText(row['message']),
    inMaintenance: (Number(row['flags']) & maintenanceBit) !== 0,
    jobName: jobName ? fullJobName(jobName, String(row['cronjob_name'])) : undefined,
    status: status === undefined ? undefined : statusWords.toWord(status),
    createdAt,
    startedAt: optionalNumber(row['started_at']),
    durationMs: numberOfPart(row['duration_ms']),
  };
}

/** CronJobs of one statement: each is a piece of it. */
const cronJobsPerStatement = 250;

/** The newest `count` expected runs of each CronJob that never started, newest first. A CronJob without any is absent. */
export async function listMissedSlots(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
): Promise<ReadonlyMap<number, readonly Instant[]>> {
  const found = new Map<number, Instant[]>();
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    const pieces = ids.map(
      (_, index) =>
        `select * from (select cronjob_id, slot_at from slots where cronjob_id = ? and outcome = ${outcomeWords.toNumber('missed')} ` +
        `order by slot_at desc limit ${Math.floor(count)}) s${index}`,
    );
    for (const row of await rows(db, pieces.join(' union all '), ids)) {
      const id = Number(row['cronjob_id']);
      found.set(id, [...(found.get(id) ?? []), Number(row['slot_at'])]);
    }
  }
  for (const slots of found.values()) slots.sort((a, b) => b - a);
  return found;
}
