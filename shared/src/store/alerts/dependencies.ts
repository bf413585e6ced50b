import { undoneWorkTypes, type AlertType, type Severity } from '../../contract/vocabulary.ts';
import {
  ancestorsOf,
  type Dependencies,
  type HeldForParents,
  type Instant,
  type ParentAlert,
} from '../../domain/index.ts';
import { firstRow, marks, rows } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** Parents of every CronJob, as its row says; most have no parent. */
export async function listDependencies(db: Db): Promise<Dependencies> {
  const found = await rows(
    db,
    'select namespace, name, depends_on from cronjobs where depends_on is not null and deleted_at is null',
  );
  return new Map(
    found.map((row) => [
      `${String(row['namespace'])}/${String(row['name'])}`,
      toNames(row['depends_on']), // written by projectCronJobs
    ]),
  );
}

/** Whether any CronJob waits for others, also one that is deleted. Reads the whole catalog where none does. */
export async function hasDependencies(db: Db): Promise<boolean> {
  return (await firstRow(db, 'select id from cronjobs where depends_on is not null limit 1')) !== undefined;
}

export function toNames(value: unknown): readonly string[] {
  return (fromJson(value) ?? []) as readonly string[];
}

/** Active alerts of those that these CronJobs wait for, told or not: by CronJob, of the nearest first. All as `namespace/name`. */
export async function listParentAlerts(
  db: Db,
  children: readonly string[],
): Promise<ReadonlyMap<string, readonly (ParentAlert & { readonly namespace: string })[]>> {
  if (children.length === 0) return new Map();
  const dependencies = await listDependencies(db);
  const ancestors = new Map(children.map((child) => [child, ancestorsOf(dependencies, child)]));
  const wanted = new Set([...ancestors.values()].flat());
  const names = [...new Set([...wanted].map((ref) => ref.slice(ref.indexOf('/') + 1)))];
  const types = undoneWorkTypes.map((type) => `'${type}'`).join(', ');
  const found = await rowsIn(
    db,
    names,
    (listed) =>
      'select id, namespace, cronjob_name, type, severity, last_notified_at from alerts ' +
      `where state = 'active' and type in (${types}) and cronjob_name in (${listed}) order by since_at, id`,
  );
  const byRef = Map.groupBy(found, (row) => `${String(row['namespace'])}/${String(row['cronjob_name'])}`);
  return new Map(
    [...ancestors].map(([child, parents]) => [
      child,
      parents.flatMap((parent) =>
        (byRef.get(parent) ?? []).map((row) => ({
          id: db.dialect.id16Text(row['id']),
          namespace: String(row['namespace']),
          type: String(row['type']) as AlertType,
          severity: String(row['severity']) as Severity,
          toldAt: optionalNumber(row['last_notified_at']),
        })),
      ),
    ]),
  );
}

/** How the message of an alert was held back for a parent since then; undefined: it was not. */
export async function findHeldForParents(db: Db, alertId: string, since: Instant): Promise<HeldForParents | undefined> {
  const ofAlert = "from alert_decisions where alert_id = ? and at >= ? and action = 'held' and reason = 'dependsOn'";
  const bindings = [db.dialect.id16(alertId), since];
  const last = await firstRow(db, `select until_at, detail ${ofAlert} order by id desc limit 1`, bindings);
  if (last === undefined) return undefined;
  const first = await firstRow(db, `select at ${ofAlert} order by id limit 1`, bindings);
  const named = await firstRow(
    db,
    `select detail ${ofAlert} and detail is not null order by id desc limit 1`,
    bindings,
  );
  const holder = optionalText(named?.['detail'] ?? null);
  const ended =
    holder === undefined
      ? undefined
      : await firstRow(db, 'select ended_at from alerts where id = ?', [db.dialect.id16(holder)]);
  return {
    sinceAt: Number(first?.['at']),
    releasedAt: optionalNumber(ended?.['ended_at'] ?? null),
    untilAt: last['detail'] === null ? optionalNumber(last['until_at']) : undefined,
  };
}

/** The alert that holds a message back now, and who was told of it; undefined: it is over. */
export async function findHolder(db: Db, alertId: string): Promise<Holder | undefined> {
  const id = db.dialect.id16(alertId);
  const row = await firstRow(
    db,
    "select namespace, cronjob_name, type, since_at from alerts where id = ? and state = 'active'",
    [id],
  );
  if (row === undefined) return undefined;
  const states = ['sent', 'digested'];
  const told = await rows(
    db,
    `select distinct channel_name from deliveries where alert_id = ? and state in (${marks(states)}) order by channel_name`,
    [id, ...states],
  );
  return {
    namespace: String(row['namespace']),
    name: String(row['cronjob_name']),
    type: String(row['type']) as AlertType,
    sinceAt: Number(row['since_at']),
    channels: told.map((each) => String(each['channel_name'])),
  };
}

interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly type: AlertType;
  readonly sinceAt: Instant;
  /** Channels that accepted a message about the alert. */
  readonly channels: readonly string[];
}
