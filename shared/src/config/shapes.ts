import { isIP } from 'node:net';
import { findRegexProblem } from '../domain/index.ts';
import { duration, list, read, type Shape, text, type ValueKind } from './value-kinds.ts';
import { parse, ScheduleError } from '../domain/schedule/index.ts';

const namespaceName: Shape = {
  allowed: 'names of namespaces',
  problem: 'is not the name of a namespace',
  fits: isDnsLabel,
};

/** What values of keys may be. */
export const shapes = {
  /** Names of namespaces. */
  namespaces: list(namespaceName),

  /** Names of namespaces, or `*` for any. */
  namespacesOrAny: list({
    ...namespaceName,
    allowed: 'names of namespaces, or * for any',
    fits: (name) => name === '*' || isDnsLabel(name),
  }),

  namespace: text({ ...namespaceName, allowed: 'the name of a namespace' }),

  httpUrl: text({
    allowed: 'an http or https URL',
    problem: 'is no http or https URL',
    fits: (given) => isUrl(given, ['http', 'https']),
  }),

  httpsUrls: list({
    allowed: 'https URLs',
    problem: 'is no https URL',
    fits: (given) => isUrl(given, ['https']),
  }),

  /** The base of links: no query, no fragment, no user. */
  baseUrl: text({
    allowed: 'an http or https URL without user, query and fragment',
    problem: 'is no such URL',
    fits: (given) => isUrl(given, ['http', 'https']) && !/[?#]/.test(given) && URL.parse(given)?.username === '',
  }),

  host: text({ allowed: 'an IP address or a host name', problem: 'is neither', fits: isHost }),

  /** Names as a Host header has them; a leading `*.` is a wildcard. */
  hostNames: list({
    allowed: 'host names and IP addresses; a leading *. is a wildcard',
    problem: 'is no host name',
    fits: (name) => isHost(name) || (name.startsWith('*.') && isHostName(name.slice(2))),
  }),

  cidrs: list({ allowed: 'CIDRs, such as 10.0.0.0/8', problem: 'is no CIDR', fits: isCidr }),

  addressesAndCidrs: list({
    allowed: 'IP addresses and CIDRs, such as 10.0.0.0/8',
    problem: 'is neither an IP address nor a CIDR',
    fits: (item) => isIP(item) !== 0 || isCidr(item),
  }),

  headerName: text({
    allowed: 'the name of a header',
    problem: 'is not the name of a header',
    fits: isHeaderName,
  }),

  timeZone: text({
    allowed: 'a name of the IANA database, such as Europe/Berlin',
    problem: 'is no known time zone',
    fits: isTimeZone,
  }),

  /** As Kubernetes takes it: a name, or a DNS name, a slash and a name. */
  labelKey: text({
    allowed: 'the key of a label, such as team or example.org/team',
    problem: 'is no key of a label',
    fits: (value) =>
      value.length <= 317 &&
      /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(value),
  }),

  /** A file in a folder that another key names. */
  fileName: text({
    allowed: 'the name of a file, without a folder',
    problem: 'is not the name of a file',
    fits: (name) => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name),
  }),

  path: text({
    allowed: 'a path',
    problem: 'is no path',
    fits: (given) => given !== '' && !given.includes('\0'),
  }),

  /** Where a listener listens. */
  bindAddress: read(
    { allowed: '[host]:port, the port 0 to 65535', problem: 'is no address' },
    parseBindAddress,
  ) satisfies ValueKind<BindAddress>,

  /** Where a listener listens, or `off` for the text `0`. */
  bindAddressOrOff: read(
    { allowed: '[host]:port, the port 0 to 65535; or 0 for none', problem: 'is no address' },
    (given) => (given === '0' ? 'off' : parseBindAddress(given)),
  ) satisfies ValueKind<BindAddress | 'off'>,

  /** Expressions in the syntax of RE2, at most 50 of 1 KiB. */
  patterns: list(
    {
      allowed: 'at most 50 expressions of RE2, each at most 1 KiB',
      problem: 'is no expression of RE2, or longer than 1 KiB',
      fits: (expression) => expression !== '' && findRegexProblem(expression) === undefined,
    },
    50,
  ),

  /** The intervals of the schedulers. */
  interval: duration({ min: '1s', max: '24h' }),

  clusterName: text({
    allowed: '1 to 63 characters',
    problem: 'is longer than 63 characters',
    fits: (name) => name !== '' && name.length <= 63,
  }),

  /** Name of a schema. PostgreSQL reads it without quotes, and keeps names that begin with pg_ for itself. */
  schemaName: text({
    allowed: '1 to 63 characters a-z, 0-9 and _, the first no digit, and not pg_ before all',
    problem: 'is no name of a schema',
    fits: (name) => /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name),
  }),
};

/** Where a listener listens. Without a host: on all addresses of the machine. Port 0: any free port. */
export interface BindAddress {
  readonly host: string | undefined;
  readonly port: number;
}

/** Reads `[host]:port`, the host optional, IPv6 in brackets. Undefined when the text is no such address. */
export function parseBindAddress(text: string): BindAddress | undefined {
  const match = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(text);
  if (!match) return undefined;
  const [, hostText = '', portText = ''] = match;
  const port = Number(portText);
  if (port > 65_535) return undefined;
  if (hostText === '') return { host: undefined, port };

  if (hostText.startsWith('[')) {
    const host = hostText.slice(1, -1);
    return isIP(host) === 6 ? { host, port } : undefined;
  }
  return isIP(hostText) === 4 || isHostName(hostText) ? { host: hostText, port } : undefined;
}

/** Which processes act by a key: the controller, the apiserver, or both. Standalone is both. */
export type Reader = 'C' | 'A' | 'CA';

/** One key of the configuration: all that is known of it. */
export interface Row<T> {
  readonly kind: ValueKind<T>;
  /** The text of the default as it would be written; null: none. */
  readonly default: string | null;
  readonly by: Reader;
  /** What it is for, one line for people. */
  readonly doc: string;
  /** Shown as `***` wherever it is shown. */
  readonly sensitive: boolean;
  /** Without a value it means the namespace the process runs in. */
  readonly ownNamespace: boolean;
}

/** The type of a key's value: undefined is possible only where there is no default. */
export type ValueOf<R> = R extends Row<infer T> & { readonly default: infer D }
  ? D extends null
    ? T | undefined
    : T
  : never;

/** A row of the table. `fallback` is the default, null for none. */
export function row<T, D extends string | null>(
  by: Reader,
  kind: ValueKind<T>,
  fallback: D,
  doc: string,
): Row<T> & { readonly default: D } {
  return { kind, default: fallback, by, doc, sensitive: false, ownNamespace: false };
}

/** The row of a secret. */
export function sensitive<R extends Row<unknown>>(one: R): R {
  return { ...one, sensitive: true };
}

/** The row of a key whose absence means our own namespace. */
export function ownNamespace<R extends Row<unknown> & { readonly default: null }>(one: R): R {
  return { ...one, ownNamespace: true };
}

/** The same rows with a prefix before each key. */
export function under<P extends string, Rows extends Readonly<Record<string, Row<unknown>>>>(
  prefix: P,
  rows: Rows,
): { readonly [K in keyof Rows & string as `${P}.${K}`]: Rows[K] } {
  const entries = Object.entries(rows).map(([key, one]) => [`${prefix}.${key}`, one]);
  return Object.fromEntries(entries); // Object.fromEntries forgets the names of its keys; the type above keeps them.
}

/** A name of RFC 1123 as namespaces have it: lower case, digits and hyphens, at most 63 characters. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);
}

/** A host name of any case: labels of 1 to 63 letters, digits and hyphens, at most 253 characters; four numbers are none. */
export function isHostName(text: string): boolean {
  if (text.length > 253 || /^[\d.]+$/.test(text)) return false;
  return text.split('.').every((label) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i.test(label));
}

/** An IP address of either family, or a host name. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || isHostName(text);
}

/** `address/bits` of either family. Bits of the host may be set. */
export function isCidr(text: string): boolean {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  if (!match) return false;
  const family = isIP(match[1] ?? '');
  return family !== 0 && Number(match[2]) <= (family === 4 ? 32 : 128);
}

/** The name of a header: a token of RFC 9110. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** A name of the IANA time zone database, in its spelling. */
export function isTimeZone(text: string): boolean {
  if (text === '' || /\s/.test(text)) return false;
  try {
    parse(`CRON_TZ=${text} 0 0 * * *`);
    return true;
  } catch (error) {
    if (error instanceof ScheduleError) return false;
    throw error;
  }
}

/** An absolute URL with one of the schemes and a host. */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  if (/\s/.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.host !== '' && schemes.includes(url.protocol.replace(':', ''));
}

/** The address reaches no other machine: 127.0.0.0/8, ::1, localhost and names below it. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  if (isIP(host) === 6) return URL.parse(`http://[${host}]`)?.hostname === '[::1]';
  return /^(.+\.)?localhost$/i.test(host);
}
