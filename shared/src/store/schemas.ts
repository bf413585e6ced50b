import { firstRow } from './ask.ts';
import { findClusterState, putClusterState } from './cluster-state.ts';
import type { Db, Tx } from './database.ts';
import type { ServerSettings, StoreSettings } from './settings.ts';

/**
 * Several clusters share one database server: each has a schema of PostgreSQL, or a database of MySQL, of its own, to which its controller
 * alone writes. A service that shows all of them reads each where it is.
 */

/** One schema that holds tables of this product. */
interface FoundSchema {
  readonly name: string;
  /** The one that this store reads and writes. */
  readonly isOwn: boolean;
}

/** Schemas of this server that the account may read, by name; empty in SQLite. Throws `StoreError`. */
export async function listSchemas(db: Db): Promise<readonly FoundSchema[]> {
  return db.dialect.schemas(db);
}

/** The same settings for another schema of the same server. */
export function inSchema(settings: StoreSettings, name: string): ServerSettings {
  if (settings.type === 'sqlite') throw new Error('a SQLite file has no other schemas');
  return settings.type === 'postgres' ? { ...settings, schema: name } : { ...settings, database: name };
}

/** The cluster and settings that the leader of a schema wrote; undefined before it did. */
export interface SelfDescription {
  /** `cluster.name` of its configuration. */
  readonly name: string | undefined;
  /** UID of its namespace kube-system. */
  readonly uid: string | undefined;
  readonly defaultTimeZone: string | undefined;
}

/** Keeps what others have to know who read this schema. The UID is kept by itself: alerts are known by it for ever. */
export async function describeSelf(tx: Tx, said: Omit<SelfDescription, 'uid'>): Promise<void> {
  await putClusterState(tx, 'description', said);
}

/** Throws `StoreError`. */
export async function findSelfDescription(db: Db): Promise<SelfDescription> {
  const said = (await findClusterState(db, 'description')) as Partial<Omit<SelfDescription, 'uid'>> | undefined;
  const uid = await findClusterState(db, 'clusterUid');
  return {
    name: textOrNone(said?.name),
    defaultTimeZone: textOrNone(said?.defaultTimeZone),
    uid: textOrNone(uid),
  };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export interface CatalogName {
  readonly table: 'cronjobs' | 'monitors';
  readonly namespace: string;
  readonly name: string;
}

/** Whether this schema knows, or knew, something of that name. Throws `StoreError`. */
export async function hasName(db: Db, { table, namespace, name }: CatalogName): Promise<boolean> {
  const sql = `select 1 as one from ${table} where namespace = ? and name = ? limit 1`;
  return (await firstRow(db, sql, [namespace, name])) !== undefined;
}

/** Reads a row of each table that lists begin with: a schema that answers this answers them. Throws `StoreError`. */
export async function touchLists(db: Db): Promise<void> {
  const tables = [
    'cronjob_list',
    'cronjobs',
    'alerts',
    'monitors',
    'silences',
    'channels',
    'cluster_state',
    'heartbeats',
  ];
  await firstRow(db, `select ${tables.map((table) => `(select 1 from ${table} limit 1) as ${table}`).join(', ')}`);
}
