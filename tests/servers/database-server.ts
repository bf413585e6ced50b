import { chownSync, rmSync } from 'node:fs';
import type { Child } from './child-process.ts';
import type { ServerUser } from './unprivileged.ts';

export interface DatabaseOptions {
  /** PEM texts: the server then offers TLS. Without them it has none. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
  /** Settings as on its command line: `max_connections=5` of PostgreSQL, `--max-connections=5` of MariaDB. */
  readonly settings?: readonly string[];
}

/** One throw-away database server: own folder, own port on loopback, no fsync, gone with `remove`. */
export interface DatabaseServer {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends it without a chance to say good-bye, and all its sessions with it. */
  kill(): Promise<void>;
  /** Starts it again in the same folder and on the same port; with options, with these instead of the first ones. */
  restart(options?: DatabaseOptions): Promise<void>;
  remove(): Promise<void>;
}

/** The account that tests use. */
export const username = 'monitor';
export const password = 'a test password';

/** How one kind of server starts and ends. */
interface ServerKind {
  readonly folder: string;
  readonly port: number;
  readonly options: DatabaseOptions;
  /** Resolves when the server answers a login. */
  readonly start: (options: DatabaseOptions) => Promise<Child>;
  readonly stopSignal: NodeJS.Signals;
  readonly removeSignal: NodeJS.Signals;
  /** Of a restart. */
  readonly tries: number;
  readonly onRemoved?: () => void;
}

/** Starts a server in a folder that was made for it. */
export async function startServer(kind: ServerKind): Promise<DatabaseServer> {
  const { folder, port, start } = kind;
  let { options } = kind;
  let child: Child | undefined = await start(options);
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
      options = changed ?? options;
      await child?.stop(kind.stopSignal);
      for (let tries = 1; ; tries++) {
        try {
          child = await start(options);
          return;
        } catch (error) {
          if (tries >= kind.tries) throw error;
        }
      }
    },
    remove: async () => {
      await child?.stop(kind.removeSignal);
      child = undefined;
      rmSync(folder, { recursive: true, force: true });
      kind.onRemoved?.();
    },
  };
}

/** Gives a file to the account that runs the server. */
export function own(file: string, { uid, gid }: ServerUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
}
