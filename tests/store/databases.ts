import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerSettings, StoreSettings } from '@cronjob-monitor/shared/store';
import {
  runOnMysql,
  runOnPostgres,
  startMariadb,
  startPostgres,
  whyNoMariadb,
  type ServerAccount,
} from '../servers/index.ts';

/** One of the databases that the suites run on, started when first used. */
export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres' | 'mysql';
  /** Why it cannot be used here, naming what to install; undefined when it can. */
  readonly skip: string | undefined;
  /** Settings of a database that nothing was ever written to. */
  fresh(): Promise<StoreSettings>;
  /** Removes all that `fresh` made, and the server. */
  remove(): Promise<void>;
}

const pool = { maxIdleConns: 2, maxOpenConns: 8, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 };

/**
 * The databases to test on. `DATABASES` narrows them, as in DATABASES=sqlite,postgres. `POSTGRES_URL` and `MYSQL_URL` name servers
 * that are there already, with an account that may create databases: postgres://user:password@host:port/database. `filesIn`: folder for
 * the files of SQLite.
 */
export function testDatabases(filesIn = tmpdir()): TestDatabase[] {
  const wanted = process.env['DATABASES']?.split(',').map((name) => name.trim());
  return [sqliteFiles(filesIn), postgresServer(), mysqlServer()].filter(({ name }) => wanted?.includes(name) ?? true);
}

function sqliteFiles(home: string): TestDatabase {
  const folders: string[] = [];
  return {
    name: 'sqlite',
    skip: undefined,
    fresh: async () => {
      const folder = mkdtempSync(join(home, 'cronjob-monitor-sqlite-'));
      folders.push(folder);
      return { type: 'sqlite', path: join(folder, 'monitor.db') };
    },
    remove: async () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function postgresServer(): TestDatabase {
  const account = onDemand(async () => {
    const url = process.env['POSTGRES_URL'];
    if (url !== undefined) return { account: toAccount(url, 5432), remove: async () => {} };
    const server = await startPostgres();
    return { account: { host: '127.0.0.1', database: 'postgres', ...server }, remove: async () => server.remove() };
  });
  return serverDatabase('postgres', undefined, account, runOnPostgres);
}

function mysqlServer(): TestDatabase {
  const url = process.env['MYSQL_URL'];
  const account = onDemand(async () => {
    if (url !== undefined) return { account: toAccount(url, 3306), remove: async () => {} };
    const server = await startMariadb();
    return { account: { host: '127.0.0.1', database: 'mysql', ...server }, remove: async () => server.remove() };
  });
  return serverDatabase('mysql', url === undefined ? whyNoMariadb() : undefined, account, runOnMysql);
}

interface StartedServer {
  readonly account: ServerAccount;
  readonly remove: () => Promise<void>;
}

function serverDatabase(
  name: 'postgres' | 'mysql',
  skip: string | undefined,
  server: OnDemand<StartedServer>,
  run: (account: ServerAccount, ...statements: string[]) => Promise<unknown>,
): TestDatabase {
  const made: string[] = [];
  return {
    name,
    skip,
    fresh: async () => {
      const { account } = await server.get();
      const database = `monitor_test_${process.pid}_${made.length}`;
      await run(account, `drop database if exists ${database}`, `create database ${database}`);
      made.push(database);
      const { host, port, username, password } = account;
      return {
        type: name,
        host,
        port,
        username,
        password,
        database,
        sslMode: 'disable',
        pool,
      } satisfies ServerSettings;
    },
    remove: async () => {
      const started = server.started();
      if (started === undefined) return;
      const { account, remove } = await started;
      const given = process.env[name === 'postgres' ? 'POSTGRES_URL' : 'MYSQL_URL'] !== undefined;
      if (given) await run(account, ...made.map((database) => `drop database if exists ${database}`));
      await remove();
    },
  };
}

interface OnDemand<T> {
  get(): Promise<T>;
  started(): Promise<T> | undefined;
}

function onDemand<T>(make: () => Promise<T>): OnDemand<T> {
  let made: Promise<T> | undefined;
  return { get: async () => (made ??= make()), started: () => made };
}

function toAccount(url: string, defaultPort: number): ServerAccount {
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname,
    port: port === '' ? defaultPort : Number(port),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  };
}
