import type { ServerSettings } from '@cronjob-monitor/shared/store';
import {
  runOnMysql,
  runOnPostgres,
  startMariadb,
  startPostgres,
  whyNoMariadb,
  type DatabaseServer,
} from '../servers/index.ts';

/** A kind of server of which a suite needs one of its own: to be killed, filled or disturbed. */
interface OwnServerKind {
  readonly name: ServerSettings['type'];
  /** Why it cannot run here, or was left out; false when it can. */
  readonly skip: string | false;
  start(settings?: readonly string[]): Promise<OwnServer>;
}

export interface OwnServer {
  readonly server: DatabaseServer;
  /** Settings of its one database, reached at this port: its own, or a proxy's. */
  settings(port?: number, changes?: Partial<ServerSettings>): ServerSettings;
  /** Runs a statement as an administrator, beside the product. */
  run(statement: string): Promise<Record<string, unknown>[]>;
}

const wanted = process.env['DATABASES']?.split(',').map((name) => name.trim());

function skipOf(name: string, reason: string | undefined): string | false {
  if (wanted !== undefined && !wanted.includes(name)) return 'DATABASES leaves it out';
  return reason ?? false;
}

export const ownServers: readonly OwnServerKind[] = [
  {
    name: 'postgres',
    skip: skipOf('postgres', undefined),
    start: async (settings = []) =>
      toOwnServer('postgres', await startPostgres({ settings }), runOnPostgres, 'postgres'),
  },
  {
    name: 'mysql',
    skip: skipOf('mysql', whyNoMariadb()),
    start: async (settings = []) => {
      const server = await startMariadb({ settings });
      const own = toOwnServer('mysql', server, runOnMysql, 'monitor');
      const { username, password, port } = server;
      await runOnMysql({ host: '127.0.0.1', port, username, password, database: 'mysql' }, 'create database monitor');
      return own;
    },
  },
];

function toOwnServer(
  type: ServerSettings['type'],
  server: DatabaseServer,
  run: typeof runOnPostgres,
  database: string,
): OwnServer {
  const { username, password } = server;
  return {
    server,
    settings: (port = server.port, changes = {}) => ({
      type,
      host: '127.0.0.1',
      port,
      username,
      password,
      database,
      sslMode: 'disable',
      pool: { maxIdleConns: 2, maxOpenConns: 4, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 },
      ...changes,
    }),
    run: (statement) => run({ host: '127.0.0.1', port: server.port, username, password, database }, statement),
  };
}
