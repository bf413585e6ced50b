import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child-process.ts';
import { own, password, startServer, username, type DatabaseOptions, type DatabaseServer } from './database-server.ts';
import { findFreePort } from './free-port.ts';
import { makeServerFolder, serverUser, type ServerUser } from './unprivileged.ts';
import { runOnMysql } from './administer.ts';

export const mariadbPackages = 'mariadb-server-core mariadb-client-core';

/** Why it cannot be started here, naming the packages; undefined when it can. */
export function whyNoMariadb(): string | undefined {
  const missing = ['mariadbd', 'mariadb-install-db'].filter((command) => findCommand(command) === undefined);
  return missing.length === 0
    ? undefined
    : `MariaDB is not installed: no ${missing.join(', ')} (apt-get install ${mariadbPackages})`;
}

export async function startMariadb(options: DatabaseOptions = {}): Promise<DatabaseServer> {
  const reason = whyNoMariadb();
  if (reason !== undefined) throw new Error(reason);
  const user = serverUser();
  const folder = makeServerFolder('cronjob-monitor-mariadb', user);
  initialise(folder, user);

  const port = await findFreePort();
  return startServer({
    folder,
    port,
    options,
    start: async (present) => {
      const init = writeFiles(folder, present, user);
      const child = new Child({
        command: findCommand('mariadbd') ?? '',
        args: serverArgs(folder, port, init, present),
        cwd: folder,
        uid: user.uid,
        gid: user.gid,
      });
      await child.ready(async () => {
        await runOnMysql({ host: '127.0.0.1', port, username, password, database: 'mysql' }, 'select 1');
      });
      return child;
    },
    stopSignal: 'SIGTERM',
    // Nothing of it is needed any more, so it need not write anything out.
    removeSignal: 'SIGKILL',
    tries: 1,
  });
}

function serverArgs(folder: string, port: number, init: string, options: DatabaseOptions): string[] {
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
function writeFiles(folder: string, options: DatabaseOptions, user: ServerUser): string {
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
    own(file, user);
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
