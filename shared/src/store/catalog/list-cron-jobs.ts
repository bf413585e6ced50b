import { isPlaceholder } from './expected.ts';
import {
  healthStates,
  type ConcurrencyPolicy,
  type CronJobStatusFilter,
  type CronJobSummary,
  type Severity,
  type StateCounts,
} from '../../contract/index.ts';
import type { BrokenTarget, CronJobNotes, Instant, WaitingJob } from '../../domain/index.ts';
import { firstRow, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import { toNames } from '../alerts/dependencies.ts';
import { rowsIn } from '../upsert.ts';
import { selectCronJobs, toCronJobRow, type CronJobRow } from './cron-job-row.ts';
import { templateColumns, toKnownTemplate, type KnownTemplate } from './job-templates.ts';
import type { LastRun } from './last-run.ts';
import { stateWords } from '../words.ts';
import { missedSlotOf } from './missed-slot.ts';
import { conditionOf, statusConditionOf, statusConditions, stateRank, type CronJobFilter } from './cron-job-filter.ts';

/** A CronJob as last seen, with what its runs and alerts made of it. */
export interface CatalogCronJob extends CronJobRow, KnownTemplate {
  readonly uid: string;
  readonly generation: number;
  readonly notes: CronJobNotes;
  /** The CronJobs that it waits for, as `namespace/name`. */
  readonly dependsOn: readonly string[];
  readonly policy: ConcurrencyPolicy;
  readonly deadlineS: number | undefined;
  readonly worstSeverity: Severity | undefined;
  readonly heldAlerts: number;
  readonly evaluatedThroughAt: Instant | undefined;
  readonly lastRun: LastRun | undefined;
  /** The newest scheduled run that failed, while nothing has succeeded since. */
  readonly failedRun: LastRun | undefined;
  /** The newest judged slot, if it is missed. */
  readonly missedSlotAt: Instant | undefined;
  /** Promises that the figures break, as judged last. */
  readonly broken: readonly BrokenTarget[];
  /** What a Job waits for in vain. */
  readonly waiting: WaitingJob | undefined;
  readonly lastFailureAt: Instant | undefined;
  /** From then on its runs were recorded as they came. */
  readonly firstSeenAt: Instant;
  /** Lower bound of the oldest kept run. */
  readonly oldestRunAt: Instant | undefined;
}

/** Sort keys that stand in columns; every other key is computed by who asks. */
export const storedCronJobSorts = ['name', 'namespace', 'status', 'activeAlerts', 'lastSuccess'] as const;
export type StoredCronJobSort = (typeof storedCronJobSorts)[number];

const sortColumns: Readonly<Record<StoredCronJobSort, string>> = {
  name: 'c.name',
  namespace: 'c.namespace',
  status: stateRank,
  activeAlerts: 'c.active_alerts',
  lastSuccess: 'c.last_success_at',
};

const selection = selectCronJobs([
  'uid_text',
  'notes',
  'depends_on',
  'policy',
  'deadline_s',
  'worst_severity',
  'held_alerts',
  'evaluated_through_at',
  'last_run',
  'last_failure_at',
  'failed_run',
  'missed_slot_at',
  'broken',
  'waiting',
  'first_seen_at',
  'oldest_run_at',
  'generation',
  ...templateColumns,
]);

export interface CronJobCounts {
  readonly total: number;
  readonly summary: CronJobSummary;
  readonly states: StateCounts;
}

/** How many CronJobs a filter lets through, and how they fare: summary and states count what all but `statuses` let through. */
export async function countCronJobs(
  db: Db,
  filter: CronJobFilter,
  statuses: readonly CronJobStatusFilter[] = [],
): Promise<CronJobCounts> {
  const { sql, bindings } = conditionOf(filter);
  const words = Object.entries(statusConditions);
  const sums = words.map(([word, condition]) => `sum(case when ${condition} then 1 else 0 end) as n_${word}`);
  const states = healthStates.map(
    (state) => `sum(case when ${stateRank} = ${stateWords.toNumber(state)} then 1 else 0 end) as n_state_${state}`,
  );
  const total = `sum(case when ${statusConditionOf(statuses)} then 1 else 0 end) as n_total`;
  const row = await firstRow(
    db,
    `select ${[total, ...sums, ...states].join(', ')} from cronjobs c where ${sql}`,
    bindings,
  );
  const count = (word: string): number => (row ? Number(row[`n_${word}`] ?? 0) : 0);
  const summary = Object.fromEntries(words.map(([word]) => [word, count(word)]));
  const byState = Object.fromEntries(healthStates.map((state) => [state, count(`state_${state}`)]));
  return {
    total: count('total'),
    summary: summary as unknown as CronJobSummary, // one entry for each word
    states: byState as unknown as StateCounts, // and one for each state
  };
}

/** CronJobs in the order asked for, ties by namespace and name; all of them without `page`. */
export async function listCronJobs(
  db: Db,
  filter: CronJobFilter,
  options: {
    readonly statuses?: readonly CronJobStatusFilter[];
    readonly sort?: { readonly key: StoredCronJobSort; readonly descending: boolean };
    readonly page?: { readonly limit: number; readonly offset: number } | undefined;
  } = {},
): Promise<CatalogCronJob[]> {
  const { sql, bindings } = conditionOf(filter);
  const { key, descending } = options.sort ?? { key: 'namespace', descending: false };
  const column = sortColumns[key];
  const order = `case when ${column} is null then 1 else 0 end, ${column}${descending ? ' desc' : ''}`;
  const page = options.page ? ' limit ? offset ?' : '';
  const found = await rows(
    db,
    `${selection} where ${sql} and ${statusConditionOf(options.statuses ?? [])} ` +
      `order by ${order}, c.namespace, c.name, c.id${page}`,
    options.page ? [...bindings, options.page.limit, options.page.offset] : bindings,
  );
  return found.map((row) => toCatalogCronJob(db, row));
}

/** CronJobs by their ids, in the order of these; one that has no row any more is left out. */
export async function listCronJobsById(db: Db, ids: readonly number[]): Promise<CatalogCronJob[]> {
  const found = await rowsIn(db, ids, (marks) => `${selection} where c.id in (${marks})`);
  const byId = new Map(found.map((row) => [Number(row['id']), row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [toCatalogCronJob(db, row)] : [];
  });
}

/** The present object of a name, or the last one when it is deleted; undefined when none was ever seen. */
export async function findCronJob(db: Db, namespace: string, name: string): Promise<CatalogCronJob | undefined> {
  const row = await firstRow(
    db,
    `${selection} where c.namespace = ? and c.name = ? and not (${isPlaceholder('c')}) ` +
      'order by case when c.deleted_at is null then 0 else 1 end, c.id desc limit 1',
    [namespace, name],
  );
  return row && toCatalogCronJob(db, row);
}

/** Ids of all objects that ever had a name and still have a row: history is told of all of them. */
export async function listCronJobIds(db: Db, namespace: string, name: string): Promise<number[]> {
  const found = await rows(db, 'select id from cronjobs where namespace = ? and name = ? order by id', [
    namespace,
    name,
  ]);
  return found.map((row) => Number(row['id']));
}

/** Whether a monitor selects it now. */
export async function isCronJobSelected(db: Db, id: number): Promise<boolean> {
  const row = await firstRow(
    db,
    'select 1 as yes from monitor_targets where cronjob_id = ? and removed_at is null limit 1',
    [id],
  );
  return row !== undefined;
}

function toCatalogCronJob(db: Db, row: Row): CatalogCronJob {
  return {
    ...toCronJobRow(row),
    ...toKnownTemplate(db, row),
    generation: Number(row['generation']),
    uid: String(row['uid_text']),
    notes: fromJson(row['notes']) as CatalogCronJob['notes'],
    dependsOn: toNames(row['depends_on']),
    policy: String(row['policy']) as ConcurrencyPolicy,
    deadlineS: optionalNumber(row['deadline_s']),
    worstSeverity: optionalText(row['worst_severity']) as Severity | undefined,
    heldAlerts: Number(row['held_alerts']),
    evaluatedThroughAt: optionalNumber(row['evaluated_through_at']),
    lastRun: fromJson(row['last_run']) as LastRun | undefined,
    failedRun: fromJson(row['failed_run']) as LastRun | undefined,
    missedSlotAt: missedSlotOf(row),
    broken: (fromJson(row['broken']) as readonly BrokenTarget[] | undefined) ?? [],
    waiting: fromJson(row['waiting']) as WaitingJob | undefined,
    lastFailureAt: optionalNumber(row['last_failure_at']),
    firstSeenAt: Number(row['first_seen_at']),
    oldestRunAt: optionalNumber(row['oldest_run_at']),
  };
}
