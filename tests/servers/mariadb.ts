import { spawnSync } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';
import { makeServerFolder, serverUser, type ServerUser } from './unprivileged.ts';
import { runOnMysql } from './administer.ts';

/** One throw-away MariaDB: own folder, own port on loopback, gone with `remove`. */
export interface MariadbServer {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  kill(): Promise<void>;
  /** Starts it again in the same folder and on the same port; with options, with these instead of the first ones. */
  restart(options?: MariadbOptions): Promise<void>;
  remove(): Promise<void>;
}

export interface MariadbOptions {
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /** Options as on its command line, such as --max-connections=5. */
  readonly settings?: readonly string[];
}

export const mariadbPackages = 'mariadb-server-core mariadb-client-core';

const username = 'monitor';
const password = 'a test password';

/** Why it cannot be started here, naming the packages; undefined when it can. */
export function whyNoMariadb(): string | undefined {
  const missing = ['mariadbd', 'mariadb-install-db'].filter((command) => findCommand(command) === undefined);
  return missing.length === 0
    ? undefined
    : `MariaDB is not installed: no ${missing.join(', ')} (apt-get install ${mariadbPackages})`;
}

export async function startMariadb(options: MariadbOptions = {}): Promise<MariadbServer> {
  const reason = whyNoMariadb();
  if (reason !== undefined) throw new Error(reason);
  const user = serverUser();
  const folder = makeServerFolder('cronjob-monitor-mariadb', user);
  initialise(folder, user);

  const port = await findFreePort();
  let present = options;
  const start = async (): Promise<Child> => {
    const init = writeFiles(folder, present, user);
    const args = serverArgs(folder, port, init, present);
    const child = new Child({
      command: findCommand('mariadbd') ?? '',
      args,
      cwd: folder,
      uid: user.uid,
      gid: user.gid,
    });
    await child.ready(async () => {
      await runOnMysql({ host: '127.0.0.1', port, username, password, database: 'mysql' }, 'select 1');
    });
    return child;
  };

  let child: Child | undefined = await start();
  return {
    port,
    username,
    password,
    get pid() {
      return child?.pid;
    },
    kill: async () => {
      child?.signal('SIGKILL');
      await child?.ended();
      child = undefined;
    },
    restart: async (changed) => {
      present = changed ?? present;
      await child?.stop();
      child = await start();
    },
    remove: async () => {
      // Nothing of it is needed any more, so it need not write anything out.
      await child?.stop('SIGKILL');
      child = undefined;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serverArgs(folder: string, port: number, init: string, options: MariadbOptions): string[] {
  return [
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    `--tmpdir=${folder}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${init}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    '--skip-log-bin',
    '--skip-name-resolve',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-flush-method=nosync',
    '--innodb-buffer-pool-size=64M',
    '--innodb-log-file-size=32M',
    '--max-connections=60',
    ...(options.tls ? [`--ssl-cert=${join(folder, 'server.crt')}`, `--ssl-key=${join(folder, 'server.key')}`] : []),
    ...(options.settings ?? []),
  ];
}

/** The account that tests use, made at every start, and the certificate. */
function writeFiles(folder: string, options: MariadbOptions, user: ServerUser): string {
  const files = {
    'init.sql': [
      `create user if not exists '${username}'@'%' identified by '${password}';`,
      `grant all privileges on *.* to '${username}'@'%' with grant option;`,
    ].join('\n'),
    ...(options.tls && { 'server.crt': options.tls.certificate, 'server.key': options.tls.key }),
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    if (user.uid !== undefined && user.gid !== undefined) chownSync(file, user.uid, user.gid);
  }
  return join(folder, 'init.sql');
}

function initialise(folder: string, user: ServerUser): void {
  const result = spawnSync(
    findCommand('mariadb-install-db') ?? '',
    [
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      // A server that starts removes temporary tables wherever it keeps its own: those of another one too.
      `--tmpdir=${folder}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ],
    { encoding: 'utf8', cwd: folder, uid: user.uid, gid: user.gid },
  );
  if (result.status !== 0) throw new Error(`mariadb-install-db failed: ${result.stdout}\n${result.stderr}`);
}

/** Servers live in sbin, which is not on every user's PATH. */
function findCommand(name: string): string | undefined {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin:/sbin`;
  const found = spawnSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8', env: { PATH: path } });
  return found.status === 0 ? found.stdout.trim() : undefined;
}
