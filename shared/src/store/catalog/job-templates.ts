import {
  type Instant,
  type JobTemplate,
  type RolloutAlert,
  type RolloutFacts,
  type TemplateRun,
  type TemplateRuns,
  toAlertFacts,
} from '../../domain/index.ts';
import type { Ref } from '../../contract/index.ts';
import { type ScheduleProblem, type Severity, undoneWorkTypes } from '../../contract/vocabulary.ts';
import { firstRow, marks, type Row, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { fullJobName, fullReason } from '../executions/short-text.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import { cronJobIdsOf } from './cron-job-ids.ts';
import { statusWords } from '../words.ts';

/** Columns of a CronJob about its present job template. */
export interface KnownTemplate {
  /** Undefined: it was not read since this is kept. */
  readonly template: JobTemplate | undefined;
  readonly templateRuns: TemplateRuns;
}

export const templateColumns = ['template_hash', 'template_at', 'template_runs'] as const;

export function toKnownTemplate(db: Pick<Db, 'dialect'>, row: Row): KnownTemplate {
  const hash = row['template_hash'];
  return {
    template:
      hash === null || hash === undefined
        ? undefined
        : { hash: db.dialect.id16Text(hash), at: Number(row['template_at']) },
    templateRuns: (fromJson(row['template_runs']) as TemplateRuns | undefined) ?? {}, // written below
  };
}

/** Values of `template_runs` and `template_ok`. */
export function templateRunValues({ templateRuns }: KnownTemplate): [string | null, number | null] {
  const { last } = templateRuns;
  return last ? [toJson(templateRuns), Number(last.status === 'success')] : [null, null];
}

/**
 * When a job template that differs from the one before was written: as the cluster tells, unless that is older than the one before or
 * newer than its receipt; else at its receipt.
 */
export function templateSince(
  writtenAt: Instant | undefined,
  { before, seenAt }: { readonly before: JobTemplate | undefined; readonly seenAt: Instant },
): Instant {
  if (writtenAt === undefined || writtenAt > seenAt || writtenAt < (before?.at ?? -Infinity)) return seenAt;
  return writtenAt;
}

/** Keeps other job templates of these CronJobs, with what is recorded of their runs: a template that comes back has run before. */
export async function setTemplates(
  tx: Tx,
  changed: readonly {
    readonly id: number;
    readonly name: string;
    readonly template: JobTemplate;
    readonly isNew: boolean;
  }[],
): Promise<void> {
  const updates: [unknown, ...unknown[]][] = [];
  for (const { id, name, template, isNew } of changed) {
    const templateRuns = isNew ? {} : await readTemplateRuns(tx, { id, name }, template);
    const known = { template, templateRuns };
    updates.push([id, tx.dialect.id16(template.hash), template.at, ...templateRunValues(known)]);
  }
  const columns = {
    template_hash: 'id16',
    template_at: 'bigint',
    template_runs: 'longText',
    template_ok: 'smallint',
  } as const;
  await updateRows(tx, { table: 'cronjobs', key: 'id', columns, rows: updates });
}

async function readTemplateRuns(
  tx: Tx,
  { id, name }: { readonly id: number; readonly name: string },
  template: JobTemplate,
): Promise<TemplateRuns> {
  const ended = [statusWords.toNumber('success'), statusWords.toNumber('failed')];
  const find = async (condition: string, order: string, values: readonly unknown[]): Promise<Row | undefined> =>
    firstRow(
      tx,
      'select job_uid, job_name, status, created_at, finished_at, exit_code, reason, job_reason from executions ' +
        `where cronjob_id = ? and status in (${marks(ended)}) and ${condition} order by created_at ${order} limit 1`,
      [id, ...ended, ...values],
    );
  const hash = tx.dialect.id16(template.hash);
  const last = await find('(template_hash = ? or created_at > ?)', 'desc', [hash, template.at]);
  if (last === undefined) return {};
  const first = await find('(created_at > ? or (created_at = ? and template_hash = ?))', 'asc', [
    template.at,
    template.at,
    hash,
  ]);
  return { first: first && toRun(first), last: toRun(last) };

  function toRun(row: Row): TemplateRun {
    const { exit_code: exitCode, reason, job_reason: jobReason } = row;
    return {
      jobUid: tx.dialect.id16Text(row['job_uid']),
      jobName: fullJobName(String(row['job_name']), name),
      status: Number(row['status']) === ended[0] ? 'success' : 'failed',
      createdAt: Number(row['created_at']),
      finishedAt: optionalNumber(row['finished_at']),
      exitCode: optionalNumber(exitCode),
      reason: fullReason(reason),
      jobReason: fullReason(jobReason),
    };
  }
}

/** How the job templates of CronJobs fare, those of which it is not known that all is well. */
export interface RolloutRow extends Ref, Omit<RolloutFacts, 'isMonitored'> {
  readonly id: number;
  /** Of the CronJob as it was when its row was written. */
  readonly generation: number;
}

const rolloutRow =
  'c.id, c.namespace, c.name, c.suspended, c.problem, c.last_schedule_at, c.last_success_at, c.running, c.next_run_at, c.generation, ' +
  templateColumns.map((column) => `c.${column}`).join(', ');

/** The CronJobs that this monitor selects, as their rollouts are judged, but those that are suspended or all well. */
export async function listUnsettledRollouts(db: Db, monitor: Ref): Promise<RolloutRow[]> {
  const found = await rows(
    db,
    `select ${rolloutRow} from cronjobs c join monitor_targets t on t.cronjob_id = c.id and t.removed_at is null ` +
      'join monitors m on m.id = t.monitor_id and m.deleted_at is null and m.namespace = ? and m.name = ? ' +
      'where c.deleted_at is null and c.suspended = 0 ' +
      'and (coalesce(c.template_ok, 0) = 0 or c.problem is not null or c.active_alerts + c.held_alerts > 0) ' +
      'order by c.namespace, c.name',
    [monitor.namespace, monitor.name],
  );
  return withAlerts(db, found);
}

/** How the job templates of these CronJobs fare, by their UIDs; those that have no row, or are deleted, are absent. */
export async function listRollouts(db: Db, uids: readonly string[]): Promise<ReadonlyMap<string, RolloutRow>> {
  const ids = await cronJobIdsOf(db, uids);
  const found = await rowsIn(
    db,
    [...ids.values()],
    (marks) => `select ${rolloutRow} from cronjobs c where c.id in (${marks}) and c.deleted_at is null`,
  );
  const byId = new Map((await withAlerts(db, found)).map((row) => [row.id, row]));
  return new Map(
    [...ids].flatMap(([uid, id]) => {
      const row = byId.get(id);
      return row ? [[uid, row] as const] : [];
    }),
  );
}

async function withAlerts(db: Db, found: readonly Row[]): Promise<RolloutRow[]> {
  const alerts = await rowsIn(
    db,
    found.map((row) => Number(row['id'])),
    (ids) =>
      `select cronjob_id, type, severity, since_at, context from alerts where cronjob_id in (${ids}) ` +
      `and state in ('active', 'suppressed') and type in (${undoneWorkTypes.map((type) => `'${type}'`).join(', ')})`,
  );
  const alertsOf = Map.groupBy(alerts, (row) => Number(row['cronjob_id']));
  return found.map((row) => ({
    id: Number(row['id']),
    generation: Number(row['generation']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    deletedAt: undefined,
    suspended: Number(row['suspended']) === 1,
    problem: optionalText(row['problem']) as ScheduleProblem | undefined,
    ...toKnownTemplate(db, row),
    lastScheduleAt: optionalNumber(row['last_schedule_at']),
    lastSuccessAt: optionalNumber(row['last_success_at']),
    running: Number(row['running']),
    nextRunAt: optionalNumber(row['next_run_at']),
    alerts: (alertsOf.get(Number(row['id'])) ?? []).map((alert) => ({
      type: String(alert['type']) as RolloutAlert['type'],
      severity: String(alert['severity']) as Severity,
      sinceAt: Number(alert['since_at']),
      runStartedAt: toAlertFacts(fromJson(alert['context'])).run?.startedAt,
    })),
  }));
}
