import { slaVerdicts } from '../../contract/vocabulary.ts';
import {
  brokenTarget,
  type BrokenTarget,
  type Execution,
  hourMs,
  type Instant,
  judgeRate,
  noSla,
  rateWindows,
  successRate,
} from '../../domain/index.ts';
import { inParts, insertRows, type Row, rows } from '../ask.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db, Store, Tx } from '../database.ts';
import { listTable } from '../migrations/0010-cronjob-list.ts';
import { rowsIn, type RowUpdate, updateAll, updateRows } from '../upsert.ts';
import { lockCronJobs } from './cron-job-ids.ts';
import { catalogKinds, stateRank } from './cron-job-filter.ts';
import type { LastRun } from './run-columns.ts';
import { type CronJobFigures, gatherFigures, noRuns, rateVerdictOf } from './rate-counts.ts';

/*
 * `cronjob_list` has one narrow row for each row of `cronjobs`, and lists read nothing else until they know which rows they show. Each column
 * follows from other tables and is written in the transaction that changes those:
 *
 * | column | follows from |
 * |---|---|
 * | shown, namespace, name, suspended, next_run_at | the CronJob and the monitors that select it |
 * | status_rank, running, active_alerts, last_* | what `cronjobs` keeps of its runs, Jobs and alerts |
 * | lead_id, min_rate, min_runs, win_days, with_missed | the target of the leading monitor |
 * | win_ok, win_all, rate, verdict_rank | scheduled runs in its window, which are added as they are recorded |
 *
 * Runs leave a window with time alone. The leader counts each window anew once an hour (`rateDue`), and every row at the start of its term.
 */

/** A run that was recorded, or gave way to another: it moves the window of its CronJob. */
export interface WindowMove {
  readonly cronJobId: number;
  readonly createdAt: Instant;
  readonly run: Pick<Execution, 'status' | 'trigger' | 'inMaintenance'>;
  readonly sign: 1 | -1;
}

const listed = [
  'shown',
  'namespace',
  'name',
  'status_rank',
  'suspended',
  'running',
  'active_alerts',
  'last_run_at',
  'last_duration_ms',
  'last_success_at',
  'next_run_at',
  'lead_id',
  'min_rate',
  'min_runs',
  'win_days',
  'with_missed',
  'win_ok',
  'win_all',
  'rate',
  'verdict_rank',
  'rated_at',
] as const;
type ListRow = Record<(typeof listed)[number], number | string | null>;

const sources =
  'c.id, c.namespace, c.name, c.suspended, c.running, c.problem, c.active_alerts, c.deleted_at, c.last_run, c.last_success_at, ' +
  'c.next_run_at, c.oldest_run_at, c.broken, coalesce(c.kind, 0) as kind';

const read =
  `${sources}, ` +
  'case when exists (select 1 from monitor_targets t where t.cronjob_id = c.id and t.removed_at is null) then 1 else 0 end as is_target, ' +
  listed.map((column) => `l.${column} as l_${column}`).join(', ');

/** SELECT, from `cronjobs c`, of what the row in the list is made of, of that row as it is, and of columns that a reader wants besides. */
export function selectListed(besides: string): string {
  return `select ${read}, ${besides} from cronjobs c left join cronjob_list l on l.cronjob_id = c.id`;
}

/**
 * Writes the rows in the list of these CronJobs, as far as they differ: rows of `selectListed`, with their state as a number. Their rows in
 * `cronjobs` are locked by the caller. `recount`: their windows are counted anew.
 */
export async function keepListed(
  db: Db,
  cronJobs: readonly { readonly row: Row; readonly state: number }[],
  { moves = [], recount = false }: { readonly moves?: readonly WindowMove[]; readonly recount?: boolean } = {},
): Promise<void> {
  const now = db.now();
  const uncounted = cronJobs.filter(
    ({ row }) => recount || row['l_shown'] === null || Number(row['l_with_missed']) === 1,
  );
  const figures = await gatherFigures(
    db,
    uncounted.filter(({ row }) => mayCount(row)).map(({ row }) => Number(row['id'])),
    now,
    { withPrevious: false },
  );
  const nothingOf = new Set(uncounted.filter(({ row }) => !mayCount(row)).map(({ row }) => row));
  const movesOf = Map.groupBy(moves, ({ cronJobId }) => cronJobId);
  const fresh: unknown[][] = [];
  const changed: { readonly id: number; readonly after: ListRow }[] = [];
  const differing = new Set<(typeof listed)[number]>();
  for (const { row, state } of cronJobs) {
    const id = Number(row['id']);
    const counted = nothingOf.has(row) ? noFigures : figures.get(id);
    const after: ListRow = {
      ...factsOf(row, state),
      ...(counted ? countedAnew(counted, row, now) : moved(row, movesOf.get(id) ?? [], now)),
    };
    const others = listed.filter((column) => !isSame(row[`l_${column}`], after[column]));
    if (row['l_shown'] === null) fresh.push([id, ...listed.map((column) => after[column])]);
    else if (others.length > 0) changed.push({ id, after });
    if (row['l_shown'] !== null) for (const column of others) differing.add(column);
  }
  await insertRows(db, {
    table: 'cronjob_list',
    columns: ['cronjob_id', ...listed],
    rows: fresh,
    tail: updateAll(db.dialect, ['cronjob_id'], listed),
  });
  // A column that is named in an update costs its indexes, also where it stays the same.
  const columns = listed.filter((column) => differing.has(column));
  await updateRows(db, {
    table: 'cronjob_list',
    key: 'cronjob_id',
    columns: Object.fromEntries(columns.map((column) => [column, listTable.columns[column]?.type ?? 'bigint'])),
    rows: changed.map(({ id, after }): RowUpdate => [id, ...columns.map((column) => after[column])]),
  });
}

/** One that no monitor selects and that has no run, as each when it is first seen, is not asked for. */
function mayCount(row: Row): boolean {
  return Number(row['is_target']) === 1 || row['oldest_run_at'] !== null;
}

const noRates = { current: noRuns, previous: noRuns };
const noFigures: CronJobFigures = { monitors: [], sla: noSla, ...noRates, judged: noRates };

/** Drivers give large numbers as text. */
function isSame(before: unknown, after: number | string | null): boolean {
  if (before === null || before === undefined || after === null) return (before ?? null) === after;
  return typeof after === 'number' ? Number(before) === after : before === after;
}

type Facts = 'shown' | 'namespace' | 'name' | 'status_rank' | 'suspended' | 'running' | 'active_alerts';
type Times = 'last_run_at' | 'last_duration_ms' | 'last_success_at' | 'next_run_at';

function factsOf(row: Row, state: number): Pick<ListRow, Facts | Times> {
  const isThere = row['deleted_at'] === null;
  const lastRun = fromJson(row['last_run']) as LastRun | undefined; // recordRuns writes it
  const runsAgain = isThere && Number(row['suspended']) === 0 && row['problem'] === null;
  const kind = Number(row['kind']);
  const isTarget = kind !== catalogKinds.placeholder && isThere && Number(row['is_target']) === 1;
  return {
    shown: 2 * kind + Number(isTarget),
    namespace: String(row['namespace']),
    name: String(row['name']),
    status_rank: state,
    suspended: Number(row['suspended']),
    running: Number(row['running']),
    active_alerts: Number(row['active_alerts']),
    last_run_at: lastRun?.startedAt ?? lastRun?.createdAt ?? null,
    last_duration_ms: lastRun?.durationMs ?? null,
    last_success_at: optionalNumber(row['last_success_at']) ?? null,
    next_run_at: runsAgain ? (optionalNumber(row['next_run_at']) ?? 0) : null,
  };
}

function countedAnew(figures: CronJobFigures, row: Row, now: Instant): Omit<ListRow, Facts | Times> {
  const { monitors, sla, current } = figures;
  return {
    lead_id: monitors[0]?.monitorId ?? null,
    min_rate: sla.enabled ? (sla.minSuccessRate ?? null) : null,
    min_runs: sla.minRuns,
    win_days: sla.windowDays,
    with_missed: Number(sla.countMissed),
    win_ok: current.success,
    win_all: current.success + current.failed,
    rate: successRate(current) ?? null,
    verdict_rank: slaVerdicts.indexOf(rateVerdictOf(figures, brokenOf(row))),
    rated_at: now,
  };
}

/** The window as it was, with the runs that were recorded now. */
function moved(row: Row, moves: readonly WindowMove[], now: Instant): Omit<ListRow, Facts | Times> {
  const before = (column: (typeof listed)[number]): number => Number(row[`l_${column}`]);
  const { from } = rateWindows(now, before('win_days')).current;
  let [success, all] = [before('win_ok'), before('win_all')];
  for (const { run, createdAt, sign } of moves) {
    const isCounted = run.trigger === 'scheduled' && !run.inMaintenance && createdAt >= from;
    if (!isCounted || (run.status !== 'success' && run.status !== 'failed')) continue;
    all += sign;
    if (run.status === 'success') success += sign;
  }
  const counts = { success, failed: all - success };
  const leadId = optionalNumber(row['l_lead_id']);
  const minSuccessRate = optionalNumber(row['l_min_rate']);
  const target = { enabled: minSuccessRate !== undefined, minSuccessRate, minRuns: before('min_runs') };
  const verdict = judgeRate(counts, target, brokenTarget(brokenOf(row), leadId, 'successRate'));
  return {
    lead_id: leadId ?? null,
    min_rate: minSuccessRate ?? null,
    min_runs: before('min_runs'),
    win_days: before('win_days'),
    with_missed: before('with_missed'),
    win_ok: success,
    win_all: all,
    rate: successRate(counts) ?? null,
    verdict_rank: slaVerdicts.indexOf(verdict),
    rated_at: before('rated_at'),
  };
}

function brokenOf(row: Row): readonly BrokenTarget[] {
  return (fromJson(row['broken']) as readonly BrokenTarget[] | undefined) ?? []; // setBrokenTargets writes it
}

/** Writes the rows of these CronJobs anew, windows counted, where what selects them or what it asks of them has changed. */
export async function relist(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  for (const ids of inParts([...new Set(cronJobIds)])) {
    await lockCronJobs(tx, ids);
    await relistPart(tx, ids);
  }
}

async function relistPart(db: Db, ids: readonly number[]): Promise<void> {
  const found = await rowsIn(
    db,
    ids,
    (list) => `${selectListed(`${stateRank} as state_rank`)} where c.id in (${list})`,
  );
  await keepListed(
    db,
    found.map((row) => ({ row, state: Number(row['state_rank']) })),
    { recount: true },
  );
}

/** All of the list, while no other process writes: for a schema that has just got it. */
export async function relistAll(db: Db): Promise<void> {
  for (const ids of inParts(await listIds(db))) await relistPart(db, ids);
}

async function listIds(db: Db): Promise<number[]> {
  return (await rows(db, 'select id from cronjobs order by id')).map((row) => Number(row['id']));
}

/** Rows that one transaction of the leader writes, so that recordings come between. */
const rowsAtOnce = 100;

/**
 * Counts windows anew: of these CronJobs, or those that were counted longest ago, each about once an hour, a fiftieth of them at each call, which
 * is once a minute, and no fewer than go together anyway. `all`: every row, and rows that are missing too, as an earlier release leaves them.
 */
export async function rateDue(
  store: Store,
  epoch: number,
  { of, signal }: { readonly of: 'all' | 'longestAgo' | readonly number[]; readonly signal?: AbortSignal },
): Promise<void> {
  const due = of === 'all' ? await listIds(store) : of === 'longestAgo' ? await listLongestAgo(store) : of;
  for (const ids of inParts(due, rowsAtOnce)) {
    if (signal?.aborted) return;
    await store.fenced(epoch, (tx) => relist(tx, ids));
  }
}

async function listLongestAgo(store: Store): Promise<number[]> {
  const listDue = async (most: number): Promise<number[]> => {
    const found = await rows(
      store,
      'select cronjob_id from cronjob_list where rated_at < ? order by rated_at limit ?',
      [store.now() - hourMs, most],
    );
    return found.map((row) => Number(row['cronjob_id']));
  };
  const first = await listDue(rowsAtOnce);
  if (first.length < rowsAtOnce) return first;
  const [counted] = await rows(store, 'select count(*) as n from cronjob_list');
  const share = Math.ceil(Number(counted?.['n'] ?? 0) / 50);
  return share > rowsAtOnce ? listDue(share) : first;
}
