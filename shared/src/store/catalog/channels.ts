import type { ChannelType } from '../../contract/index.ts';
import type { CompletableChannel, Instant } from '../../domain/index.ts';
import { change, firstRow, insertRows, rows } from '../ask.ts';
import { recordChanges } from '../changes.ts';
import { cleanText, fromJson, optionalCleanText, toJson } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { quoted, updateAll } from '../upsert.ts';

/** An AlertChannel as its reconciler judged it. `spec` holds references to Secrets and names of headers, never a value. */
export interface ChannelProjection {
  readonly uid: string;
  readonly name: string;
  readonly type: ChannelType;
  readonly generation: number;
  readonly spec: unknown;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** When its condition Ready last changed; undefined: not known. */
  readonly readyChangedAt?: Instant | undefined;
  /** resourceVersion of the Secret last read; undefined: none. */
  readonly secretVersion: string | undefined;
}

const columns = [
  'uid',
  'name',
  'name_key',
  'type',
  'generation',
  'spec',
  'ready',
  'reason',
  'message',
  'secret_version',
  'deleted_at',
] as const;
/** `ready_changed_at` follows from the other columns: alone it makes no change. */
const written = [...columns, 'ready_changed_at'] as const;

/** Writes the channel's row; its statistics are left alone. Another UID of the same name is marked deleted. */
export async function projectChannel(
  tx: Tx,
  channel: ChannelProjection,
  at: Instant,
): Promise<{ created: boolean; changed: boolean }> {
  const uid = tx.dialect.id16(channel.uid);
  const row: Record<(typeof written)[number], unknown> = {
    uid,
    name: channel.name,
    // Unique among the channels that exist: null once deleted.
    name_key: channel.name,
    type: channel.type,
    generation: channel.generation,
    spec: toJson(channel.spec),
    ready: Number(channel.ready),
    reason: cleanText(channel.reason, 64),
    message: cleanText(channel.message, 4_000),
    secret_version: optionalCleanText(channel.secretVersion, 253),
    deleted_at: null,
    ready_changed_at: channel.readyChangedAt ?? null,
  };
  const before = await firstRow(
    tx,
    `select ${quoted(written.slice(1))} from channels where uid = ?${tx.dialect.lock.update}`,
    [uid],
  );
  const isDated = channel.readyChangedAt === undefined || before?.['ready_changed_at'] !== null;
  if (before !== undefined && isDated && columns.slice(1).every((column) => before[column] === row[column])) {
    return { created: false, changed: false };
  }
  // The name has to be free before it is taken.
  await change(tx, 'update channels set deleted_at = ?, name_key = null where name_key = ? and uid <> ?', [
    at,
    channel.name,
    uid,
  ]);
  await insertRows(tx, {
    table: 'channels',
    columns: written,
    rows: [written.map((column) => row[column])],
    tail: updateAll(tx.dialect, ['uid'], written.slice(1)),
  });
  await recordChannelChange(tx, channel.name, channel.ready, false);
  return { created: before === undefined, changed: true };
}

/** Marks a channel deleted at `at`. Returns false when it was not known, or deleted before. */
export async function forgetChannel(tx: Tx, uid: string, at: Instant): Promise<boolean> {
  const bound = tx.dialect.id16(uid);
  const marked = await change(
    tx,
    'update channels set deleted_at = ?, name_key = null, ready = 0 where uid = ? and deleted_at is null',
    [at, bound],
  );
  if (marked === 0) return false;
  const row = await firstRow(tx, 'select name from channels where uid = ?', [bound]);
  await recordChannelChange(tx, String(row?.['name']), false, true);
  return true;
}

async function recordChannelChange(tx: Tx, name: string, ready: boolean, deleted: boolean): Promise<void> {
  await recordChanges(tx, [{ kind: 'channel', namespace: undefined, data: { name, ready, deleted } }]);
}

/** The fields of a channel that routing reads. */
export interface RoutedChannel extends CompletableChannel {
  readonly uid: string;
  readonly name: string;
  /** The channel gets closings too. An Alertmanager always does: its own receivers choose. */
  readonly sendResolved: boolean;
  /** The receiver is an Alertmanager: it gets firing alerts again and again, and routes them itself. */
  readonly isAlertmanager: boolean;
  /** A paging channel that hears also of what ended before it was told. Others always do. */
  readonly sendRecovered: boolean;
  /** Namespaces that it admits; undefined: monitors of all, and what CronJobs say of themselves from none. */
  readonly allowedNamespaces: readonly string[] | undefined;
}

/** Every channel that exists, by name. */
export async function listRoutedChannels(db: Db): Promise<ReadonlyMap<string, RoutedChannel>> {
  const found = await rows(db, 'select uid, name, type, spec from channels where deleted_at is null order by name');
  return new Map(
    found.map((row) => {
      const spec = fromJson(row['spec']) as
        | {
            readonly sendResolved?: unknown;
            readonly sendRecovered?: unknown;
            readonly allowedNamespaces?: unknown;
            readonly webhook?: { readonly sendUpdates?: unknown; readonly format?: unknown };
          }
        | null
        | undefined;
      const isAlertmanager = spec?.webhook?.format === 'alertmanager';
      const channel: RoutedChannel = {
        uid: db.dialect.id16Text(row['uid']),
        name: String(row['name']),
        type: String(row['type']) as ChannelType,
        sendResolved: isAlertmanager || spec?.sendResolved !== false,
        isAlertmanager,
        sendRecovered: spec?.sendRecovered === true,
        sendUpdates: spec?.webhook?.sendUpdates === true,
        allowedNamespaces: allowedNamespacesOf(spec),
      };
      return [channel.name, channel];
    }),
  );
}

/** A list that cannot be read admits no namespace. */
export function allowedNamespacesOf(
  spec: { readonly allowedNamespaces?: unknown } | null | undefined,
): readonly string[] | undefined {
  const allowed = spec?.allowedNamespaces;
  if (allowed === undefined || allowed === null) return undefined;
  return Array.isArray(allowed) ? allowed.filter((name) => typeof name === 'string') : [];
}
