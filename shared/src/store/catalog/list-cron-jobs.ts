import type { ConcurrencyPolicy, Severity } from '../../contract/index.ts';
import type { BrokenTarget, CronJobNotes, Instant, WaitingJob } from '../../domain/index.ts';
import { firstRow, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import { toNames } from '../alerts/dependencies.ts';
import { rowsIn } from '../upsert.ts';
import { selectCronJobs, toCronJobRow, type CronJobRow } from './cron-job-row.ts';
import { templateColumns, toKnownTemplate, type KnownTemplate } from './job-templates.ts';
import type { LastRun } from './run-columns.ts';
import { missedSlotOf } from './cron-job-change.ts';
import { isPlaceholder, type CronJobFilter } from './cron-job-filter.ts';
import { listIdsInOrder, type CronJobOrder } from './page-cron-jobs.ts';

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
  /** The reason why a Job cannot start. */
  readonly waiting: WaitingJob | undefined;
  readonly lastFailureAt: Instant | undefined;
  /** From then on its runs were recorded as they came. */
  readonly firstSeenAt: Instant;
  /** Lower bound of the oldest kept run. */
  readonly oldestRunAt: Instant | undefined;
}

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

/** CronJobs in the order asked for, ties by namespace and name; all of them without `page`. */
export async function listCronJobs(
  db: Db,
  filter: CronJobFilter,
  options: CronJobOrder = {},
): Promise<CatalogCronJob[]> {
  return listCronJobsById(db, await listIdsInOrder(db, filter, options));
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

/** The present object of a name, or the last deleted one; undefined for a name that was never seen. */
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

/** The generation of every present CronJob as it was written down last: a higher one in the cluster tells of an edit since. */
export async function listGenerations(db: Db): Promise<{ readonly uid: string; readonly generation: number }[]> {
  const found = await rows(db, 'select uid_text, generation from cronjobs where deleted_at is null');
  return found.map((row) => ({ uid: String(row['uid_text']), generation: Number(row['generation']) }));
}

/** CronJobs whose history a person began to remove after `since`, by the clock of the store. What retention removes is older than that. */
export async function listClearedHistories(db: Db, since: Instant): Promise<number[]> {
  const found = await rows(db, 'select id from cronjobs where baseline_at > ? order by id', [since]);
  return found.map((row) => Number(row['id']));
}

/** Owners of existing CronJobs, by CronJob id; CronJobs without an owner are left out. */
export async function listOwners(db: Db): Promise<ReadonlyMap<number, string>> {
  const found = await rows(db, 'select id, notes from cronjobs where deleted_at is null');
  return new Map(
    found.flatMap((row) => {
      const { owner } = (fromJson(row['notes']) ?? {}) as CronJobNotes; // written by projectCronJob
      return owner === undefined ? [] : [[Number(row['id']), owner] as const];
    }),
  );
}

/** Namespaces of which anything is known: of CronJobs, removed ones included while their rows are kept, and of monitors. By name. */
export async function listNamespaces(db: Db): Promise<string[]> {
  const found = await rows(
    db,
    'select namespace from cronjobs union select namespace from monitors order by namespace',
  );
  return found.map((row) => String(row['namespace']));
}
