import type { Clock } from '../process/index.ts';
import type { ServerSettings, StoreSettings } from './settings.ts';
import { PoolBusyError, StoreError, type StoreErrorCode } from './store-error.ts';
import { noAnswer } from './dialect/connection.ts';
import { accessSync, closeSync, constants, openSync, statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What keeps the database from being used. */
interface Trouble {
  readonly error: StoreError;
  /** When it began, monotonic milliseconds. */
  readonly sinceMs: number;
}

/** Remembers what the database last did: every statement and every commit reports here. */
export interface TroubleWatch {
  /** Something failed. An error that is not about the database as a whole may be an answer of it. */
  failed(error: unknown): void;
  /** A statement was answered: the database can be reached. Whether it takes writes is another question. */
  answered(): void;
  /** How many statements it has answered. */
  answers(): number;
  /** A write was proved to last. */
  wrote(): void;
  /** Undefined while all is well. */
  current(): Trouble | undefined;
  /** It has answered at least once. */
  hasAnswered(): boolean;
}

const ofTheWhole: ReadonlySet<StoreErrorCode> = new Set(['unavailable', 'refused', 'full']);
const ofAnswers: ReadonlySet<StoreErrorCode> = new Set(['schema', 'conflict', 'fenced']);

export function createTroubleWatch(clock: Clock): TroubleWatch {
  let trouble: Trouble | undefined;
  let answers = 0;
  const answered = (): void => {
    answers++;
    if (trouble?.error.code !== 'full') trouble = undefined;
  };
  return {
    failed(error) {
      if (!(error instanceof StoreError)) return;
      if (!ofTheWhole.has(error.code) && error.driverCode !== noAnswer) {
        // A table that is missing, a row that is refused: the database itself says so.
        if (ofAnswers.has(error.code)) answered();
        return;
      }
      const isSame = trouble?.error.code === error.code;
      trouble = { error, sinceMs: trouble && isSame ? trouble.sinceMs : clock.monotonicMs() };
    },
    answered,
    answers: () => answers,
    wrote() {
      trouble = undefined;
    },
    current: () => trouble,
    hasAnswered: () => answers > 0,
  };
}

/** What is wrong, where, and what to change: one sentence without a stop. */
export function describeTrouble(settings: StoreSettings, error: StoreError): string {
  return settings.type === 'sqlite'
    ? fileTrouble(settings.path, error, lookAtVolume(settings.path))
    : serverTrouble(settings, error);
}

/** Driver codes by what a person has to mend. https://www.postgresql.org/docs/current/errcodes-appendix.html, https://mariadb.com/kb/en/mariadb-error-codes/ */
const kinds: Readonly<Record<string, keyof typeof sentences>> = {
  '28P01': 'password',
  '28000': 'account',
  '42501': 'rights',
  '3D000': 'database',
  '53300': 'connections',
  ER_ACCESS_DENIED_ERROR: 'password',
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'password',
  ER_HOST_NOT_PRIVILEGED: 'account',
  ER_DBACCESS_DENIED_ERROR: 'databaseOrRights',
  ER_TABLEACCESS_DENIED_ERROR: 'rights',
  ER_SPECIFIC_ACCESS_DENIED_ERROR: 'rights',
  ER_BAD_DB_ERROR: 'database',
  ER_CON_COUNT_ERROR: 'connections',
  ER_TOO_MANY_USER_CONNECTIONS: 'connections',
  ER_USER_LIMIT_REACHED: 'connections',
  ER_SECURE_TRANSPORT_REQUIRED: 'tlsDemanded',
  NO_TLS: 'noTls',
  ECONNREFUSED: 'closedPort',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  ENOENT: 'unreadableFile',
  EACCES: 'unreadableFile',
};

/** `at` is host and port, `key` the beginning of the keys of the configuration. */
interface Place {
  readonly at: string;
  readonly database: string;
  readonly account: string;
  readonly key: string;
}

const sentences = {
  password: ({ at, database, account, key }: Place) =>
    `the database server at ${at} refuses the password of account ${account} for database ${database}: correct ${key}.password (or ${key}.password-file), or ${key}.username`,
  account: ({ at, database, account, key }: Place) =>
    `the database server at ${at} does not let account ${account} into database ${database} from here: correct ${key}.username or ${key}.ssl-mode, or let it in (pg_hba.conf, or the host of the account)`,
  rights: ({ at, database, account, key }: Place) =>
    `account ${account} lacks rights in database ${database} at ${at}: grant them, or correct ${key}.username`,
  database: ({ at, database, account, key }: Place) =>
    `the database server at ${at} has no database ${database} for account ${account}: create it, or correct ${key}.database`,
  databaseOrRights: ({ at, database, account, key }: Place) =>
    `the database server at ${at} has no database ${database}, or account ${account} may not use it: create it and grant it, or correct ${key}.database`,
  connections: ({ at, database, account, key }: Place) =>
    `the database server at ${at} takes no more connections to database ${database} from account ${account}: raise its max_connections (or the limit of the account), or lower ${key}.pool.max-open-conns`,
  tlsDemanded: ({ at, database, account, key }: Place) =>
    `the database server at ${at} lets account ${account} into database ${database} by TLS alone: set ${key}.ssl-mode to require or stricter`,
  noTls: ({ at, database, account, key }: Place) =>
    `the database server at ${at} offers no TLS for account ${account} and database ${database}: switch TLS on there, or set ${key}.ssl-mode to disable`,
  closedPort: ({ at, database, account, key }: Place) =>
    `nothing listens at ${at}, where database ${database} of account ${account} should be: start the server, or correct ${key}.host and ${key}.port`,
  unknownHost: ({ at, database, account, key }: Place) =>
    `the host of ${at}, where database ${database} of account ${account} should be, is not known: correct ${key}.host, or its name in DNS`,
  unreadableFile: ({ at, database, account, key }: Place) =>
    `the file with the password or the certificates for account ${account} and database ${database} at ${at} cannot be read: correct ${key}.password-file or ${key}.ssl-ca`,
} as const;

/** What is wrong with a database server, where, and what to change. Without a stop at its end; without the password. */
export function serverTrouble(settings: ServerSettings, error: StoreError): string {
  const key = `storage.${settings.type}`;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const place: Place = {
    at: `${host}:${settings.port}`,
    database: `"${settings.database}"`,
    account: `"${settings.username}"`,
    key,
  };
  const kind = kinds[error.driverCode ?? ''];
  if (kind !== undefined) return sentences[kind](place);
  if (error instanceof PoolBusyError) {
    return `all ${error.connections} connections of this process to database ${place.database} at ${place.at} with account ${place.account} are busy: raise ${key}.pool.max-open-conns, or ask for less at once`;
  }
  const code = error.driverCode === undefined ? '' : ` (${error.driverCode})`;
  const where = `database ${place.database} at ${place.at}`;
  if (error.code === 'full') {
    return `${where} takes no writes from account ${place.account}${code}: make room on its volume, or end its read-only mode`;
  }
  if (error.code === 'refused') {
    return `the database server at ${place.at} is not accepted, or refuses account ${place.account} for database ${place.database}${code}: check ${key}.ssl-mode, ${key}.ssl-ca and ${key}.username`;
  }
  return `${where} does not answer account ${place.account}${code}: look at the server and the network, or correct ${key}.host and ${key}.port`;
}

/** A volume with less room is full: one page and its log need more. */
const fullBelowBytes = 1024 ** 2;

/** What is wrong with a database file, and what to do. Without a stop at its end. */
export function fileTrouble(path: string, error: StoreError, volume: VolumeState | undefined): string {
  const code = error.driverCode === undefined ? '' : ` (${error.driverCode})`;
  const free = volume?.freeBytes === undefined ? '' : ` (${Math.floor(volume.freeBytes / 1024 ** 2)} MB free)`;
  if (volume?.isReadOnly === 'volume')
    return `the volume of ${path} is read-only${free}: mount it so that it can be written, and look at the log of the machine for errors of the disk`;
  if (volume?.isReadOnly === 'file')
    return `the file ${path} is read-only${free}: let the account of the service write to it and to the files beside it`;
  if (volume?.freeBytes !== undefined && volume.freeBytes < fullBelowBytes)
    return `the volume of ${path} is full${free}: make room on it, or enlarge it`;
  if (error.code === 'full')
    return `the file ${path} takes no writes${code} although its volume has room${free}: look at quotas and at limits on the size of files`;
  if (error.driverCode === 'NO_FOLDER')
    return `the folder of ${path} does not exist: make it, or correct storage.sqlite.path`;
  if (error.code === 'busy')
    return `another process holds ${path}: end it, or give this service a file of its own (storage.sqlite.path)`;
  return `the database file ${path} cannot be used${code}: look at the disk and at storage.sqlite.path`;
}

/** The volume of a database file, as it is now. */
interface VolumeState {
  /** What an unprivileged account may still take; undefined where the system does not tell. */
  readonly freeBytes: number | undefined;
  readonly isReadOnly: 'volume' | 'file' | undefined;
}

/** Looks at the volume of a file and at the files of the database on it. Never throws. */
export function lookAtVolume(path: string): VolumeState {
  return { freeBytes: freeBytesOf(dirname(path)), isReadOnly: findReadOnly(path) };
}

function freeBytesOf(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined; // the folder is gone, which the database says in its own words
  }
}

function findReadOnly(path: string): VolumeState['isReadOnly'] {
  // A file is opened: of a volume that the kernel made read-only after an error, access alone says that it can be written.
  const tries = [
    () => closeSync(openSync(path, 'r+')),
    () => closeSync(openSync(`${path}-wal`, 'r+')),
    () => accessSync(dirname(path), constants.W_OK),
  ];
  for (const attempt of tries) {
    try {
      attempt();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EROFS') return 'volume';
      if (code === 'EPERM' || code === 'EACCES') return 'file';
    }
  }
  return undefined;
}

/** As much as the largest transaction writes at once: one that is smaller could pass on a volume that the next one fills. */
const scratchBytes = 1024 ** 2;

/** Writes a scratch file beside the database, makes sure of it and removes it. Throws what the system says: ENOSPC, EROFS, EDQUOT, EFBIG. */
export async function tryToWrite(path: string): Promise<void> {
  for (const one of [path, `${path}-wal`]) {
    const file = await open(one, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined; // it is made when it is first needed
      throw error;
    });
    await file?.close();
  }
  const scratch = `${path}-room`;
  const file = await open(scratch, 'w', 0o600);
  try {
    await file.writeFile(Buffer.alloc(scratchBytes));
    await file.sync();
  } finally {
    await file.close();
    await rm(scratch, { force: true });
  }
}
