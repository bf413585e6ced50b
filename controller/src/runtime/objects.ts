import type { RawObject, WatchedKind } from '@cronjob-monitor/shared/kube';

/** What every kept object has, whatever else its projection keeps. A cluster-scoped object has the namespace ''. */
export interface Projected {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** How one kind becomes the few fields we keep. Undefined: an object that does not concern us. It may throw on garbage. */
export interface Projection<T extends Projected> {
  readonly kind: WatchedKind;
  project(raw: RawObject): T | undefined;
}

/**
 * What happened to one object. Order is order of arrival. `tombstone`: the deletion itself was not seen, `item` is the last
 * state we knew; without it `item` is the state the API server sent with the deletion.
 */
export type ObjectEvent<T> =
  | { readonly type: 'added'; readonly item: T }
  | { readonly type: 'updated'; readonly item: T; readonly before: T }
  | { readonly type: 'deleted'; readonly item: T; readonly tombstone: boolean };

/** Builds a record and queues a key: no I/O. A returned promise is awaited, and meanwhile nothing more is read. */
export type EventHandler<T> = (event: ObjectEvent<T>) => void | Promise<void>;

/** Names one version of one object. Versions are opaque: they are compared for equality and never ordered. */
export interface Identity extends Projected {
  readonly version: string;
}

/** Undefined when the object lacks what every object of an API server has. */
export function findIdentity(raw: unknown): Identity | undefined {
  if (!isObject(raw) || !isObject(raw['metadata'])) return undefined;
  const { uid, name, namespace = '', resourceVersion } = raw['metadata'];
  if (typeof uid !== 'string' || uid === '' || typeof name !== 'string' || typeof namespace !== 'string')
    return undefined;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return undefined;
  return { uid, name, namespace, version: resourceVersion };
}

/** A JSON object, not an array and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Plural names as URLs, rights, messages and metric labels have them. */
export const resourceOf: Readonly<Record<WatchedKind, string>> = {
  CronJob: 'cronjobs',
  Job: 'jobs',
  Pod: 'pods',
  Namespace: 'namespaces',
  CronJobMonitor: 'cronjobmonitors',
  AlertChannel: 'alertchannels',
};
