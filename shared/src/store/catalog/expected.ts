import type { Ref } from '../../contract/index.ts';
import { refText } from '../../contract/wording.ts';
import { expectedUid, type Instant, type LastWriter } from '../../domain/index.ts';
import { change, inParts, insertRows, marks, type Row, rows } from '../ask.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { catalogKinds, isPlaceholder } from './cron-job-filter.ts';
import { decideStates, moveAlertCounters } from './cron-job-change.ts';
import { cronJobIdsOf, judgesFrom } from './cron-job-ids.ts';
import { relist } from './cronjob-list.ts';
import { type StoredOwnSettings, toOwnSettings } from './own-settings.ts';

/** A monitor that has a row, by the UID that its alerts are known by. */
export interface KnownMonitor extends Ref {
  readonly id: number;
  readonly id16: string;
  /** Undefined: it is there. */
  readonly deletedAt: Instant | undefined;
}

export async function listKnownMonitors(db: Db): Promise<KnownMonitor[]> {
  const found = await rows(
    db,
    'select id, coalesce(first_uid, uid) as uid, namespace, name, deleted_at from monitors order by id',
  );
  return found.map((row) => ({
    id: Number(row['id']),
    id16: db.dialect.id16Text(row['uid']),
    ...refOf(row),
    deletedAt: optionalNumber(row['deleted_at']),
  }));
}

/** What a monitor selected until it was deleted, where it had succeeded meanwhile; each object by itself. */
export async function listSeenAndGone(
  db: Db,
  monitorIds: readonly number[],
): Promise<(Ref & { readonly monitorId: number; readonly deletedAt: Instant })[]> {
  const found: Row[] = [];
  for (const ids of inParts(monitorIds, 100)) {
    found.push(
      ...(await rows(
        db,
        'select t.monitor_id, c.namespace, c.name, c.deleted_at from monitor_targets t join cronjobs c on c.id = t.cronjob_id ' +
          `where t.monitor_id in (${marks(ids)}) and c.deleted_at is not null and c.last_success_at >= ${judgesFrom('t', 'c')} ` +
          `and (t.removed_at is null or t.removed_at >= c.deleted_at - ${seenTogetherMs}) order by c.id`,
        ids,
      )),
    );
  }
  return found.map((row) => ({
    monitorId: Number(row['monitor_id']),
    ...refOf(row),
    deletedAt: Number(row['deleted_at']),
  }));
}

/** A deletion and the end of the selection that follows from it are received so close together. */
const seenTogetherMs = 60_000;

/** The newest object that had a name. */
export interface LastOfName extends Ref {
  readonly id: number;
  readonly seenAt: Instant;
  readonly createdAt: Instant;
  /** Undefined: it is there. */
  readonly deletedAt: Instant | undefined;
  readonly deletedFromAt: Instant | undefined;
  readonly writer: LastWriter | undefined;
  readonly lastSuccessAt: Instant | undefined;
  /** The object's own settings when it was seen last. */
  readonly own: Pick<StoredOwnSettings, 'cronJob' | 'timeZone'>;
  /** When each monitor ceased to select it. */
  readonly removedAt: ReadonlyMap<number, Instant>;
}

/** The last object of each of these names; a name that was never seen is missing. */
export async function listLastOfNames(db: Db, names: readonly Ref[]): Promise<LastOfName[]> {
  const last = new Map<string, Row>();
  for (const part of inParts(names, 100)) {
    const found = await rows(
      db,
      'select c.id, c.namespace, c.name, c.seen_at, c.created_at, c.deleted_at, c.gone_from_at, c.last_writer, ' +
        'c.time_zone, c.labels, c.declared, c.last_success_at from cronjobs c ' +
        `where (${part.map(() => '(c.namespace = ? and c.name = ?)').join(' or ')}) and not (${isPlaceholder('c')}) order by c.id`,
      part.flatMap(({ namespace, name }) => [namespace, name]),
    );
    for (const row of found) last.set(refText(refOf(row)), row);
  }
  const ids = [...last.values()].map((row) => Number(row['id']));
  const removals: Row[] = [];
  for (const part of inParts(ids, 100))
    removals.push(
      ...(await rows(
        db,
        `select cronjob_id, monitor_id, removed_at from monitor_targets where removed_at is not null and cronjob_id in (${marks(part)})`,
        part,
      )),
    );
  const removedFrom = Map.groupBy(removals, (row) => Number(row['cronjob_id']));
  return [...last.values()].map((row) => ({
    ...refOf(row),
    id: Number(row['id']),
    seenAt: Number(row['seen_at']),
    createdAt: Number(row['created_at']),
    deletedAt: optionalNumber(row['deleted_at']),
    deletedFromAt: optionalNumber(row['gone_from_at']),
    writer: fromJson(row['last_writer']) as LastWriter | undefined, // projectCronJobs writes it
    lastSuccessAt: optionalNumber(row['last_success_at']),
    own: toOwnSettings(row),
    removedAt: new Map(
      (removedFrom.get(Number(row['id'])) ?? []).map((one) => [Number(one['monitor_id']), Number(one['removed_at'])]),
    ),
  }));
}

/**
 * The rows that alerts about these expected names are kept with, by `namespace/name`: that of the CronJob while one of the name is there, so
 * that its page tells of them, else the row that stands for the name.
 */
export async function rowsOfExpected(tx: Tx, names: readonly Ref[], at: Instant): Promise<ReadonlyMap<string, number>> {
  const there = new Map<string, number>();
  for (const part of inParts(names, 100)) {
    const found = await rows(
      tx,
      `select c.id, c.namespace, c.name from cronjobs c where c.deleted_at is null and c.kind is null and (${part
        .map(() => '(c.namespace = ? and c.name = ?)')
        .join(' or ')}) order by c.id`,
      part.flatMap(({ namespace, name }) => [namespace, name]),
    );
    for (const row of found) there.set(refText(refOf(row)), Number(row['id']));
  }
  const missing = names.filter((name) => !there.has(refText(name)));
  return new Map([...there, ...(missing.length === 0 ? [] : await placeholdersOf(tx, missing, at))]);
}

/** A CronJob of these names came or went: live alerts that tell that the name is missing go to the row that they are kept with now. */
export async function moveDisappearances(tx: Tx, names: readonly Ref[]): Promise<void> {
  if (names.length === 0) return;
  const open = await rows(
    tx,
    "select id, cronjob_id, namespace, cronjob_name as name from alerts where state in ('pending', 'active', 'suppressed') " +
      "and type = 'absent' and subject = 'disappeared' order by id",
    [],
  );
  const asked = new Set(names.map(refText));
  const about = open.filter((row) => asked.has(refText(refOf(row))));
  if (about.length === 0) return;
  const homes = await rowsOfExpected(tx, about.map(refOf), tx.now());
  const moved = about.flatMap((row) => {
    const [from, to] = [Number(row['cronjob_id']), homes.get(refText(refOf(row))) ?? Number(row['cronjob_id'])];
    return from === to ? [] : [{ id: row['id'], from, to }];
  });
  for (const { id, to } of moved) await change(tx, 'update alerts set cronjob_id = ? where id = ?', [to, id]);
  const touched = [...new Set(moved.flatMap(({ from, to }) => [from, to]))];
  await moveAlertCounters(tx, touched);
  await decideStates(tx, touched);
}

/**
 * The rows that stand for these names, by `namespace/name`; those that are missing are made. Each counts as deleted from its beginning, so
 * that it is in no list of CronJobs.
 */
async function placeholdersOf(tx: Tx, names: readonly Ref[], at: Instant): Promise<ReadonlyMap<string, number>> {
  const uids = new Map(names.map((name) => [refText(name), expectedUid(name)]));
  await insertRows(tx, {
    table: 'cronjobs',
    columns: placeholderColumns,
    rows: names.map((name) => [
      tx.dialect.id16(expectedUid(name)),
      expectedUid(name),
      name.namespace,
      name.name,
      '{}',
      '{}',
      '',
      0,
      'Allow',
      0,
      catalogKinds.placeholder,
      at,
      at,
      at,
      at,
    ]),
    tail: tx.dialect.ifAbsent(['uid']),
  });
  const ids = await cronJobIdsOf(tx, [...uids.values()]);
  await relist(tx, [...ids.values()]);
  return new Map([...uids].flatMap(([key, uid]) => (ids.has(uid) ? [[key, ids.get(uid) ?? 0] as const] : [])));
}

const placeholderColumns = [
  'uid',
  'uid_text',
  'namespace',
  'name',
  'labels',
  'notes',
  'schedule',
  'suspended',
  'policy',
  'generation',
  'kind',
  'created_at',
  'deleted_at',
  'first_seen_at',
  'seen_at',
] as const;

function refOf(row: Row): Ref {
  return { namespace: String(row['namespace']), name: String(row['name']) };
}
