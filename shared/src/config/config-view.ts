import type { AcceptedKey, Config, ConfigKey } from './keys.ts';
import type { Setting } from './source.ts';

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

/** Whether the texts of all these keys could be read. */
export function allRead(view: ConfigView, ...keys: readonly ConfigKey[]): boolean {
  return keys.every((key) => key in view.values);
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

/** A pod talks to its own cluster unless a kubeconfig is named. */
export function isInCluster(view: Pick<ConfigView, 'surroundings' | 'values'>): boolean {
  const { apiServer, kubeconfig } = view.surroundings;
  return apiServer !== undefined && kubeconfig === undefined && view.values['cluster.kubeconfig'] === undefined;
}
