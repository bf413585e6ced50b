import type { Clock, Logger } from '../process/index.ts';
import { type AccessKeeper, createAccess } from './access.ts';
import type { CredentialSource } from './credentials.ts';
import {
  type AccessQuestion,
  type Cluster,
  ClusterError,
  type ClusterEvent,
  type CronJobWarning,
  type Identity,
  type LeaseRecord,
  type ListPage,
  type ListRequest,
  type LogRequest,
  type MirroredHealth,
  type ObjectKey,
  type RawObject,
  type SecretContent,
  type WatchRequest,
} from './cluster.ts';
import { type Answered, askStream, askText, createRateLimiter, type ExchangeDeps, type Question } from './exchange.ts';
import { toLeaseObject, toLeaseRecord } from './lease-record.ts';
import { kinds, ownManager, pathOf, queryOf, unwatched } from './paths.ts';
import { accessReviewOf, isAllowed, toIdentity, tokenReviewOf } from './reviews.ts';
import { toClusterEvent } from './translate/event.ts';
import { textOf } from './translate/fields.ts';
import { createTransport, type Transport } from './transport.ts';
import { objectOf, ownName } from '../domain/index.ts';

export interface ClusterOptions extends CredentialSource {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Hears of every request that was sent, or could not be. */
  readonly answered?: ((answer: Answered) => void) | undefined;
  /** Calls a second, those of the Lease exempt; 20 when absent. */
  readonly requestsPerSecond?: number;
  /** Calls at once after a pause; 40 when absent. */
  readonly burst?: number;
  /** The same for logs and events, at once twice as many: they have connections of their own. As many as the others when absent. */
  readonly evidencePerSecond?: number | undefined;
  /** Time limit of a call; 10 s when absent. */
  readonly callTimeoutMs?: number;
  /** Limit of the wait for the head of a watch or a log, which then have none; 30 s when absent. */
  readonly headersTimeoutMs?: number;
}

const mergePatch = 'application/merge-patch+json';
/** JSON is YAML too. */
const applyPatch = 'application/apply-patch+yaml';
/** Every pod that a Job made carries this label, in all supported versions. */
const ofJobs = 'job-name';

/** The client of a Kubernetes API. Throws an `Error` that names file or context when the kubeconfig cannot be used. */
export function createCluster(options: ClusterOptions): Cluster {
  const { clock, logger, requestsPerSecond = 20, burst = 40, evidencePerSecond } = options;
  const limiter = createRateLimiter({ perSecond: requestsPerSecond, burst }, clock);
  const keeper = createAccess(options, { clock, logger });
  const transport = createTransport(clock);
  // Kept against the monotonic clock: that our wall clock is set shows at once, whenever the server is asked next.
  let aheadMs: number | undefined;
  const skewMs = (): number | undefined =>
    aheadMs === undefined ? undefined : Math.round(aheadMs + clock.monotonicMs()) - clock.now();
  const caller = createCaller({
    clock,
    transport,
    limiter,
    evidenceLimiter:
      evidencePerSecond === undefined
        ? limiter
        : createRateLimiter({ perSecond: evidencePerSecond, burst: 2 * evidencePerSecond }, clock),
    access: () => keeper.access(),
    distrust: () => keeper.distrust(),
    heardTime: (serverAt) => {
      aheadMs = serverAt - clock.monotonicMs();
    },
    answered: options.answered,
    callTimeoutMs: options.callTimeoutMs ?? 10_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
    userAgent: 'cronjob-monitor',
  });
  return new HttpCluster(caller, keeper, transport, skewMs);
}

class HttpCluster implements Cluster {
  readonly #call: Caller;
  readonly #keeper: AccessKeeper;
  readonly #transport: Transport;
  readonly #skewMs: () => number | undefined;

  // oxlint-disable-next-line max-params -- its four parts
  constructor(call: Caller, keeper: AccessKeeper, transport: Transport, skewMs: () => number | undefined) {
    this.#call = call;
    this.#keeper = keeper;
    this.#transport = transport;
    this.#skewMs = skewMs;
  }

  get ownNamespace(): string | undefined {
    return this.#keeper.namespace;
  }

  async listPage({ kind, namespace, limit, continueToken }: ListRequest, signal: AbortSignal): Promise<ListPage> {
    const labelSelector = kind === 'Pod' ? ofJobs : undefined;
    // No resourceVersion: a quorum read. 0 would be answered from a cache that may be older than what we saw before.
    const query = queryOf({ labelSelector, limit, continue: continueToken });
    const resource = kinds[kind].plural;
    const list = await this.#call.get('list', resource, pathOf(kinds[kind], { namespace }) + query, signal);
    return toListPage(list, resource);
  }

  watch(request: WatchRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { kind, namespace, resourceVersion, timeoutSeconds } = request;
    const streamsList = resourceVersion === undefined;
    const query = queryOf({
      watch: 1,
      labelSelector: kind === 'Pod' ? ofJobs : undefined,
      allowWatchBookmarks: true,
      resourceVersion,
      sendInitialEvents: streamsList || undefined,
      resourceVersionMatch: streamsList ? 'NotOlderThan' : undefined,
      timeoutSeconds,
    });
    const path = pathOf(kinds[kind], { namespace }) + query;
    return this.#call.stream({ lane: 'watches', verb: 'watch', resource: kinds[kind].plural, path }, signal);
  }

  reloadCredentials(): void {
    this.#keeper.distrust();
  }

  patchMonitorStatus(key: ObjectKey, status: object, resourceVersion: string | undefined, signal: AbortSignal) {
    return this.#patchStatus(
      pathOf(kinds.CronJobMonitor, key),
      kinds.CronJobMonitor.plural,
      { status, resourceVersion },
      signal,
    );
  }

  patchChannelStatus(name: string, status: object, resourceVersion: string | undefined, signal: AbortSignal) {
    return this.#patchStatus(
      pathOf(kinds.AlertChannel, { name }),
      kinds.AlertChannel.plural,
      { status, resourceVersion },
      signal,
    );
  }

  async applyHealth(
    { namespace, name, uid }: ObjectKey & { readonly uid: string },
    health: MirroredHealth | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const annotations = health && {
      [ownName('health')]: health.health,
      [ownName('health-message')]: health.message,
    };
    const body = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { namespace, name, uid, annotations } };
    const path = pathOf(kinds.CronJob, { namespace, name }) + queryOf({ fieldManager: ownManager, force: true });
    const write = { method: 'PATCH', body, contentType: applyPatch } as const;
    await this.#call.send({ ...write, lane: 'calls', verb: 'patch', resource: 'cronjobs', path }, signal);
  }

  async createWarning({ name, cronJob, reason, message, at }: CronJobWarning, signal: AbortSignal): Promise<void> {
    const { namespace } = cronJob;
    const time = new Date(at).toISOString();
    const body = {
      metadata: { namespace, name },
      involvedObject: { apiVersion: 'batch/v1', kind: 'CronJob', ...cronJob },
      type: 'Warning',
      reason,
      message,
      source: { component: ownManager },
      reportingComponent: ownManager,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    };
    const path = pathOf(unwatched.events, { namespace });
    await this.#call.send({ lane: 'calls', method: 'POST', verb: 'create', resource: 'events', path, body }, signal);
  }

  // oxlint-disable-next-line max-params -- path and name of the resource, what to write, and the signal
  async #patchStatus(
    path: string,
    plural: string,
    { status, resourceVersion }: { status: object; resourceVersion: string | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const body = resourceVersion === undefined ? { status } : { metadata: { resourceVersion }, status };
    const write = { method: 'PATCH', body, contentType: mergePatch } as const;
    await this.#call.send(
      { ...write, lane: 'calls', verb: 'patch', resource: `${plural}/status`, path: `${path}/status` },
      signal,
    );
  }

  async findLease(key: ObjectKey, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const question = {
      lane: 'lease',
      method: 'GET',
      verb: 'get',
      resource: 'leases',
      path: pathOf(unwatched.leases, key),
    } as const;
    const lease = await this.#call.find(question, signal);
    return lease && toLeaseRecord(lease, 'get');
  }

  async createLease(
    key: ObjectKey,
    lease: Omit<LeaseRecord, 'resourceVersion'>,
    signal: AbortSignal,
  ): Promise<LeaseRecord> {
    const path = pathOf(unwatched.leases, { namespace: key.namespace });
    const body = toLeaseObject(key, lease);
    return toLeaseRecord(
      await this.#call.send({ lane: 'lease', method: 'POST', verb: 'create', resource: 'leases', path, body }, signal),
      'create',
    );
  }

  async replaceLease(key: ObjectKey, lease: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord> {
    const path = pathOf(unwatched.leases, key);
    const body = toLeaseObject(key, lease, lease.resourceVersion);
    return toLeaseRecord(
      await this.#call.send({ lane: 'lease', method: 'PUT', verb: 'update', resource: 'leases', path, body }, signal),
      'update',
    );
  }

  async listEvents(namespace: string, objectUid: string, signal: AbortSignal): Promise<ClusterEvent[]> {
    const query = queryOf({ fieldSelector: `involvedObject.uid=${objectUid}`, limit: 100 });
    const { items } = await this.#eventPage(namespace, query, signal);
    return items.flatMap((item) => toClusterEvent(item) ?? []);
  }

  async listAllEvents(namespace: string, most: number, signal: AbortSignal): Promise<ClusterEvent[] | undefined> {
    const found: ClusterEvent[] = [];
    let continueToken: string | undefined;
    do {
      // Each page is asked for by the one before.
      const page = await this.#eventPage(namespace, queryOf({ limit: 500, continue: continueToken }), signal);
      found.push(...page.items.flatMap((item) => toClusterEvent(item) ?? []));
      continueToken = page.continueToken || undefined;
    } while (continueToken !== undefined && found.length < most);
    return continueToken === undefined ? found : undefined;
  }

  async #eventPage(namespace: string, query: string, signal: AbortSignal): Promise<ListPage> {
    const path = pathOf(unwatched.events, { namespace }) + query;
    const question = { lane: 'evidence', method: 'GET', verb: 'list', resource: 'events', path } as const;
    return toListPage(await this.#call.send(question, signal), 'events');
  }

  readLog({ namespace, pod, ...request }: LogRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { container, previous, tailLines, limitBytes, follow } = request;
    const query = queryOf({
      container,
      previous: previous || undefined,
      tailLines,
      limitBytes,
      follow: follow || undefined,
    });
    const path = `${pathOf(kinds.Pod, { namespace, name: pod })}/log${query}`;
    return this.#call.stream({ lane: 'evidence', verb: 'get', resource: 'pods/log', path }, signal);
  }

  listPodsOfJob(namespace: string, jobName: string, signal: AbortSignal): Promise<RawObject[]> {
    return this.listPods(namespace, `${ofJobs}=${jobName}`, signal);
  }

  async listPods(namespace: string, labelSelector: string, signal: AbortSignal): Promise<RawObject[]> {
    const query = queryOf({ labelSelector, limit: 500 });
    const list = await this.#call.get('list', 'pods', pathOf(kinds.Pod, { namespace }) + query, signal);
    return [...toListPage(list, 'pods').items];
  }

  findCronJob(key: ObjectKey, signal: AbortSignal): Promise<RawObject | undefined> {
    return this.#find('cronjobs', pathOf(kinds.CronJob, key), signal);
  }

  findJob(key: ObjectKey, signal: AbortSignal): Promise<RawObject | undefined> {
    return this.#find('jobs', pathOf(kinds.Job, key), signal);
  }

  createJob(namespace: string, job: object, signal: AbortSignal): Promise<RawObject> {
    const path = pathOf(kinds.Job, { namespace });
    return this.#call.send(
      { lane: 'calls', method: 'POST', verb: 'create', resource: 'jobs', path, body: job },
      signal,
    );
  }

  setSuspended(key: ObjectKey, suspended: boolean, signal: AbortSignal): Promise<RawObject> {
    const write = { method: 'PATCH', body: { spec: { suspend: suspended } }, contentType: mergePatch } as const;
    const path = pathOf(kinds.CronJob, key);
    return this.#call.send({ ...write, lane: 'calls', verb: 'patch', resource: 'cronjobs', path }, signal);
  }

  async findSecret(key: ObjectKey, signal: AbortSignal): Promise<SecretContent | undefined> {
    const secret = await this.#find('secrets', pathOf(unwatched.secrets, key), signal);
    return secret && toSecretContent(secret);
  }

  async reviewToken(
    token: string,
    signal: AbortSignal,
    audiences: readonly string[] = [],
  ): Promise<Identity | undefined> {
    if (token === '') return undefined; // the server refuses to review nothing
    const body = tokenReviewOf(token, audiences);
    return toIdentity(
      await this.#review(pathOf(unwatched.tokenReviews), unwatched.tokenReviews.plural, body, signal),
      audiences,
    );
  }

  async reviewAccess(identity: Identity, question: AccessQuestion, signal: AbortSignal): Promise<boolean> {
    const body = accessReviewOf(identity, question);
    return isAllowed(await this.#review(pathOf(unwatched.accessReviews), unwatched.accessReviews.plural, body, signal));
  }

  async version(signal: AbortSignal): Promise<string> {
    return textOf((await this.#call.get('get', 'version', '/version', signal))['gitVersion']) ?? 'unknown';
  }

  async clusterUid(signal: AbortSignal): Promise<string> {
    const path = pathOf(kinds.Namespace, { name: 'kube-system' });
    const namespace = await this.#call.get('get', 'namespaces', path, signal);
    return textOf(objectOf(namespace['metadata'])['uid']) ?? '';
  }

  clockSkewMs(): number | undefined {
    return this.#skewMs();
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #find(resource: string, path: string, signal: AbortSignal): Promise<RawObject | undefined> {
    return this.#call.find({ lane: 'calls', method: 'GET', verb: 'get', resource, path }, signal);
  }

  // oxlint-disable-next-line max-params -- path and name of the resource, what to ask, and the signal
  #review(path: string, resource: string, body: object, signal: AbortSignal): Promise<RawObject> {
    return this.#call.send({ lane: 'calls', method: 'POST', verb: 'create', resource, path, body }, signal);
  }
}

/**
 * A list as the API server sent it. Throws `badAnswer` when it has no items or no version: an empty list in its place would look as if
 * everything had been deleted. The last page of some kinds has an empty token, that of others none.
 */
function toListPage(list: RawObject, resource: string): ListPage {
  const metadata = objectOf(list['metadata']);
  const resourceVersion = textOf(metadata['resourceVersion']);
  const items = list['items'];
  if (!Array.isArray(items) || resourceVersion === undefined) {
    throw new ClusterError('badAnswer', { verb: 'list', resource, message: `list ${resource}: the answer is no list` });
  }
  return { items: items as RawObject[], resourceVersion, continueToken: textOf(metadata['continue']) };
}

/** A Secret as the API server sent it, its values decoded; what is no base64 text is left out. */
function toSecretContent(secret: RawObject): SecretContent {
  const metadata = objectOf(secret['metadata']);
  const texts = (map: unknown) =>
    Object.entries(objectOf(map)).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
  return {
    labels: Object.fromEntries(texts(metadata['labels'])),
    resourceVersion: textOf(metadata['resourceVersion']) ?? '',
    values: new Map(texts(secret['data']).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')])),
  };
}

/** Requests whose answers are JSON objects, and such that are read as they come. All reject with a `ClusterError`. */
interface Caller {
  send(question: Question, signal: AbortSignal): Promise<RawObject>;
  /** A GET on the lane of calls. */
  get(verb: string, resource: string, path: string, signal: AbortSignal): Promise<RawObject>;
  /** Undefined when the object does not exist. */
  find(question: Question, signal: AbortSignal): Promise<RawObject | undefined>;
  stream(question: Omit<Question, 'method'>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

function createCaller(deps: ExchangeDeps): Caller {
  const send = async (question: Question, signal: AbortSignal): Promise<RawObject> =>
    toObject(question, await askText(question, deps, signal));
  return {
    send,
    get: (verb, resource, path, signal) => send({ lane: 'calls', method: 'GET', verb, resource, path }, signal),
    async find(question, signal) {
      try {
        return await send(question, signal);
      } catch (error) {
        if (error instanceof ClusterError && error.code === 'notFound') return undefined;
        throw error;
      }
    },
    stream: (question, signal) => askStream({ ...question, method: 'GET' }, deps, signal),
  };
}

function toObject({ verb, resource }: Question, text: string): RawObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawObject;
  } catch {
    // Told below, without the text.
  }
  throw new ClusterError('badAnswer', {
    verb,
    resource,
    message: `${verb} ${resource}: the answer is not a JSON object`,
  });
}
