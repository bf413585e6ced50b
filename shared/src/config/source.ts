import type { AcceptedKey } from './keys.ts';
import { rowOf } from './keys.ts';
import type { Given } from './value-kinds.ts';

/** Where a value came from. */
type Source =
  | { readonly from: 'flag'; readonly flag: string }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'file'; readonly path: string; readonly line: number }
  | { readonly from: 'default' };

/** A value as it was given, and by whom. An absent value comes from the default alone. */
export interface Setting {
  readonly given: Given | undefined;
  readonly source: Source;
}

/** What one reader of values found: per key the value, and the lines about what is wrong. */
export interface Found {
  readonly settings: ReadonlyMap<AcceptedKey, Setting>;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** `flag --x`, `environment MONITOR_X`, `file PATH line N` or `default`. */
export function describeSource(source: Source): string {
  if (source.from === 'flag') return `flag ${source.flag}`;
  if (source.from === 'environment') return `environment ${source.variable}`;
  return source.from === 'file' ? `file ${source.path} line ${source.line}` : 'default';
}

/** A line of standard error about the configuration. */
export function problemLine(text: string): string {
  return `configuration: ${text}`;
}

/** `key = value (source)`, a secret as `***`. */
export function describeSetting(key: AcceptedKey, setting: Setting): string {
  return `${key} = ${shownValue(key, setting.given)} (${describeSource(setting.source)})`;
}

/** A value for people: `***` for a secret, escaped where it holds what a terminal would act on, cut at 200 characters. */
export function shownValue(key: AcceptedKey, given: Given | undefined): string {
  if (given === undefined) return 'none';
  if (rowOf(key).sensitive) return '***';
  return shownText(typeof given === 'string' ? withoutUser(given) : given.join(','));
}

/** A text from outside, fit for one line of a terminal. Quoted when it is empty or holds spaces at an end or controls. */
export function shownText(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  const plain = /^\S(.*\S)?$/u.test(short) && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(short);
  if (plain) return short;
  return JSON.stringify(short).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A URL loses its user and its query: either may be a secret. */
export function withoutUser(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  return text.replace(/^([^/]*\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, '');
}
