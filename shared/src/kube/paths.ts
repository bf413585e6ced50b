import { ownName } from '../domain/index.ts';
import type { WatchedKind } from './cluster.ts';

/** Where the API server keeps a kind, and how messages call it. */
interface ResourcePath {
  /** Without a trailing slash. */
  readonly root: string;
  readonly plural: string;
}

const batch = '/apis/batch/v1';
const core = '/api/v1';
const own = `/apis/${ownName('v1alpha1')}`;

export const kinds: Readonly<Record<WatchedKind, ResourcePath>> = {
  CronJob: { root: batch, plural: 'cronjobs' },
  Job: { root: batch, plural: 'jobs' },
  Pod: { root: core, plural: 'pods' },
  Namespace: { root: core, plural: 'namespaces' },
  CronJobMonitor: { root: own, plural: 'cronjobmonitors' },
  AlertChannel: { root: own, plural: 'alertchannels' },
};

/** What is asked for and not watched. */
export const unwatched = {
  events: { root: core, plural: 'events' },
  secrets: { root: core, plural: 'secrets' },
  leases: { root: '/apis/coordination.k8s.io/v1', plural: 'leases' },
  tokenReviews: { root: '/apis/authentication.k8s.io/v1', plural: 'tokenreviews' },
  accessReviews: { root: '/apis/authorization.k8s.io/v1', plural: 'subjectaccessreviews' },
} as const satisfies Readonly<Record<string, ResourcePath>>;

/** The path of a collection, or with a name that of one object; a namespace of undefined means all, or a kind that has none. */
export function pathOf(
  { root, plural }: ResourcePath,
  at: { namespace?: string | undefined; name?: string } = {},
): string {
  const within = at.namespace === undefined ? root : `${root}/namespaces/${encodeURIComponent(at.namespace)}`;
  return at.name === undefined ? `${within}/${plural}` : `${within}/${plural}/${encodeURIComponent(at.name)}`;
}

/** A query without the parameters that are undefined; empty when none is left. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** Who writes what we apply, in `metadata.managedFields`. */
export const ownManager = 'cronjob-monitor';
