import { UsageError } from './command.ts';

const types: Readonly<Record<string, 'postgres' | 'mysql'>> = {
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
};

/** The flags of the configuration that a URL of a database stands for; none without a URL. Throws `UsageError`, and repeats no secret. */
export function targetFlags(given: string | undefined): string[] {
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
