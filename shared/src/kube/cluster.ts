/** The kinds that are listed and watched. Secrets and Events never are. */
export const watchedKinds = ['CronJob', 'Job', 'Pod', 'Namespace', 'CronJobMonitor', 'AlertChannel'] as const;
export type WatchedKind = (typeof watchedKinds)[number];

/** An object as the API server sent it, not yet trusted: translate/ makes it ours. */
export type RawObject = Readonly<Record<string, unknown>>;

export interface ListRequest {
  readonly kind: WatchedKind;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly limit?: number | undefined;
  readonly continueToken?: string | undefined;
}

export interface ListPage {
  readonly items: readonly RawObject[];
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueToken: string | undefined;
}

export interface WatchRequest {
  readonly kind: WatchedKind;
  readonly namespace?: string | undefined;
  /**
   * What is told are changes after this version. Absent: an ADDED event for each object that is there comes first, and their end is a bookmark
   * with the annotation `k8s.io/initial-events-end` (WatchList): as new as a list without a version.
   * https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
   */
  readonly resourceVersion?: string | undefined;
  /** After so long the server ends the watch by itself. Bookmarks are always asked for. */
  readonly timeoutSeconds: number;
}

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly follow?: boolean;
}

/** coordination.k8s.io/v1 Lease, as far as an election needs it. Instants are RFC 3339 with six decimals. */
export interface LeaseRecord {
  readonly resourceVersion: string;
  readonly holder: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  readonly transitions: number;
}

export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** A Secret as far as we read it. Never to be logged or stored; kept in memory for a minute at most. */
export interface SecretContent {
  readonly labels: Readonly<Record<string, string>>;
  readonly resourceVersion: string;
  /** Decoded, by key. */
  readonly values: ReadonlyMap<string, string>;
}

/** Who a bearer token stands for, as the API server knows them. */
export interface Identity {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** May a user do this? About a resource, or about a path such as /metrics. */
export type AccessQuestion =
  | {
      readonly verb: string;
      /** Empty for the core group. */
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string | undefined;
      /** Absent: in all namespaces, or a resource that has none. */
      readonly namespace?: string | undefined;
      readonly name?: string | undefined;
    }
  | { readonly verb: string; readonly path: string };

/** An event of Kubernetes about one object. */
export interface ClusterEvent {
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstAt: number | undefined;
  readonly lastAt: number | undefined;
  /** Kind/name of the object it is about. */
  readonly object: string;
  /** Its UID; empty when the event does not say. */
  readonly objectUid: string;
}

/** What the annotations of a CronJob say of its health. */
export interface MirroredHealth {
  /** `cronjob-monitor.io/health`: state/generation. */
  readonly health: string;
  /** `cronjob-monitor.io/health-message` */
  readonly message: string;
}

/** An Event of type Warning that we write about a CronJob. */
export interface CronJobWarning {
  /** Equal for what is to be told once. */
  readonly name: string;
  readonly cronJob: ObjectKey & { readonly uid: string };
  readonly reason: string;
  /** At most 1024 characters, which is what the API server takes. */
  readonly message: string;
  readonly at: number;
}

/**
 * All that the product asks of a Kubernetes cluster. One implementation speaks HTTP to in-cluster, kubeconfig and simulated
 * API servers alike. Every call has a time limit of its own and ends when its signal aborts. Failures are `ClusterError`.
 */
export interface Cluster {
  listPage(request: ListRequest, signal: AbortSignal): Promise<ListPage>;
  /** Resolves when the server has answered 200; yields bytes as they come. Ends when the server ends the watch. */
  watch(request: WatchRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Reads credentials again at the next call: the answer to a 401. */
  reloadCredentials(): void;

  /** Merge patch of the status subresource; `resourceVersion` makes it fail with `conflict` when another writer was faster. */
  patchMonitorStatus(
    key: ObjectKey,
    status: object,
    resourceVersion: string | undefined,
    signal: AbortSignal,
  ): Promise<void>;
  patchChannelStatus(
    name: string,
    status: object,
    resourceVersion: string | undefined,
    signal: AbortSignal,
  ): Promise<void>;

  /**
   * Server-side apply of the two annotations of health of a CronJob, as manager `cronjob-monitor` and with force; undefined takes them away.
   * Fails with `conflict` or `invalid` when another object has the name by now, or none.
   */
  applyHealth(
    cronJob: ObjectKey & { readonly uid: string },
    health: MirroredHealth | undefined,
    signal: AbortSignal,
  ): Promise<void>;

  /** Undefined when it does not exist. The three Lease calls use a connection of their own and no client limit. */
  findLease(key: ObjectKey, signal: AbortSignal): Promise<LeaseRecord | undefined>;
  createLease(key: ObjectKey, lease: Omit<LeaseRecord, 'resourceVersion'>, signal: AbortSignal): Promise<LeaseRecord>;
  replaceLease(key: ObjectKey, lease: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord>;

  /** Fails with `alreadyExists` while the cluster still has an Event of this name; it forgets them after an hour, unless it is told otherwise. */
  createWarning(warning: CronJobWarning, signal: AbortSignal): Promise<void>;
  /** At most 100, by the UID of the object they are about. */
  listEvents(namespace: string, objectUid: string, signal: AbortSignal): Promise<ClusterEvent[]>;
  /** All of a namespace, page by page; undefined when there are more than `most`. */
  listAllEvents(namespace: string, most: number, signal: AbortSignal): Promise<ClusterEvent[] | undefined>;
  /** Bytes of one container's log. Ends at the end of the log, or never when following. */
  readLog(request: LogRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** The pods of one Job as they are now, raw. */
  listPodsOfJob(namespace: string, jobName: string, signal: AbortSignal): Promise<RawObject[]>;

  /** Pods by label selector, such as our own peers, raw. At most 500. */
  listPods(namespace: string, labelSelector: string, signal: AbortSignal): Promise<RawObject[]>;

  /** Undefined when it does not exist. */
  findCronJob(key: ObjectKey, signal: AbortSignal): Promise<RawObject | undefined>;
  findJob(key: ObjectKey, signal: AbortSignal): Promise<RawObject | undefined>;
  /** Returns the Job as the server made it. Fails with `alreadyExists` when the name is taken. */
  createJob(namespace: string, job: object, signal: AbortSignal): Promise<RawObject>;
  /** Merge patch of `spec.suspend` of a CronJob alone; returns the CronJob. */
  setSuspended(key: ObjectKey, suspended: boolean, signal: AbortSignal): Promise<RawObject>;
  /** Undefined when it does not exist. */
  findSecret(key: ObjectKey, signal: AbortSignal): Promise<SecretContent | undefined>;

  /** Who the token stands for; undefined when it stands for no user, or is meant for none of the audiences where some are given. */
  reviewToken(token: string, signal: AbortSignal, audiences?: readonly string[]): Promise<Identity | undefined>;
  /** Whether they may do it. */
  reviewAccess(identity: Identity, question: AccessQuestion, signal: AbortSignal): Promise<boolean>;

  /** The namespace that the kubeconfig context or, in a pod, the service account names; undefined: none. */
  readonly ownNamespace: string | undefined;
  /** Server version text such as v1.35.4; the cheapest question that shows the server answers. */
  version(signal: AbortSignal): Promise<string>;
  /** UID of the namespace kube-system: names the cluster for ever. */
  clusterUid(signal: AbortSignal): Promise<string>;
  /** Server `Date` minus our wall clock at the last answer, milliseconds; undefined before the first. */
  clockSkewMs(): number | undefined;
  close(): Promise<void>;
}

export type ClusterErrorCode =
  | 'unreachable' // no connection, or it broke
  | 'timeout'
  | 'aborted' // our own signal
  | 'unauthorized' // 401
  | 'forbidden' // 403
  | 'notFound' // 404
  | 'conflict' // 409
  | 'alreadyExists' // 409 with reason AlreadyExists
  | 'gone' // 410: version or continue token too old
  | 'invalid' // 400, 415, 422
  | 'throttled' // 429
  | 'unavailable' // 5xx
  | 'badAnswer'; // not what an API server says

/** A call to the API server failed. The message names verb, resource and status; never a body, header or token. */
export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  readonly verb: string;
  readonly resource: string;
  readonly status: number | undefined;
  /** `reason` of the server's Status object, such as Expired. */
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ClusterErrorCode,
    fields: {
      verb: string;
      resource: string;
      message: string;
      status?: number | undefined;
      reason?: string | undefined;
      retryAfterMs?: number | undefined;
      cause?: unknown;
    },
  ) {
    super(fields.message, { cause: fields.cause });
    this.name = 'ClusterError';
    this.code = code;
    this.verb = fields.verb;
    this.resource = fields.resource;
    this.status = fields.status;
    this.reason = fields.reason;
    this.retryAfterMs = fields.retryAfterMs;
  }
}
