import { type AcceptedKey, type Config, rowOf } from './keys.ts';
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

/** The three processes. Each takes all keys, so that one file serves them all. */
export type EntryPoint = 'controller' | 'apiserver' | 'standalone';

/** What the machine says besides the keys: variables of a pod, and the one of kubeconfig files. */
export interface Surroundings {
  /** `KUBECONFIG`; undefined when unset or empty. */
  readonly kubeconfig: string | undefined;
  /** Where a pod finds the API server; undefined outside a cluster. */
  readonly apiServer: { readonly host: string; readonly port: string } | undefined;
}

/** The values as far as they could be read: what the rules between keys look at. */
export interface ConfigView {
  readonly entryPoint: EntryPoint;
  /** Without the keys whose text was wrong. */
  readonly values: Partial<Config>;
  /** Every key as it was given, and by whom. */
  readonly settings: ReadonlyMap<AcceptedKey, Setting>;
  readonly surroundings: Surroundings;
}

/** A configuration that a process can start with. */
export interface LoadedConfig {
  readonly entryPoint: EntryPoint;
  readonly config: Config;
  readonly settings: ReadonlyMap<AcceptedKey, Setting>;
  readonly surroundings: Surroundings;
  /** One sentence each, for the log of each start. */
  readonly warnings: readonly string[];
}

/** How a key was given. */
export function settingOf(view: { readonly settings: ReadonlyMap<AcceptedKey, Setting> }, key: AcceptedKey): Setting {
  return view.settings.get(key) ?? { given: undefined, source: { from: 'default' } };
}

/** Whether the process acts by keys of the controller, of the apiserver. Standalone is both. */
export function isController(entryPoint: EntryPoint): boolean {
  return entryPoint !== 'apiserver';
}

export function isApiserver(entryPoint: EntryPoint): boolean {
  return entryPoint !== 'controller';
}
