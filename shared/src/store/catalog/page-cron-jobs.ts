import type { CronJobSortKey, CronJobSummary, StateCounts } from '../../contract/index.ts';
import {
  type CronJobStatusFilter,
  cronJobStatusFilters,
  type HealthState,
  healthStates,
} from '../../contract/vocabulary.ts';
import { type Instant, statusOf } from '../../domain/index.ts';
import { firstRow, marks, type Row, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { stateWords } from '../words.ts';
import { type Condition, conditionOf, type CronJobFilter, isSelected } from './cron-job-filter.ts';
import { type CronJobRow, selectCronJobs, toCronJobRow } from './cron-job-row.ts';

interface CronJobSort {
  readonly key: CronJobSortKey;
  readonly descending: boolean;
}

interface CronJobPage {
  readonly limit: number;
  readonly offset: number;
}

/** Only those; each list ORed, and an empty one lets everything through. */
interface Standing {
  readonly statuses?: readonly CronJobStatusFilter[];
  readonly states?: readonly HealthState[];
}

export interface CronJobOrder extends Standing {
  readonly sort?: CronJobSort;
  /** Absent: all of them. */
  readonly page?: CronJobPage | undefined;
  /**
   * Needed to sort by `nextRun`: when a CronJob runs next whose run, as the leader computed it, has passed; undefined = never. Absent: such a run
   * counts as it is kept.
   */
  readonly nextRunOf?: (cronJob: CronJobRow) => Instant | undefined;
}

/** The column of each key; the value of those in `unknowable` may be missing, and then comes last both ways. */
const columns: Readonly<Record<CronJobSortKey, string>> = {
  name: 'l.name',
  namespace: 'l.namespace',
  status: 'l.status_rank',
  verdict: 'l.verdict_rank',
  activeAlerts: 'l.active_alerts',
  successRate: 'l.rate',
  lastRun: 'l.last_run_at',
  duration: 'l.last_duration_ms',
  lastSuccess: 'l.last_success_at',
  nextRun: 'l.next_run_at',
};
const unknowable: ReadonlySet<CronJobSortKey> = new Set([
  'successRate',
  'lastRun',
  'duration',
  'lastSuccess',
  'nextRun',
]);

interface CronJobCounts {
  readonly total: number;
  readonly summary: CronJobSummary;
  readonly states: StateCounts;
}

/**
 * How many CronJobs a filter lets through, and how they fare: summary and states count what all but the standing let through. States count
 * each of them once; the summary tells how many each word of the status filter finds.
 */
export async function countCronJobs(db: Db, filter: CronJobFilter, standing: Standing = {}): Promise<CronJobCounts> {
  const { sql, bindings } = conditionOf(filter);
  const found = await rows(
    db,
    `select ${countedBy}, count(*) as n from cronjob_list l where ${sql} group by ${countedBy}`,
    bindings,
  );
  return sumCounts(found, standing);
}

/** Counts are read in groups of rows that are alike in all that they count, which one index has: each with its number `n`. */
const countedBy = 'l.status_rank, l.suspended, l.running';

/** Of rows by `countedBy`. */
function sumCounts(groups: readonly Row[], { statuses = [], states: wanted = [] }: Standing = {}): CronJobCounts {
  const summary = Object.fromEntries(cronJobStatusFilters.map((status) => [status, 0])) as Record<
    CronJobStatusFilter,
    number
  >;
  const states = Object.fromEntries(healthStates.map((state) => [state, 0])) as Record<HealthState, number>;
  let total = 0;
  for (const row of groups) {
    const state = stateWords.toWord(row['status_rank']);
    const of = { state, isSuspended: Number(row['suspended']) === 1, isRunning: Number(row['running']) > 0 };
    const count = Number(row['n']);
    states[state] += count;
    for (const status of cronJobStatusFilters) if (hasStatus(of, status)) summary[status] += count;
    const isFound = statuses.length === 0 || statuses.some((status) => hasStatus(of, status));
    if (isFound && (wanted.length === 0 || wanted.includes(state))) total += count;
  }
  return { total, summary, states };
}

export interface MonitorCounts {
  readonly cronJobs: number;
  readonly summary: CronJobSummary;
  readonly states: StateCounts;
}

/** Counts of the CronJobs that each monitor selects now, of these namespaces or of all, by monitor id; one without any is absent. */
export async function countTargets(
  db: Db,
  namespaces: readonly string[] = [],
): Promise<ReadonlyMap<number, MonitorCounts>> {
  const within = namespaces.length > 0 ? ` and l.namespace in (${marks(namespaces)})` : '';
  const groups = `t.monitor_id, ${countedBy}`;
  const found = await rows(
    db,
    `select ${groups}, count(*) as n from monitor_targets t join cronjob_list l on l.cronjob_id = t.cronjob_id ` +
      `where t.removed_at is null and ${isSelected}${within} group by ${groups}`,
    namespaces,
  );
  const ofMonitor = Map.groupBy(found, (row) => Number(row['monitor_id']));
  return new Map(
    [...ofMonitor].map(([id, groupsOfOne]) => {
      const { total, summary, states } = sumCounts(groupsOfOne);
      return [id, { cronJobs: total, summary, states }];
    }),
  );
}

/** Names of what a filter lets through, in no order. */
export async function listNamesOf(
  db: Db,
  filter: CronJobFilter,
): Promise<{ readonly id: number; readonly namespace: string; readonly name: string; readonly isSelected: boolean }[]> {
  const { sql, bindings } = conditionOf(filter);
  const found = await rows(
    db,
    `select l.cronjob_id, l.namespace, l.name, case when ${isSelected} then 1 else 0 end as is_selected from cronjob_list l where ${sql}`,
    bindings,
  );
  return found.map((row) => ({
    id: Number(row['cronjob_id']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    isSelected: Number(row['is_selected']) === 1,
  }));
}

/** Ids in the order asked for, ties by namespace and name: a page of them, or all. */
export async function listIdsInOrder(db: Db, filter: CronJobFilter, options: CronJobOrder = {}): Promise<number[]> {
  return (await listRankedCronJobs(db, filter, options)).map(({ id }) => id);
}

/** The same with what they are ordered by, so that lists of several databases can be merged. */
export async function listRankedCronJobs(
  db: Db,
  filter: CronJobFilter,
  options: CronJobOrder = {},
): Promise<RankedCronJob[]> {
  const { sort = { key: 'namespace', descending: false }, page, nextRunOf } = options;
  const { sql, bindings } = conditionOf(filter);
  const condition = { sql: `${sql}${standingCondition(options.statuses, options.states)}`, bindings };
  if (sort.key === 'nextRun' && nextRunOf)
    return listByNextRun(db, condition, { descending: sort.descending, page, nextRunOf });
  return new Walk(db, condition, sort).read(page);
}

export interface RankedCronJob {
  readonly id: number;
  readonly namespace: string;
  readonly name: string;
  /** By which it stands where it does; undefined where nothing is known, or where it is ordered by namespace or name alone. */
  readonly value: number | undefined;
}

/** The rows of a condition in an order: those with a value by an index of it, then those without. */
class Walk {
  readonly #db: Db;
  readonly #condition: Condition;
  readonly #sort: CronJobSort;

  constructor(db: Db, condition: Condition, sort: CronJobSort) {
    this.#db = db;
    this.#condition = condition;
    this.#sort = sort;
  }

  async read(page: CronJobPage | undefined): Promise<RankedCronJob[]> {
    const { key } = this.#sort;
    if (!unknowable.has(key)) return this.#readPart('', page);
    const column = columns[key];
    const known = await this.#readPart(` and ${column} is not null`, page);
    if (page && known.length === page.limit) return known;
    const rest = page && {
      limit: page.limit - known.length,
      offset: known.length > 0 || page.offset === 0 ? 0 : page.offset - (await this.#countKnown()),
    };
    return [...known, ...(await this.#readPart(` and ${column} is null`, rest))];
  }

  async #countKnown(): Promise<number> {
    const { sql, bindings } = this.#condition;
    const row = await firstRow(
      this.#db,
      `select count(*) as n from cronjob_list l where ${sql} and ${columns[this.#sort.key]} is not null`,
      bindings,
    );
    return Number(row?.['n']);
  }

  async #readPart(besides: string, page: CronJobPage | undefined): Promise<RankedCronJob[]> {
    const { key, descending } = this.#sort;
    const { sql, bindings } = this.#condition;
    const column = columns[key];
    const isText = key === 'name' || key === 'namespace';
    const ties = ['l.namespace', 'l.name', 'l.cronjob_id'].filter((tie) => tie !== column);
    const order = besides.endsWith('is null') ? ties : [`${column}${descending ? ' desc' : ''}`, ...ties];
    const found = await rows(
      this.#db,
      `select l.cronjob_id, l.namespace, l.name, ${isText ? 'null' : column} as value from cronjob_list l ` +
        `where ${sql}${besides} order by ${order.join(', ')}${page ? ' limit ? offset ?' : ''}`,
      page ? [...bindings, page.limit, page.offset] : bindings,
    );
    return found.map((row) => ({
      id: Number(row['cronjob_id']),
      namespace: String(row['namespace']),
      name: String(row['name']),
      value: row['value'] === null ? undefined : Number(row['value']),
    }));
  }
}

/**
 * By the next run, which time alone moves: what lies ahead is in the index; what has passed, mostly a few at a time, is computed and put in
 * its place. A page is cut from those ahead that can be in it and all that has passed.
 */
async function listByNextRun(
  db: Db,
  { sql, bindings }: Condition,
  {
    descending,
    page,
    nextRunOf,
  }: Pick<CronJobOrder, 'page'> & {
    readonly descending: boolean;
    readonly nextRunOf: NonNullable<CronJobOrder['nextRunOf']>;
  },
): Promise<RankedCronJob[]> {
  const now = db.now();
  const passed = await rows(
    db,
    `${selectCronJobs([])} join cronjob_list l on l.cronjob_id = c.id where ${sql} and l.next_run_at <= ?`,
    [...bindings, now],
  );
  const computed = passed.map(toCronJobRow).map((cronJob): RankedCronJob => {
    const { id, namespace, name } = cronJob;
    return { id, namespace, name, value: nextRunOf(cronJob) };
  });
  const ahead = { sql: `${sql} and (l.next_run_at is null or l.next_run_at > ?)`, bindings: [...bindings, now] };
  const skipped = page ? Math.max(0, page.offset - computed.length) : 0;
  const walk = new Walk(db, ahead, { key: 'nextRun', descending });
  const near = await walk.read(page && { offset: skipped, limit: page.offset - skipped + page.limit });
  const inOrder = [...near, ...computed].sort((a, b) => byValue(a, b, descending) || byName(a, b));
  const start = page ? page.offset - skipped : 0;
  return inOrder.slice(start, page && start + page.limit);
}

function byValue(a: RankedCronJob, b: RankedCronJob, descending: boolean): number {
  if (a.value === b.value) return 0;
  if (a.value === undefined) return 1;
  if (b.value === undefined) return -1;
  return descending ? b.value - a.value : a.value - b.value;
}

/** Names are ASCII: code units are code points. */
function byName(a: RankedCronJob, b: RankedCronJob): number {
  const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  return byText(a.namespace, b.namespace) || byText(a.name, b.name) || a.id - b.id;
}

/** Whether a CronJob in this state is found by a word of the status filter: `suspended` and `running` are overlays. */
function hasStatus(
  { state, isSuspended, isRunning }: { state: HealthState; isSuspended: boolean; isRunning: boolean },
  status: CronJobStatusFilter,
): boolean {
  if (status === 'suspended') return isSuspended;
  if (status === 'running') return isRunning;
  return statusOf(state) === status;
}

/** The same as a condition on a row of the list. */
function statusCondition(status: CronJobStatusFilter): string {
  if (status === 'suspended') return 'l.suspended = 1';
  if (status === 'running') return 'l.running > 0';
  return inStates(healthStates.filter((state) => statusOf(state) === status));
}

function inStates(states: readonly HealthState[]): string {
  return `l.status_rank in (${states.map((state) => stateWords.toNumber(state)).join(', ')})`;
}

/** The condition of these statuses and states, each list ORed; an empty list filters nothing. */
function standingCondition(statuses: readonly CronJobStatusFilter[] = [], states: readonly HealthState[] = []): string {
  const parts = [
    ...(statuses.length === 0 ? [] : [`(${statuses.map(statusCondition).join(' or ')})`]),
    ...(states.length === 0 ? [] : [inStates(states)]),
  ];
  return parts.length === 0 ? '' : ` and ${parts.join(' and ')}`;
}
