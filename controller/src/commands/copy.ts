import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig, version, type Config } from '@cronjob-monitor/shared/config';
import { counted } from '@cronjob-monitor/shared/domain';
import {
  copyStore,
  openStore,
  toStoreSettings,
  type CopyStep,
  type StoreSettings,
  type TableProof,
} from '@cronjob-monitor/shared/store';
import { InputError, UsageError, type Command, type ExitStatus, type World } from './command.ts';
import { wordOf } from './read-arguments.ts';

/** Moves the history of a standalone service from its file to a server. */
export const copyCommand: Command = {
  name: 'copy',
  summary: 'copy a SQLite database to PostgreSQL or MySQL, and prove it',
  usage: `Usage: cronjob-monitor copy --from sqlite:PATH [--to URL] [--storage.KEY VALUE]...

Copies every row of the database file of a standalone service that has ended into an empty database, in one consistent read, and
reads both again: rows and checksums of every table are compared and shown. The file is not changed. The target is made by the
copy; one that holds data is refused. Until the proof no service starts on it, and what an interrupted copy left is cleared by
the next one.

  --from sqlite:PATH  the file
  --to URL            postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE, with ?ssl-mode=MODE
  --storage.KEY VALUE, --config FILE and variables MONITOR_STORAGE_KEY, as for the service; these win over --to
                      A password stands in MONITOR_STORAGE_POSTGRES_PASSWORD or MONITOR_STORAGE_MYSQL_PASSWORD, or in the file
                      that --storage.postgres.password-file or --storage.mysql.password-file names.
  --format FORMAT     text (default) or json

Ends with 0: everything is there; 1: the two differ; 2: usage or input error, or a database that refused or did not answer.
`,
  run: runCopy,
};

/** Reading a whole part again takes its time on a large table; no statement is without an end. */
const statementLimitMs = 600_000;

async function runCopy(argv: readonly string[], world: World): Promise<ExitStatus> {
  const { own, rest } = takeOwn(argv);
  const format = wordOf('format', own.get('format'), ['text', 'json'], 'text');
  const source = readSource(own.get('from'));
  const config = readTarget([...targetFlags(own.get('to')), ...rest], world);

  const proofs = await copyBetween(source, config, world);
  world.out(format === 'json' ? `${JSON.stringify(proofs, null, 2)}\n` : describe(proofs));
  return proofs.every(({ equal }) => equal) ? 0 : 1;
}

async function copyBetween(source: StoreSettings, config: Config, world: World): Promise<readonly TableProof[]> {
  const { clock, logger: log } = world;
  const from = openStore(source, { clock, log });
  const to = openStore(toStoreSettings(config), { clock, log, statementLimitMs });
  try {
    const leaseMs = config['leader-election.lease-duration'];
    return await copyStore({ from, to, version: `v${version}`, leaseMs, told: (step) => world.error(stepText(step)) });
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

const ownFlags = ['from', 'to', 'format'];

/** Our flags apart; the rest are those of the configuration, whose reader knows them. */
function takeOwn(argv: readonly string[]): {
  readonly own: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
} {
  const own = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    const [, name = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (!ownFlags.includes(name)) {
      rest.push(argument);
      continue;
    }
    const value = inline ?? argv[++index];
    if (value === undefined || value === '') throw new UsageError(`--${name} needs a value`);
    if (own.has(name)) throw new UsageError(`--${name} is given twice`);
    own.set(name, value);
  }
  return { own, rest };
}

function readSource(given: string | undefined): StoreSettings {
  const path = given?.startsWith('sqlite:') ? given.slice('sqlite:'.length) : undefined;
  if (!path)
    throw new UsageError(
      `${given === undefined ? 'copy from where? Give' : `--from ${JSON.stringify(given)} is no source; allowed:`} --from sqlite:PATH`,
    );
  // Opening what is not there would make an empty file of it.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new InputError(`--from: there is no file ${resolve(path)}`);
  return { type: 'sqlite', path };
}

/** The storage that the configuration names. What it says of other things does not matter here. */
function readTarget(argv: readonly string[], { environment, error }: World): Config {
  const { loaded, problems, machineProblems } = loadConfig({ entryPoint: 'standalone', argv, environment });
  const isAboutStorage = (line: string): boolean => /^configuration: storage\.(postgres|mysql)\./.test(line);
  const wrong = loaded ? machineProblems.filter(isAboutStorage) : problems;
  if (!loaded || wrong.length > 0) throw new UsageError(...wrong);
  if (loaded.config['storage.type'] === 'sqlite') {
    throw new UsageError('copy to where? Give --to URL, or --storage.type; allowed: postgres, mysql');
  }
  // A password among the flags.
  for (const warning of loaded.warnings.filter((line) => line.startsWith('storage.'))) error(`${warning}\n`);
  return loaded.config;
}

function stepText({ step, table, rows }: CopyStep): string {
  const words = { cleared: 'left by an interrupted copy, cleared', copied: 'copied', proved: 'read again' };
  return `${table}: ${counted(rows, 'row')} ${words[step]}\n`;
}

function describe(proofs: readonly TableProof[]): string {
  const head = ['table', 'rows', 'copied', 'checksum', 'of the copy', 'last id', 'of the copy', ''];
  const lines = proofs.map(({ table, from, to, equal }) => [
    table,
    String(from.rows),
    String(to.rows),
    from.checksum.slice(0, 16),
    to.checksum.slice(0, 16),
    String(from.lastId ?? ''),
    String(to.lastId ?? ''),
    equal ? 'equal' : 'DIFFERENT',
  ]);
  const differ = proofs.filter(({ equal }) => !equal).map(({ table }) => table);
  const end =
    differ.length === 0
      ? `all ${counted(proofs.length, 'table')} are equal: the service can be started on the copy`
      : `not equal: ${differ.join(', ')}. No service starts on the copy; run the command again, with nothing else on either database`;
  return `${inColumns([head, ...lines])}\n${end}\n`;
}

/** Figures to the right, words to the left. */
function inColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const figures = new Set([1, 2, 5, 6]);
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          figures.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const types: Readonly<Record<string, 'postgres' | 'mysql'>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
};

/** The flags of the configuration that a URL of a database stands for; none without a URL. Throws `UsageError`, and repeats no secret. */
function targetFlags(given: string | undefined): string[] {
  if (given === undefined) return [];
  const problem = (what: string): UsageError =>
    new UsageError(`--to ${what}; allowed: postgres://USER@HOST:PORT/DATABASE, mysql://USER@HOST:PORT/DATABASE`);
  if (!URL.canParse(given)) throw problem('is no URL');
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = new URL(given);
  const type = types[protocol];
  if (type === undefined) throw problem(`has the scheme ${protocol}`);
  if (password !== '') {
    const variable = `MONITOR_STORAGE_${type.toUpperCase()}_PASSWORD`;
    throw problem(`has a password in it, which other users of this machine can read: put it into ${variable}`);
  }
  const database = decodeURIComponent(pathname.replace(/^\//, ''));
  if (hostname === '' || username === '' || database === '' || database.includes('/') || hash !== '') {
    throw problem('needs a user, a host and one database');
  }
  const unknown = [...searchParams.keys()].find((name) => name !== 'ssl-mode' && name !== 'ssl-ca');
  if (unknown !== undefined)
    throw problem(`has ${JSON.stringify(unknown)} in its query, which may hold ssl-mode and ssl-ca`);
  const keys: Readonly<Record<string, string>> = {
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    database,
    username: decodeURIComponent(username),
    ...Object.fromEntries(searchParams),
  };
  return [`--storage.type=${type}`, ...Object.entries(keys).map(([key, value]) => `--storage.${type}.${key}=${value}`)];
}
