import type { Knex } from 'knex';
import MysqlClient from 'knex/lib/dialects/mysql2/index.js';
import { connect, isIP } from 'node:net';
import type { Clock } from '../../process/index.ts';
import { change, firstRow, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { bytesOfId16, id16OfBytes, toId16 } from '../id16.ts';
import type { ServerSettings } from '../settings.ts';
import { storeClient, type RawConnection } from './connection.ts';
import type { ColumnType, Dialect } from './dialect.ts';
import type { ServerLimits } from './postgres.ts';
import { readPassword, toTlsOptions } from './tls.ts';
import { StoreError, type StoreErrorCode } from '../store-error.ts';
import { certificateRefused, noTls, numberOf, textOf, toNetworkError } from './network-errors.ts';

/** MySQL 8 and MariaDB: one dialect. Where they differ, the server is asked what it is. docs/databases.md lists the places. */
export const mysql: Dialect = {
  name: 'mysql',
  id16: (uid) => bytesOfId16(toId16(uid)),
  id16Text: (value) => id16OfBytes(value as Buffer),
  rowsOf: (response) => (response as [Row[]])[0],
  changedBy: (response) => (response as [{ affectedRows: number }])[0].affectedRows,
  lock: { share: ' lock in share mode', update: ' for update', claim: ' for update skip locked' },
  isAlone: false,
  // Never INSERT IGNORE: it hides every other error too.
  ifAbsent: (key) => ` on duplicate key update ${key[0]} = ${key[0]}`,
  orUpdate: () => ' on duplicate key update ',
  proposed: (column) => `values("${column}")`,
  parameter: () => '?',
  deleteBatch: ({ table, where, limit }) => `delete from ${table} where ${where} limit ${limit}`,
  deleteBatchRows: 5_000,
  now: async (db) => Number((await firstRow(db, 'select unix_timestamp(now(3)) * 1000 as now'))?.['now']),
  maxConnections: async (db) => Number((await firstRow(db, 'select @@max_connections as most'))?.['most']),
  writeProbe: 'update schema_version set applied_at = applied_at where version = 1',
  version: async (db) => {
    const text = String((await firstRow(db, 'select version() as version'))?.['version']);
    return `${/mariadb/i.test(text) ? 'MariaDB' : 'MySQL'} ${/\d+\.\d+\.\d+(?=-mariadb)|\d+\.\d+\.\d+/i.exec(text)?.[0] ?? text}`;
  },
  sizeBytes: async (db) => {
    const row = await firstRow(
      db,
      'select sum(data_length + index_length) as bytes from information_schema.tables where table_schema = database()',
    );
    return row?.['bytes'] == null ? undefined : Number(row['bytes']);
  },
  schemas: async (db) => {
    const found = await rows(
      db,
      `select table_schema as name, table_schema = database() as own from information_schema.tables
       where table_name in ('schema_version', 'cluster_state', 'heartbeats') group by table_schema having count(*) = 3
       order by table_schema`,
    );
    return found.map((row) => ({ name: String(row['name']), isOwn: Number(row['own']) === 1 }));
  },
  // The name of a database that was found may be any text.
  enterSchema: (name) => `use "${name.replaceAll('"', '""')}"`,
  takeover: { registerConnection, endOtherConnections },
  leaderLock: {
    // The client queries each second; after this long without a query it has died.
    session: (leaseMs) => [`set session wait_timeout = ${Math.ceil(leaseMs / 1000)}`],
    waitForLock: (db, name) => getLock(db, name, leaderLockWaitS),
    tryLock: (db, name) => getLock(db, name, 0),
    unlock: async (db, name) => {
      await firstRow(db, `select release_lock(${leaderLockName(name)}) as released`);
    },
    // The nodes of a Galera cluster do not tell each other of these locks.
    isOfOneServer: async (db) => (await firstRow(db, "show variables like 'wsrep_on'"))?.['Value'] !== 'ON',
    cut: (connection) => (connection as MysqlConnection).destroy(),
  },
  ownIds: {
    last: async (db, table) => {
      await change(db, freshFigures);
      const row = await firstRow(
        db,
        `select coalesce(auto_increment, 1) - 1 as last from information_schema.tables
         where table_schema = database() and table_name = ?`,
        [table],
      );
      return Number(row?.['last'] ?? 0);
    },
    continueAfter: (table, last) => [`alter table ${table} auto_increment = ${last + 1}`],
  },
  migration: {
    // The comment is for MariaDB alone, which also limits what is no SELECT.
    session: 'set session lock_wait_timeout = 2 /*M! , session max_statement_time = 0 */',
    makeSchema: '',
    // The name is one for the whole server, so it carries the database's; 64 characters at most.
    tryLock: async (db) => (await firstRow(db, `select get_lock(${lockName}, 0) as held`))?.['held'] === 1,
    unlock: async (db) => {
      await firstRow(db, `select release_lock(${lockName}) as released`);
    },
    beginStep: '',
    endStep: '',
    undoStep: '',
    isOneTransaction: false,
  },
  columnType,
  tableOptions: () => ' engine = InnoDB default character set utf8mb4 collate utf8mb4_bin',
  inlineIndex: (name, columns, unique) =>
    `${unique ? 'unique ' : ''}index ${name} (${columns.map((column) => `"${column}"`).join(', ')})`,
  createIndex: () => '',
  // Of the two products only one knows `create index if not exists`.
  addIndex: ({ name, table, columns }) => [
    `set @add_index = (select if(count(*) > 0, 'do 0', 'create index ${name} on ${table} (${columns.map((column) => `"${column}"`).join(', ')})') ` +
      `from information_schema.statistics where table_schema = database() and table_name = '${table}' and index_name = '${name}')`,
    'prepare add_index from @add_index',
    'execute add_index',
    'deallocate prepare add_index',
  ],
  // Of the two products only one knows `add column if not exists`.
  addColumns: ({ table, columns }) =>
    Object.entries(columns).flatMap(([name, type]) => [
      `set @add_column = (select if(count(*) > 0, 'do 0', 'alter table ${table} add column "${name}" ${columnType(type)}') ` +
        `from information_schema.columns where table_schema = database() and table_name = '${table}' and column_name = '${name}')`,
      'prepare add_column from @add_column',
      'execute add_column',
      'deallocate prepare add_column',
    ]),
  dropIndex: ({ name, table }) => [
    `set @drop_index = (select if(count(*) = 0, 'do 0', 'drop index ${name} on ${table}') ` +
      `from information_schema.statistics where table_schema = database() and table_name = '${table}' and index_name = '${name}')`,
    'prepare drop_index from @drop_index',
    'execute drop_index',
    'deallocate prepare drop_index',
  ],
  narrowColumns: ({ table, columns, mostRows }) => [
    freshFigures,
    `set @narrow_columns = (select if(coalesce(table_rows, 0) > ${mostRows}, 'do 0', 'alter table ${table} ${Object.entries(
      columns,
    )
      .map(([name, type]) => `modify "${name}" ${type} not null`)
      .join(', ')}') from information_schema.tables where table_schema = database() and table_name = '${table}')`,
    'prepare narrow_columns from @narrow_columns',
    'execute narrow_columns',
    'deallocate prepare narrow_columns',
  ],
  hasHeap: false,
  addIndexBesideWrites: () => [],
  movePrimaryKey: () => [],
  toError: toMysqlError,
};

/** The comment is for MySQL 8 alone, which else answers from figures that may be a day old. */
const freshFigures = 'set @fresh = 1 /*!80000 , session information_schema_stats_expiry = 0 */';
const lockName = `concat('cronjob-monitor ', left(sha1(database()), 40))`;

/** Below the limit of a statement, 5 s. */
const leaderLockWaitS = 4;
const leaderLockName = (name: string): string =>
  `concat('cronjob-monitor ', left(sha1(concat(database(), ' ${name}')), 40))`;

async function getLock(db: Db, name: string, waitS: number): Promise<boolean> {
  return (await firstRow(db, `select get_lock(${leaderLockName(name)}, ${waitS}) as held`))?.['held'] === 1;
}

function columnType(type: ColumnType): string {
  if (typeof type === 'object') return `varchar(${type.text})`;
  const names = {
    ownId: 'bigint not null auto_increment primary key',
    bigint: 'bigint',
    int: 'int',
    smallint: 'smallint',
    double: 'double',
    id16: 'binary(16)',
    // TEXT ends at 64 KB, and fails on more.
    longText: 'mediumtext',
    bytes: 'mediumblob',
  } as const;
  return names[type];
}

/**
 * MySQL lets a transaction stand idle for ever, so a frozen leader would block its successor: the successor ends its
 * connections, which every leader therefore writes down. MariaDB ends them itself (idle_transaction_timeout).
 */
async function registerConnection(db: Db, connection: RawConnection, epoch: number): Promise<void> {
  const leaders = connection as MysqlConnection;
  if (leaders.endsIdleTransactions || leaders.registeredEpoch === epoch) return;
  const row = await firstRow(db, 'select holder from leader where id = 1 and epoch = ?', [epoch]);
  // Another leads: the fence says so in a moment.
  if (row === undefined) return;
  await change(
    db,
    `insert into leader_connections (holder, connection) values (?, ?)${mysql.ifAbsent(['holder', 'connection'])}`,
    [row['holder'], leaders.threadId],
  );
  leaders.registeredEpoch = epoch;
}

interface MysqlConnection extends RawConnection {
  /** The server's number of this connection. */
  readonly threadId: number;
  endsIdleTransactions?: boolean;
  registeredEpoch?: number;
  destroy(): void;
}

async function endOtherConnections(db: Db, holder: string): Promise<void> {
  const others = await rows(
    db,
    `select c.connection from leader_connections c
     join information_schema.processlist p on p.id = c.connection and p.user = substring_index(current_user(), '@', 1)
     where c.holder <> ? and c.connection <> connection_id()`,
    [holder],
  );
  for (const { connection } of others) {
    // A connection that ended meanwhile needs no KILL.
    await change(db, `kill ${Number(connection)}`).catch(() => 0);
  }
  await change(db, 'delete from leader_connections where holder <> ?', [holder]);
}

export function mysqlClient(settings: ServerSettings, limits: ServerLimits, clock: Clock): typeof Knex.Client {
  return storeClient(MysqlClient, {
    options: async () => connectionOptions(settings, limits),
    prepare: async (connection, ask) => {
      const mariadb = /mariadb/i.test(await versionOf(ask));
      await ask(`set ${sessionSettings(mariadb, limits).join(', ')}`);
      await ask('set session transaction isolation level read committed');
      (connection as MysqlConnection).endsIdleTransactions = mariadb;
    },
    toError: toMysqlError,
    answerLimit: { clock, ms: limits.statementMs + 2_000 },
    cut: (connection) => (connection as MysqlConnection).destroy(),
  });
}

async function versionOf(ask: (sql: string) => Promise<unknown>): Promise<string> {
  const answer = (await ask('select version() as version')) as { response: [Row[]] };
  return String(answer.response[0][0]?.['version']);
}

function sessionSettings(mariadb: boolean, limits: ServerLimits): string[] {
  return [
    // ANSI_QUOTES: identifiers stand in double quotes, as in the other databases. STRICT: nothing is cut or guessed in silence.
    `session sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,PIPES_AS_CONCAT'`,
    `session time_zone = '+00:00'`,
    `session innodb_lock_wait_timeout = ${Math.max(1, Math.ceil(limits.lockMs / 1000))}`,
    ...(mariadb
      ? [
          `session max_statement_time = ${limits.statementMs / 1000}`,
          `session idle_transaction_timeout = ${Math.max(1, Math.ceil(limits.idleInTransactionMs / 1000))}`,
        ]
      : [`session max_execution_time = ${limits.statementMs}`]),
  ];
}

async function connectionOptions(settings: ServerSettings, limits: ServerLimits): Promise<Record<string, unknown>> {
  const tls = await toTlsOptions(settings);
  return {
    // For an address the driver checks no name at all. With a full stop behind it, it is taken for a name, and the check,
    // which drops the full stop, compares it with the addresses of the certificate.
    host: isIP(settings.host) === 0 ? settings.host : `${settings.host}.`,
    stream: () => connect({ host: settings.host, port: settings.port, noDelay: true, keepAlive: true }),
    port: settings.port,
    database: settings.database,
    user: settings.username,
    password: await readPassword(settings),
    ...(tls && {
      ssl: {
        rejectUnauthorized: tls.rejectUnauthorized,
        ...(tls.ca !== undefined && { ca: tls.ca }),
        verifyIdentity: settings.sslMode === 'verify-full',
      },
    }),
    charset: 'UTF8MB4_BIN',
    connectTimeout: limits.connectMs,
    // Rows changed, not rows found: with FOUND_ROWS an upsert that changes nothing counts 1.
    flags: ['-FOUND_ROWS'],
    decimalNumbers: true,
    supportBigNumbers: true,
    dateStrings: true,
    stringifyObjects: true,
  };
}

/**
 * Error numbers to our words. Those above 1900 differ: MariaDB and MySQL gave them out on their own.
 * https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-codes/
 */
const words: Readonly<Record<number, StoreErrorCode>> = {
  1205: 'busy', // lock wait timeout; the transaction stays open until it is rolled back
  1213: 'busy', // deadlock
  1020: 'busy', // record has changed since last read (MariaDB, snapshot isolation)
  1969: 'timeout', // max_statement_time (MariaDB)
  3024: 'timeout', // max_execution_time (MySQL)
  1317: 'timeout', // interrupted
  1040: 'unavailable', // too many connections
  1053: 'unavailable', // shutting down
  1080: 'unavailable',
  1159: 'unavailable',
  1160: 'unavailable',
  1161: 'unavailable',
  1203: 'unavailable', // too many connections of this user
  1226: 'unavailable', // a limit of the account, such as max_user_connections
  1927: 'unavailable', // connection was killed (MariaDB)
  4031: 'unavailable', // disconnected by inactivity (MySQL)
  1021: 'full',
  1114: 'full',
  1290: 'full', // --read-only
  1792: 'full',
  1836: 'full',
  1044: 'refused',
  1045: 'refused',
  1049: 'refused', // unknown database
  1130: 'refused',
  1142: 'refused',
  1227: 'refused',
  1251: 'refused', // authentication protocol
  1698: 'refused',
  3159: 'refused', // require_secure_transport
  1054: 'schema',
  1146: 'schema',
  1022: 'conflict',
  1048: 'conflict',
  1062: 'conflict', // duplicate key
  1264: 'conflict',
  1364: 'conflict',
  1366: 'conflict',
  1406: 'conflict', // data too long
  1586: 'conflict',
};

export function toMysqlError(error: unknown): StoreError {
  const network = toNetworkError(error);
  if (network) return network;

  const code = textOf(error, 'code');
  const number = numberOf(error, 'errno');
  if (code === 'PROTOCOL_CONNECTION_LOST' || /closed state/.test(textOf(error, 'message') ?? '')) {
    return StoreError.ofServer('unavailable', { driverCode: 'PROTOCOL_CONNECTION_LOST' });
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return noTls();
  }
  if (code === 'HANDSHAKE_SSL_ERROR') {
    return certificateRefused(code);
  }
  const word = (number === undefined ? undefined : words[number]) ?? 'internal';
  return StoreError.ofServer(word, {
    driverCode: code ?? textOf(error, 'name'),
    constraint: number === 1062 ? keyOf(textOf(error, 'message') ?? '') : undefined,
    retryable: word === 'busy',
  });
}

/** The name of the key at the end of "Duplicate entry '…' for key 'name'": MySQL writes table.name. The entry is a value: dropped. */
function keyOf(message: string): string | undefined {
  return /for key '(?:[^'.]+\.)?([^'.]+)'$/.exec(message)?.[1];
}
