import type { AlertTimelineKind } from '../contract/index.ts';
import type { Decision, Instant } from '../domain/index.ts';
import { change, firstRow, insertRows, marks, rows, type Row } from './ask.ts';
import { optionalCleanText, optionalNumber, optionalText, idOrNull } from './column.ts';
import type { Db, Tx } from './database.ts';
import { toId16 } from './id16.ts';
import { rowsIn, updateRows } from './upsert.ts';

/** One decision about an alert or a message, with the reason for which a channel was told or was not. */
export interface AlertDecision extends Decision {
  readonly alertId?: string | undefined;
  readonly deliveryId?: string | undefined;
  readonly cronJobId?: number | undefined;
  readonly channelUid?: string | undefined;
  /** How long the attempt took that was answered. */
  readonly tookMs?: number | undefined;
}

export interface StoredDecision extends Omit<AlertDecision, 'once'> {
  readonly id: number;
  readonly at: Instant;
  readonly lastAt: Instant;
  readonly times: number;
}

const columns = [
  'at',
  'last_at',
  'alert_id',
  'delivery_id',
  'cronjob_id',
  'channel_uid',
  'action',
  'reason',
  'until_at',
  'by_whom',
  'detail',
  'took_ms',
] as const;

/**
 * Writes decisions in their order. One equal to the last of its alert (of its channel, without an alert) is counted there. However
 * many there are, it takes a statement for the neighbours, one for those that are counted, and one for those that are new.
 */
export async function recordDecisions(tx: Tx, decisions: readonly AlertDecision[]): Promise<void> {
  if (decisions.length === 0) return;
  const at = tx.now();
  const given = decisions.map((decision): Entry => ({ decision, row: toRow(tx, decision, at), times: 1 }));
  const last = await findNeighbours(tx, given);
  const fresh: Entry[] = [];
  const counted = new Map<unknown, Counted>();
  for (const entry of given) {
    const key = neighbourKey(tx, entry.row);
    // A message is queued and sent once: nothing of it can be repeated.
    const before = key === undefined || isUnique(entry.decision) ? undefined : last.get(key);
    if (before === undefined || !isEqual(tx, before.row, entry)) {
      fresh.push(entry);
      for (const each of [key, channelKey(tx, entry.row)])
        if (each !== undefined) last.set(each, { row: entry.row, entry });
      continue;
    }
    if (entry.decision.once) continue;
    if (before.entry) {
      before.entry.times += 1;
      before.entry.row.until_at = entry.row.until_at;
    } else {
      const { id } = before.row;
      counted.set(id, { times: (counted.get(id)?.times ?? 0) + 1, untilAt: entry.row.until_at });
    }
  }
  await writeCounted(tx, counted, at);
  await insertRows(tx, {
    table: 'alert_decisions',
    columns: [...columns, 'times'],
    rows: fresh.map(({ row, times }) => [...columns.map((column) => row[column]), times]),
  });
}

type DecisionRow = Record<(typeof columns)[number], unknown>;

/** A decision on its way into the ledger. */
interface Entry {
  readonly decision: AlertDecision;
  readonly row: DecisionRow;
  times: number;
}

/** The last decision about the same thing: in the table, or one of those that are just written. */
interface Neighbour {
  readonly row: Row;
  readonly entry?: Entry;
}

interface Counted {
  readonly times: number;
  readonly untilAt: unknown;
}

function toRow(tx: Tx, decision: AlertDecision, at: Instant): DecisionRow {
  return {
    at,
    last_at: at,
    alert_id: idOrNull(tx, decision.alertId),
    delivery_id: idOrNull(tx, decision.deliveryId),
    cronjob_id: decision.cronJobId ?? null,
    channel_uid: idOrNull(tx, decision.channelUid),
    action: decision.action,
    reason: optionalCleanText(decision.reason, 32),
    until_at: decision.untilAt ?? null,
    by_whom: optionalCleanText(decision.byWhom, 253),
    detail: optionalCleanText(decision.detail, 4_000),
    took_ms: decision.tookMs ?? null,
  };
}

/** Whose neighbours a decision is compared with; undefined: it is about nothing that has any. */
function neighbourKey(db: Db, row: Row): string | undefined {
  return row['alert_id'] == null ? channelKey(db, row) : `alert ${db.dialect.id16Text(row['alert_id'])}`;
}

function channelKey(db: Db, row: Row): string | undefined {
  return row['channel_uid'] == null ? undefined : `channel ${db.dialect.id16Text(row['channel_uid'])}`;
}

async function findNeighbours(tx: Tx, entries: readonly Entry[]): Promise<Map<string, Neighbour>> {
  const asking = entries.filter(({ decision }) => !isUnique(decision)).map(({ row }) => row);
  const found = new Map<string, Neighbour>();
  const alerts = new Set(asking.map(({ alert_id: id }) => id).filter((id) => id !== null));
  const latest = await rowsIn(
    tx,
    [...alerts],
    (values) =>
      `select ${compared} from alert_decisions where id in (select max(id) from alert_decisions where alert_id in (${values}) group by alert_id)`,
  );
  for (const row of latest) found.set(`alert ${tx.dialect.id16Text(row['alert_id'])}`, { row });
  const channels = new Map(
    asking
      .filter((row) => row.alert_id === null && row.channel_uid !== null)
      .map((row) => [neighbourKey(tx, row), row.channel_uid]),
  );
  for (const [key, uid] of channels) {
    // A few: of all messages only tests and digests are about no alert. A channel's ledger is long, and only its end is read.
    const row = await firstRow(
      tx,
      `select ${compared} from alert_decisions where channel_uid = ? order by id desc limit 1`,
      [uid],
    );
    if (row !== undefined && key !== undefined) found.set(key, { row });
  }
  return found;
}

const compared = 'id, alert_id, delivery_id, channel_uid, action, reason, by_whom, detail';

async function writeCounted(tx: Tx, counted: ReadonlyMap<unknown, Counted>, at: Instant): Promise<void> {
  const [only, ...more] = counted;
  if (only !== undefined && more.length === 0) {
    const [id, { times, untilAt }] = only;
    await change(tx, `update alert_decisions set times = times + ${times}, last_at = ?, until_at = ? where id = ?`, [
      at,
      untilAt,
      id,
    ]);
    return;
  }
  for (const [times, group] of Map.groupBy(counted, ([, each]) => each.times)) {
    const ids = group.map(([id]) => id);
    // Nearly always once each: one statement.
    await change(tx, `update alert_decisions set times = times + ${times}, last_at = ? where id in (${marks(ids)})`, [
      at,
      ...ids,
    ]);
  }
  await updateRows(tx, {
    table: 'alert_decisions',
    key: 'id',
    columns: { until_at: 'bigint' },
    rows: [...counted].map(([id, { untilAt }]) => [id, untilAt]),
  });
}

function isUnique({ action }: AlertDecision): boolean {
  return action === 'queued' || action === 'sent' || action === 'dead';
}

function isEqual(db: Db, before: Row, { decision, row }: Entry): boolean {
  return (
    (['action', 'reason', 'by_whom', 'detail'] as const).every((column) => before[column] === row[column]) &&
    sameId(db, before['alert_id'], decision.alertId) &&
    sameId(db, before['delivery_id'], decision.deliveryId) &&
    sameId(db, before['channel_uid'], decision.channelUid)
  );
}

function sameId(db: Db, stored: unknown, wanted: string | undefined): boolean {
  if (stored === null || wanted === undefined) return stored === null && wanted === undefined;
  return db.dialect.id16Text(stored) === toId16(wanted);
}

/** All that was decided about an alert, oldest first. */
export async function listDecisions(db: Db, alertId: string): Promise<StoredDecision[]> {
  const found = await rows(
    db,
    `select id, times, ${columns.join(', ')} from alert_decisions where alert_id = ? order by id`,
    [db.dialect.id16(alertId)],
  );
  return found.map((row) => toDecision(db, row));
}

/** The last hold of a message about an alert; undefined when none was held. */
export async function findLastHold(db: Db, alertId: string): Promise<StoredDecision | undefined> {
  const row = await firstRow(
    db,
    `select id, times, ${columns.join(', ')} from alert_decisions where alert_id = ? and action = 'held' order by id desc limit 1`,
    [db.dialect.id16(alertId)],
  );
  return row && toDecision(db, row);
}

function toDecision(db: Db, row: Row): StoredDecision {
  const idText = (value: unknown): string | undefined => (value === null ? undefined : db.dialect.id16Text(value));
  return {
    id: Number(row['id']),
    at: Number(row['at']),
    lastAt: Number(row['last_at']),
    times: Number(row['times']),
    alertId: idText(row['alert_id']),
    deliveryId: idText(row['delivery_id']),
    cronJobId: optionalNumber(row['cronjob_id']),
    channelUid: idText(row['channel_uid']),
    action: String(row['action']) as AlertTimelineKind,
    reason: optionalText(row['reason']),
    untilAt: optionalNumber(row['until_at']),
    byWhom: optionalText(row['by_whom']),
    detail: optionalText(row['detail']),
  };
}
