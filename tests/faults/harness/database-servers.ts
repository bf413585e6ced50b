import { spawnSync } from 'node:child_process';
import type { ServerSettings } from '@cronjob-monitor/shared/store';
import {
  runOnMysql,
  runOnPostgres,
  startMariadb,
  startPostgres,
  whyNoMariadb,
  type DatabaseServer,
} from '../../servers/index.ts';

/** A database server that a test may kill. */
export interface KillableServer {
  readonly settings: ServerSettings;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Stops it and all its sessions where they stand; connections stay. */
  pause(): void;
  resume(): void;
  remove(): Promise<void>;
}

export interface KillableDatabase {
  readonly name: 'postgres' | 'mysql';
  /** Why it cannot be started here; undefined when it can. */
  readonly skip: string | undefined;
  readonly start: () => Promise<KillableServer>;
}

const database = 'monitor';
const pool = { maxIdleConns: 2, maxOpenConns: 4, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0 };

/** Both kinds, or those that DATABASES names; always servers of our own, since they are killed. */
export function killableDatabases(): KillableDatabase[] {
  const wanted = process.env['DATABASES']?.split(',').map((name) => name.trim());
  const all: KillableDatabase[] = [
    {
      name: 'postgres',
      skip: undefined,
      start: async () => {
        const server = await startPostgres();
        await runOnPostgres(
          { host: '127.0.0.1', database: 'postgres', ...accountOf(server) },
          `create database ${database}`,
        );
        return toKillable('postgres', server);
      },
    },
    {
      name: 'mysql',
      skip: whyNoMariadb(),
      start: async () => {
        // What is committed must be with the system when the server is killed.
        const server = await startMariadb({ settings: ['--innodb-flush-log-at-trx-commit=2'] });
        await runOnMysql({ host: '127.0.0.1', database: 'mysql', ...accountOf(server) }, `create database ${database}`);
        return toKillable('mysql', server);
      },
    },
  ];
  return all.filter(({ name }) => wanted?.includes(name) ?? true);
}

function accountOf({
  port,
  username,
  password,
}: DatabaseServer): Pick<DatabaseServer, 'port' | 'username' | 'password'> {
  return { port, username, password };
}

function toKillable(type: 'postgres' | 'mysql', server: DatabaseServer): KillableServer {
  return {
    settings: { type, host: '127.0.0.1', database, sslMode: 'disable', pool, ...accountOf(server) },
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: () => signalAll(server, 'SIGSTOP'),
    resume: () => signalAll(server, 'SIGCONT'),
    remove: () => server.remove(),
  };
}

/** To the server and to its own processes: each session of PostgreSQL is one. */
function signalAll({ pid }: DatabaseServer, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error('the server does not run');
  process.kill(pid, signal);
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  for (const session of stdout.split('\n').map(Number).filter(Boolean)) process.kill(session, signal);
}
