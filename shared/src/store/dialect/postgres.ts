import type { Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { types as driverTypes } from 'pg';
import type { Clock } from '../../process/index.ts';
import { change, firstRow, rows, type Row } from '../ask.ts';
import type { ServerSettings } from '../settings.ts';
import { storeClient, type RawConnection } from './connection.ts';
import type { ColumnType, Dialect } from './dialect.ts';
import { readPassword, toTlsOptions } from './tls.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';
import { noTls, textOf, toNetworkError } from './network-errors.ts';
import { toId16 } from '../id16.ts';

export const postgres: Dialect = {
  name: 'postgres',
  id16: toId16,
  id16Text: (value) => value as string,
  rowsOf: (response) => (response as { rows: Row[] }).rows,
  changedBy: (response) => (response as { rowCount: number | null }).rowCount ?? 0,
  lock: { share: ' for share', update: ' for update', claim: ' for update skip locked' },
  isAlone: false,
  ifAbsent: (key) => ` on conflict (${key.join(', ')}) do nothing`,
  orUpdate: (key) => ` on conflict (${key.join(', ')}) do update set `,
  proposed: (column) => `excluded."${column}"`,
  parameter: (type) => `?::${castName(type)}`,
  deleteBatch: ({ table, where, limit }) =>
    `delete from ${table} where ctid = any (array(select ctid from ${table} where ${where} limit ${limit}))`,
  deleteBatchRows: 5_000,
  now: async (db) => {
    const row = await firstRow(db, 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now');
    return Number(row?.['now']);
  },
  maxConnections: async (db) => {
    const row = await firstRow(
      db,
      `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`,
    );
    return Number(row?.['most']);
  },
  writeProbe: 'update schema_version set applied_at = applied_at where version = 1',
  version: async (db) => {
    const row = await firstRow(db, `select current_setting('server_version') as version`);
    return `PostgreSQL ${String(row?.['version']).split(' ', 1)[0]}`;
  },
  sizeBytes: async (db) => {
    const row = await firstRow(
      db,
      `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
       where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
    );
    return Number(row?.['bytes']);
  },
  schemas: async (db) => {
    const found = await rows(
      db,
      `select n.nspname as name, n.nspname = current_schema() as own from pg_namespace n
       where has_schema_privilege(n.oid, 'usage') and (
         select count(*) from pg_class c where c.relnamespace = n.oid and c.relkind = 'r'
         and c.relname in ('schema_version', 'cluster_state', 'heartbeats') and has_table_privilege(c.oid, 'select')) = 3
       order by n.nspname`,
    );
    return found.map((row) => ({ name: String(row['name']), isOwn: row['own'] === true }));
  },
  enterSchema,
  // idle_in_transaction_session_timeout ends what stands idle.
  takeover: { registerConnection: async () => {}, endOtherConnections: async () => {} },
  leaderLock: {
    session: () => [
      // A machine that is silent is asked after 4 s, three times; one that takes no answer has as long.
      'set tcp_keepalives_idle = 4',
      'set tcp_keepalives_interval = 2',
      'set tcp_keepalives_count = 3',
      'set tcp_user_timeout = 10000',
      `set lock_timeout = ${leaderLockWaitMs}`,
    ],
    waitForLock: async (db, name) => {
      // An error that is caught in the block is not written to the log of the server, where one line for each wait would stand.
      await change(
        db,
        `do $$ begin perform pg_advisory_lock(${leaderLockKey(name)}); exception when lock_not_available then null; end $$`,
      );
      return postgres.leaderLock?.tryLock(db, name) ?? false;
    },
    // A session that has it takes it once more.
    tryLock: async (db, name) =>
      (await firstRow(db, `select pg_try_advisory_lock(${leaderLockKey(name)}) as held`))?.['held'] === true,
    unlock: async (db) => {
      await firstRow(db, 'select pg_advisory_unlock_all() as unlocked');
    },
    isOfOneServer: async () => true,
    cut,
  },
  ownIds: {
    last: async (db, table) => {
      const sequence = `pg_get_serial_sequence('${table}', 'id')`;
      const row = await firstRow(db, `select coalesce(pg_sequence_last_value(${sequence}::regclass), 0) as last`);
      return Number(row?.['last']);
    },
    // A sequence begins at 1, and the third argument says whether its value was given already.
    continueAfter: (table, last) => [
      `select setval(pg_get_serial_sequence('${table}', 'id'), ${Math.max(1, last)}, ${last > 0})`,
    ],
  },
  migration: {
    // Waits 2 s for a table that others use, and is repeated.
    session: 'set lock_timeout = 2000; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0',
    // A search path of several schemas is the server's own, and begins with one that exists.
    makeSchema: `do $$ begin if current_schema() is null and current_setting('search_path') not like '%,%' then
      execute 'create schema if not exists ' || current_setting('search_path'); end if; end $$`,
    tryLock: async (db) => (await firstRow(db, `select pg_try_advisory_lock(${lockKey}) as held`))?.['held'] === true,
    unlock: async (db) => {
      await firstRow(db, `select pg_advisory_unlock(${lockKey}) as released`);
    },
    beginStep: 'begin',
    endStep: 'commit',
    undoStep: 'rollback',
    isOneTransaction: false,
  },
  columnType,
  tableOptions: ({ churning = false, updated = false }) => {
    const options = [churning && 'autovacuum_vacuum_scale_factor = 0.02', updated && 'fillfactor = 80'].filter(Boolean);
    return options.length === 0 ? '' : ` with (${options.join(', ')})`;
  },
  inlineIndex: () => '',
  createIndex: ({ name, table, columns, unique, ordered = false }) =>
    `create ${unique ? 'unique ' : ''}index if not exists ${name} on ${table}${ordered ? ' using brin' : ''} (${columns
      .map((column) => `"${column}"`)
      .join(', ')})`,
  addIndex: ({ name, table, columns }) => [
    `create index if not exists ${name} on ${table} (${columns.map((column) => `"${column}"`).join(', ')})`,
  ],
  addColumns: ({ table, columns }) =>
    Object.entries(columns).map(
      ([name, type]) => `alter table ${table} add column if not exists "${name}" ${columnType(type)}`,
    ),
  dropIndex: ({ name }) => [`drop index if exists ${name}`],
  // Widths of two and four bytes are lost again where the next column is aligned.
  narrowColumns: () => [],
  hasHeap: true,
  addIndexBesideWrites: ({ name, table, columns, where }) => [
    // It waits for older transactions, and makes no other wait meanwhile.
    'set lock_timeout = 60000',
    // Drops the invalid index that an interrupted step left.
    `drop index concurrently if exists ${name}`,
    `create index concurrently ${name} on ${table} (${columns.join(', ')})${where === undefined ? '' : ` where ${where}`}`,
    `set lock_timeout = ${stepLockMs}`,
  ],
  movePrimaryKey: ({ table, index, columns }) => [
    // Gone when the step was done and the journal does not say so.
    `create unique index if not exists ${index} on ${table} (${columns.join(', ')})`,
    `alter table ${table} drop constraint ${table}_pkey, add constraint ${table}_pkey primary key using index ${index}`,
  ],
  toError: toPostgresError,
};

/** A statement that waits longer for a table makes all others wait behind it. */
const stepLockMs = 2_000;

/** One key for all versions of this product, and one per schema: two installations in one database do not meet. */
const lockKey = `772156011, hashtext(current_schema()::text)`;

/** Shorter than the server's deadlock_timeout of 1 s: a wait beyond it is a line in the log of a server that logs waits for locks. */
const leaderLockWaitMs = 900;
const leaderLockKey = (name: string): string => `772156012, hashtext(current_schema()::text || ' ${name}')`;

function columnType(type: ColumnType): string {
  // Names compare and sort by bytes on every database.
  if (typeof type === 'object' || type === 'longText') return 'text collate "C"';
  if (type === 'ownId') return 'bigint generated by default as identity primary key';
  return castName(type);
}

function castName(type: ColumnType): string {
  if (typeof type === 'object' || type === 'longText') return 'text';
  const names = {
    ownId: 'bigint',
    bigint: 'bigint',
    int: 'integer',
    smallint: 'smallint',
    double: 'double precision',
    id16: 'uuid',
    bytes: 'bytea',
  } as const;
  return names[type];
}

/** int8 and numeric come as text from the driver: our numbers stay below 2^53. */
const numberTypes: ReadonlySet<number> = new Set([20, 1700]);
const types = {
  getTypeParser(oid: Parameters<typeof driverTypes.getTypeParser>[0], format: 'text' = 'text'): unknown {
    return numberTypes.has(oid) && format === 'text' ? Number : driverTypes.getTypeParser(oid, format);
  },
};

export interface ServerLimits {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
  readonly connectMs: number;
}

export function postgresClient(settings: ServerSettings, limits: ServerLimits, clock: Clock): typeof Knex.Client {
  return storeClient(PostgresClient, {
    options: async () => ({
      host: settings.host,
      port: settings.port,
      database: settings.database,
      user: settings.username,
      password: await readPassword(settings),
      ssl: (await toTlsOptions(settings)) ?? false,
      application_name: 'cronjob-monitor',
      connectionTimeoutMillis: limits.connectMs,
      keepAlive: true,
      types,
    }),
    // Set by statement and not as start parameters, which a proxy may swallow: what is set here is in force or throws.
    prepare: async (_connection, ask) => {
      await ask(
        [
          `set statement_timeout = ${limits.statementMs}`,
          `set lock_timeout = ${limits.lockMs}`,
          `set idle_in_transaction_session_timeout = ${limits.idleInTransactionMs}`,
          `set default_transaction_isolation = 'read committed'`,
          `set client_encoding = 'UTF8'`,
          `set time zone 'UTC'`,
          'set jit = off',
          ...(settings.schema === undefined ? [] : [enterSchema(settings.schema)]),
        ].join('; '),
      );
    },
    toError: toPostgresError,
    answerLimit: { clock, ms: limits.statementMs + 2_000 },
    cut,
  });
}

/** The name of a schema that was found may be any text. */
function enterSchema(name: string): string {
  return `set search_path to "${name.replaceAll('"', '""')}"`;
}

function cut(connection: RawConnection): void {
  const { connection: wire } = connection as RawConnection & { connection?: { stream?: { destroy(): void } } };
  wire?.stream?.destroy();
}

/** SQLSTATE, or its class of two characters, to our word. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const words: Readonly<Record<string, StoreErrorCode>> = {
  '40001': 'busy', // serialization_failure
  '40P01': 'busy', // deadlock_detected
  '55P03': 'busy', // lock_not_available: lock_timeout ran out
  '57014': 'timeout', // query_canceled: statement_timeout ran out
  '57P01': 'unavailable', // admin_shutdown
  '57P02': 'unavailable', // crash_shutdown
  '57P03': 'unavailable', // cannot_connect_now: starting up or recovering
  '57P05': 'unavailable', // idle_session_timeout
  '25P03': 'unavailable', // idle_in_transaction_session_timeout
  '25P04': 'unavailable', // transaction_timeout
  '53300': 'unavailable', // too_many_connections
  '53100': 'full',
  '53200': 'full',
  '25006': 'full', // read_only_sql_transaction: a standby, or a disk guard
  '42501': 'refused', // insufficient_privilege
  '3D000': 'refused', // the database does not exist
  '42P01': 'schema',
  '42703': 'schema',
  '3F000': 'schema',
  '08': 'unavailable',
  '28': 'refused',
  '23': 'conflict',
  '22': 'conflict',
};

/** Endings of a connection that carry no code. */
const brokenConnection =
  /^(Connection terminated|timeout expired|Client has encountered a connection error|Client was closed|There was an error establishing an SSL)/;

export function toPostgresError(error: unknown): StoreError {
  const network = toNetworkError(error);
  if (network) return network;

  const code = textOf(error, 'code');
  const message = textOf(error, 'message') ?? '';
  if (message.startsWith('The server does not support SSL')) {
    return noTls();
  }
  if (code === undefined) {
    return brokenConnection.test(message)
      ? StoreError.ofServer('unavailable', { driverCode: 'TERMINATED' })
      : new StoreError('internal', 'the database driver failed', { driverCode: textOf(error, 'name') });
  }
  const word = words[code] ?? words[code.slice(0, 2)] ?? 'internal';
  return StoreError.ofServer(word, {
    driverCode: code,
    constraint: textOf(error, 'constraint'),
    table: textOf(error, 'table'),
    retryable: word === 'busy',
  });
}
