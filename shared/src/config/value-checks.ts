import { isIP } from 'node:net';
import { parse, ScheduleError } from '../domain/schedule/index.ts';

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
