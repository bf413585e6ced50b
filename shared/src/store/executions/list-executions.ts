import {
  type ExecutionStatus,
  executionStatuses,
  type ExecutionTrigger,
  type FailureCause,
} from '../../contract/vocabulary.ts';
import { dayMs, type Execution, type Instant, minuteMs } from '../../domain/index.ts';
import { firstRow, marks, type Row, rows } from '../ask.ts';
import { optionalText } from '../column.ts';
import { toFault } from '../fault-columns.ts';
import type { Db } from '../database.ts';
import { afterRow, type OrderKey, orderOf } from '../keyset.ts';
import { readRun } from './execution-row.ts';
import { mostClockLeadMs } from './recorded-jobs.ts';
import { type FactValues, listRunFacts } from './run-facts.ts';
import { fullJobNameSql } from './short-text.ts';
import { toTemplateHash } from '../templates.ts';
import { faultWords, flagBits, statusWords, triggerWords } from '../words.ts';

/** A recorded run with the evidence stored beside it. */
export interface StoredExecution extends Execution {
  readonly hasLogs: boolean;
  readonly hasEvents: boolean;
  /** Suggested fix, rendered. */
  readonly fix: string | undefined;
  /** Facts of the run's output, by name. */
  readonly facts: FactValues;
}

/** Runs of one name, earlier objects included. Instants are those of the Job's creation. */
export interface ExecutionFilter {
  /** Rows of the catalog that had the name. Empty: nothing is found. */
  readonly cronJobIds: readonly number[];
  readonly statuses?: readonly ExecutionStatus[];
  readonly triggers?: readonly ExecutionTrigger[];
  /** On whose side it is that they failed. */
  readonly causes?: readonly FailureCause[];
  /** Inclusive. */
  readonly since?: Instant | undefined;
  /** Exclusive. */
  readonly until?: Instant | undefined;
}

export type ExecutionSort = 'time' | 'duration' | 'status';

const columns = [
  'cronjob_id',
  'created_at',
  'job_uid',
  'scheduled_at',
  'started_at',
  'finished_at',
  'duration_ms',
  'exit_code',
  'attempts',
  'status',
  'trigger',
  'flags',
  'job_name',
  'reason',
  'job_reason',
  'failed_indexes',
  'retry_of',
  'node',
  'template_hash',
  'fix',
  'cause',
  'scope',
].map((column) => `e."${column}"`);
/** A page that begins further on is found by its keys: else every row before it is fetched to be skipped. */
const longOffset = 100;

const selection =
  `select ${columns.join(', ')}, c.uid_text as cronjob_uid, c.namespace, c.name as cronjob_name ` +
  'from executions e join cronjobs c on c.id = e.cronjob_id';

/** Worst first, as the contract lists them. */
const statusRank =
  'case e.status ' +
  executionStatuses.map((status, rank) => `when ${statusWords.toNumber(status)} then ${rank}`).join(' ') +
  ' end';

const byUid: OrderKey = { sql: 'e.job_uid' };
const orders: Readonly<Record<ExecutionSort, (descending: boolean) => readonly OrderKey[]>> = {
  time: (descending) => [{ sql: 'e.created_at', descending }, byUid],
  duration: (descending) => [{ sql: 'e.duration_ms', descending, nullable: true }, byUid],
  status: (descending) => [{ sql: statusRank, descending }, { sql: 'e.created_at', descending: true }, byUid],
};

/** The values of those keys in a run. */
function keysOf(db: Db, key: ExecutionSort, run: StoredExecution): readonly unknown[] {
  const uid = db.dialect.id16(run.jobUid);
  if (key === 'time') return [run.createdAt, uid];
  if (key === 'duration') return [run.durationMs ?? null, uid];
  return [executionStatuses.indexOf(run.status), run.createdAt, uid];
}

export async function countExecutions(db: Db, filter: ExecutionFilter): Promise<number> {
  if (filter.cronJobIds.length === 0) return 0;
  const { sql, bindings } = conditionOf(filter);
  const row = await firstRow(db, `select count(*) as n from executions e where ${sql}`, bindings);
  return Number(row?.['n'] ?? 0);
}

/** Recorded runs in the order asked for, newest first without one: a page, or so many after a run of the same order. */
export async function listExecutions(
  db: Db,
  filter: ExecutionFilter,
  options: {
    readonly sort?: { readonly key: ExecutionSort; readonly descending: boolean };
    readonly page: { readonly limit: number; readonly offset: number };
    readonly after?: StoredExecution | undefined;
  },
): Promise<StoredExecution[]> {
  if (filter.cronJobIds.length === 0) return [];
  const { sql, bindings } = conditionOf(filter);
  const { key, descending } = options.sort ?? { key: 'time', descending: true };
  const order = orders[key](descending);
  const after = options.after && afterRow(order, keysOf(db, key, options.after));
  if (key === 'time' && !after && options.page.offset >= longOffset && isByCreation(filter)) {
    return listFarPage(db, filter, descending, options.page);
  }
  const where = after ? `${sql} and ${after.sql}` : sql;
  const sorted = `order by ${orderOf(order)}`;
  const page = `where ${where} ${sorted} limit ? offset ?`;
  const paged =
    options.page.offset < longOffset
      ? `${selection} ${page}`
      : `${selection} join (select e.job_uid from executions e ${page}) p on p.job_uid = e.job_uid ${sorted}`;
  const found = await rows(db, paged, [
    ...bindings,
    ...(after?.bindings ?? []),
    options.page.limit,
    options.page.offset,
  ]);
  return toStoredExecutions(db, found);
}

/** Nothing but the index of creations says which runs these are. */
function isByCreation({ statuses = [], triggers = [], causes = [] }: ExecutionFilter): boolean {
  return statuses.length + triggers.length + causes.length === 0;
}

/** A page far on in the order of time: where it begins is found in the index of creations, and no row before it is fetched. */
async function listFarPage(
  db: Db,
  filter: ExecutionFilter,
  descending: boolean,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<StoredExecution[]> {
  const { sql, bindings } = conditionOf(filter);
  const from = `from executions e where ${sql}`;
  const start = await firstRow(
    db,
    `select e.created_at ${from} order by e.created_at${descending ? ' desc' : ''} limit 1 offset ?`,
    [...bindings, offset],
  );
  if (start === undefined) return [];
  const startAt = Number(start['created_at']);
  // Others may have been created in the same millisecond, on the page before.
  const before = await firstRow(db, `select count(*) as n ${from} and e.created_at ${descending ? '>' : '<'} ?`, [
    ...bindings,
    startAt,
  ]);
  const found = await rows(
    db,
    `${selection} where ${sql} and e.created_at ${descending ? '<=' : '>='} ? ` +
      `order by ${orderOf(orders.time(descending))} limit ? offset ?`,
    [...bindings, startAt, limit, offset - Number(before?.['n'])],
  );
  return toStoredExecutions(db, found);
}

/** Jobs are nearly always made so soon after they are due. */
const soonMs = dayMs;

/** The newest run of a Job's name, or the run of that UID; undefined: no such run is stored. */
export async function findExecution(
  db: Db,
  run: { readonly cronJobIds: readonly number[]; readonly jobName: string; readonly uid?: string | undefined },
): Promise<StoredExecution | undefined> {
  if (run.cronJobIds.length === 0) return undefined;
  const where = `${selection} where e.cronjob_id in (${marks(run.cronJobIds)}) and ${fullJobNameSql} = ?`;
  const newest = ' order by e.created_at desc, e.job_uid limit 1';
  const bindings = [...run.cronJobIds, run.jobName];
  if (run.uid !== undefined) {
    const uid = db.dialect.id16(run.uid.replace(/^inferred-/, ''));
    const row = await firstRow(db, `${where} and e.job_uid = ?${newest}`, [...bindings, uid]);
    return row && (await toStoredExecutions(db, [row]))[0];
  }
  const canonical = slotIn(run.jobName, bindings);
  const row =
    (canonical && (await firstRow(db, where + canonical.sql + newest, canonical.bindings))) ??
    (await firstRow(db, where + newest, bindings));
  return row && (await toStoredExecutions(db, [row]))[0];
}

/** The name that the CronJob controller gives says the minute a run is due: an index finds that. Any other name is looked for. */
function slotIn(jobName: string, before: readonly unknown[]): { sql: string; bindings: unknown[] } | undefined {
  const [, minutes] = /-([0-9]{1,12})$/.exec(jobName) ?? [];
  if (minutes === undefined) return undefined;
  const due = Number(minutes) * minuteMs;
  return {
    sql: ' and e.created_at between ? and ? and e.scheduled_at between ? and ?',
    bindings: [...before, due - mostClockLeadMs, due + soonMs, due, due + minuteMs - 1],
  };
}

/** A run by the names that CronJobs and alerts keep of it. */
export interface NamedRun {
  readonly cronJobId: number;
  readonly jobName: string;
}

/** The same of many runs: those that are named as the CronJob controller names them are one question, each other one is one more. */
export async function findNamedExecutions(
  db: Db,
  runs: readonly NamedRun[],
): Promise<ReadonlyMap<NamedRun, StoredExecution>> {
  const pieces = runs.flatMap((run, index) => {
    const slot = slotIn(run.jobName, [run.cronJobId, run.jobName]);
    if (slot === undefined) return [];
    const one = `${selection} where e.cronjob_id = ? and ${fullJobNameSql} = ?${slot.sql} order by e.created_at desc, e.job_uid limit 1`;
    return [{ index, sql: `select r${index}.*, ${index} as piece from (${one}) r${index}`, bindings: slot.bindings }];
  });
  const found = new Map<NamedRun, StoredExecution>();
  const asked =
    pieces.length === 0
      ? []
      : await rows(
          db,
          pieces.map(({ sql }) => sql).join(' union all '),
          pieces.flatMap(({ bindings }) => bindings),
        );
  const stored = await toStoredExecutions(db, asked);
  const byPiece = new Map(asked.map((row, place) => [Number(row['piece']), stored[place]]));
  for (const [index, run] of runs.entries()) {
    const execution =
      byPiece.get(index) ?? (await findExecution(db, { cronJobIds: [run.cronJobId], jobName: run.jobName }));
    if (execution) found.set(run, execution);
  }
  return found;
}

function conditionOf(filter: ExecutionFilter): { sql: string; bindings: unknown[] } {
  const parts = [`e.cronjob_id in (${marks(filter.cronJobIds)})`];
  const bindings: unknown[] = [...filter.cronJobIds];
  const { statuses = [], triggers = [], causes = [], since, until } = filter;
  if (statuses.length > 0) {
    parts.push(`e.status in (${marks(statuses)})`);
    bindings.push(...statuses.map((word) => statusWords.toNumber(word)));
  }
  if (triggers.length > 0) {
    parts.push(`e."trigger" in (${marks(triggers)})`);
    bindings.push(...triggers.map((word) => triggerWords.toNumber(word)));
  }
  if (causes.length > 0) {
    parts.push(`e.cause in (${marks(causes)})`);
    bindings.push(...causes.map((word) => faultWords.toNumber(word)));
  }
  if (since !== undefined) {
    parts.push('e.created_at >= ?');
    bindings.push(since);
  }
  if (until !== undefined) {
    parts.push('e.created_at < ?');
    bindings.push(until);
  }
  return { sql: parts.join(' and '), bindings };
}

async function toStoredExecutions(db: Db, found: readonly Row[]): Promise<StoredExecution[]> {
  const facts = await listRunFacts(db, found);
  return found.map((row) => toStoredExecution(db, row, facts));
}

function toStoredExecution(db: Db, row: Row, facts: ReadonlyMap<string, FactValues>): StoredExecution {
  const run = readRun(db, row);
  const flags = Number(row['flags']);
  const retryOf = optionalText(row['retry_of']);
  return {
    ...run,
    cronJobUid: String(row['cronjob_uid']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    ...(row['cause'] === null ? {} : { fault: toFault(row) }),
    attempts: Number(row['attempts']),
    failedIndexes: optionalText(row['failed_indexes']),
    isRetry: retryOf !== undefined,
    // Empty: a retry of an unknown run.
    retryOf: retryOf === '' ? undefined : retryOf,
    node: optionalText(row['node']),
    templateHash: row['template_hash'] === null ? undefined : toTemplateHash(db, row['template_hash']),
    delayed: (flags & flagBits.delayed) !== 0,
    inferred: (flags & flagBits.inferred) !== 0,
    hasLogs: (flags & flagBits.hasLogs) !== 0,
    hasEvents: (flags & flagBits.hasEvents) !== 0,
    fix: optionalText(row['fix']),
    facts: facts.get(run.jobUid) ?? new Map(),
  };
}
