import {
  ClusterError,
  watchedKinds,
  type Cluster,
  type LeaseRecord,
  type ListPage,
  type ListRequest,
  type ObjectKey,
  type WatchedKind,
  type WatchRequest,
} from '@cronjob-monitor/shared/kube';
import type { World } from './world.ts';

type Lease = { -readonly [Field in keyof LeaseRecord]: LeaseRecord[Field] };

/** What several processes of one cluster share. */
export interface Shared {
  readonly world: World;
  readonly leases: Map<string, Lease>;
  readonly now: () => number;
}

interface OpenWatch {
  readonly kind: WatchedKind;
  readonly namespace: string | undefined;
  version: number;
  /** Who waits for the next piece. */
  wake: (() => void) | undefined;
  ended: 'cut' | 'expired' | 'done' | undefined;
  bookmark: boolean;
}

/** The connection of one process to the world: it can be cut, expire and be away, as connections to an API server are. */
export class WorldCluster implements Cluster {
  readonly ownNamespace = 'monitoring';
  readonly #shared: Shared;
  readonly #dead: AbortSignal;
  readonly #watches = new Set<OpenWatch>();
  readonly #unlisten: () => void;
  #isAway = false;
  /** Kinds whose events do not arrive for now: a watch that hangs, or a slow one. */
  readonly #held = new Set<WatchedKind>();

  /** `dead`: the process is killed, and nothing of it goes on. */
  constructor(shared: Shared, dead: AbortSignal) {
    this.#shared = shared;
    this.#dead = dead;
    this.#unlisten = shared.world.onEvent((kind) => this.#wake(kind));
  }

  /** Every watch breaks; with `expired` the server has forgotten where they were. */
  cut(how: 'cut' | 'expired'): void {
    for (const watch of this.#watches) {
      watch.ended = how;
      watch.wake?.();
    }
  }

  /** Nothing answers until it is back. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) this.cut('cut');
  }

  /** Events of these kinds wait; none: all go on. */
  hold(kinds: readonly WatchedKind[]): void {
    this.#held.clear();
    for (const kind of kinds) this.#held.add(kind);
    for (const kind of watchedKinds) this.#wake(kind);
  }

  /** About every minute an API server says how far a quiet watch is. */
  bookmark(): void {
    for (const watch of this.#watches) {
      if (this.#held.has(watch.kind)) continue;
      watch.bookmark = true;
      watch.wake?.();
    }
  }

  #wake(kind: WatchedKind): void {
    for (const watch of this.#watches) if (watch.kind === kind) watch.wake?.();
  }

  async listPage({ kind, namespace }: ListRequest, signal: AbortSignal): Promise<ListPage> {
    await this.#answer('list', kind, signal);
    const { world } = this.#shared;
    const items = world
      .list(kind)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
    return { items, resourceVersion: String(world.version), continueToken: undefined };
  }

  async watch(
    { kind, namespace, resourceVersion }: WatchRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    await this.#answer('watch', kind, signal);
    const { world } = this.#shared;
    const streamsList = resourceVersion === undefined;
    const watch: OpenWatch = {
      kind,
      namespace,
      version: streamsList ? world.version : Number(resourceVersion),
      wake: undefined,
      ended: undefined,
      bookmark: false,
    };
    if (this.#shared.world.eventsAfter(kind, watch.version) === undefined)
      throw new ClusterError('gone', {
        verb: 'watch',
        resource: kind,
        message: 'too old',
        status: 410,
        reason: 'Expired',
      });
    return this.#stream(watch, streamsList ? this.#streamedList(kind, namespace) : [], signal);
  }

  /** All objects of now, and the mark of their end: one piece each, so that a cut may come between them. */
  #streamedList(kind: WatchedKind, namespace: string | undefined): Buffer[] {
    const { world } = this.#shared;
    const objects = world
      .list(kind)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
    const mark = { resourceVersion: String(world.version), annotations: { 'k8s.io/initial-events-end': 'true' } };
    return [...objects.map((object) => lineOf('ADDED', object)), lineOf('BOOKMARK', { metadata: mark })];
  }

  async *#stream(watch: OpenWatch, first: Buffer[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { world } = this.#shared;
    const onAbort = (): void => {
      watch.ended = 'done';
      watch.wake?.();
    };
    this.#watches.add(watch);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        if (this.#dead.aborted) await forEver();
        if (watch.ended === 'cut') throw unreachable('watch', watch.kind);
        if (watch.ended === 'expired') {
          yield lineOf('ERROR', { code: 410, reason: 'Expired' });
          return;
        }
        if (watch.ended === 'done' || signal.aborted) return;
        const listed = first.shift();
        if (listed) {
          yield listed;
          continue;
        }
        const events = this.#held.has(watch.kind) ? [] : world.eventsAfter(watch.kind, watch.version);
        if (events === undefined) {
          watch.ended = 'expired';
        } else if (events.length > 0) {
          watch.version = Math.max(...events.map(({ version }) => version));
          const within = events.filter((one) => (watch.namespace ?? one.namespace) === one.namespace);
          if (within.length > 0) yield Buffer.concat(within.map(({ line }) => line));
        } else if (watch.bookmark) {
          watch.bookmark = false;
          watch.version = world.version;
          yield lineOf('BOOKMARK', { metadata: { resourceVersion: String(world.version) } });
        } else {
          await new Promise<void>((resolve) => {
            watch.wake = resolve;
          });
          watch.wake = undefined;
        }
      }
    } finally {
      this.#watches.delete(watch);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async findLease(key: ObjectKey, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    await this.#answer('get', 'leases', signal);
    const lease = this.#shared.leases.get(`${key.namespace}/${key.name}`);
    return lease && { ...lease };
  }

  async createLease(
    key: ObjectKey,
    lease: Omit<LeaseRecord, 'resourceVersion'>,
    signal: AbortSignal,
  ): Promise<LeaseRecord> {
    await this.#answer('create', 'leases', signal);
    const name = `${key.namespace}/${key.name}`;
    if (this.#shared.leases.has(name)) throw conflict();
    const made = { ...lease, resourceVersion: '1' };
    this.#shared.leases.set(name, made);
    return { ...made };
  }

  async replaceLease(key: ObjectKey, lease: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord> {
    await this.#answer('update', 'leases', signal);
    const name = `${key.namespace}/${key.name}`;
    if (this.#shared.leases.get(name)?.resourceVersion !== lease.resourceVersion) throw conflict();
    const made = { ...lease, resourceVersion: String(Number(lease.resourceVersion) + 1) };
    this.#shared.leases.set(name, made);
    return { ...made };
  }

  async patchMonitorStatus(
    { namespace, name }: ObjectKey,
    status: object,
    _version: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#answer('patch', 'cronjobmonitors', signal);
    this.#patchStatus('CronJobMonitor', namespace, name, status);
  }

  applyHealth(): Promise<void> {
    return Promise.reject(new Error('no history mirrors health'));
  }

  async patchChannelStatus(
    name: string,
    status: object,
    _version: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#answer('patch', 'alertchannels', signal);
    this.#patchStatus('AlertChannel', '', name, status);
  }

  #patchStatus(kind: WatchedKind, namespace: string, name: string, status: object): void {
    const { world } = this.#shared;
    const found = world.find(kind, namespace, name);
    if (!found)
      throw new ClusterError('notFound', { verb: 'patch', resource: kind, message: 'no such object', status: 404 });
    world.put(kind, { ...found, status });
  }

  async findSecret(key: ObjectKey, signal: AbortSignal): ReturnType<Cluster['findSecret']> {
    await this.#answer('get', 'secrets', signal);
    return {
      labels: { 'cronjob-monitor.io/channel-secret': 'true' },
      resourceVersion: '1',
      values: new Map([['url', `http://127.0.0.1:9/${key.name}`]]),
    };
  }

  async listEvents(_namespace: string, _uid: string, signal: AbortSignal): Promise<[]> {
    await this.#answer('list', 'events', signal);
    return [];
  }

  async listAllEvents(_namespace: string, _most: number, signal: AbortSignal): Promise<[]> {
    await this.#answer('list', 'events', signal);
    return [];
  }

  async readLog(_request: unknown, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    await this.#answer('get', 'pods/log', signal);
    return lines();
  }

  async listPodsOfJob(namespace: string, jobName: string, signal: AbortSignal): ReturnType<Cluster['listPodsOfJob']> {
    await this.#answer('list', 'pods', signal);
    // A Job of these histories has one pod, and the pod its name.
    const pod = this.#shared.world.find('Pod', namespace, `${jobName}-pod`);
    return pod ? [pod] : [];
  }

  async listPods(_namespace: string, _selector: string, signal: AbortSignal): Promise<[]> {
    await this.#answer('list', 'pods', signal);
    return [];
  }

  async findCronJob({ namespace, name }: ObjectKey, signal: AbortSignal): ReturnType<Cluster['findCronJob']> {
    await this.#answer('get', 'cronjobs', signal);
    return this.#shared.world.find('CronJob', namespace, name);
  }

  async findJob({ namespace, name }: ObjectKey, signal: AbortSignal): ReturnType<Cluster['findJob']> {
    await this.#answer('get', 'jobs', signal);
    return this.#shared.world.find('Job', namespace, name);
  }

  createWarning = neverAsked;
  createJob = neverAsked;
  setSuspended = neverAsked;
  reviewToken = neverAsked;
  reviewAccess = neverAsked;
  reloadCredentials(): void {}

  async version(signal: AbortSignal): Promise<string> {
    await this.#answer('get', 'version', signal);
    return 'v1.35.4';
  }

  async clusterUid(signal: AbortSignal): Promise<string> {
    await this.#answer('get', 'namespaces', signal);
    return '00000000-0000-4000-8000-00000000c1c1';
  }

  clockSkewMs(): number {
    return 0;
  }

  async close(): Promise<void> {
    this.#unlisten();
    this.cut('cut');
  }

  async #answer(verb: string, resource: string, signal: AbortSignal): Promise<void> {
    if (this.#dead.aborted) await forEver();
    signal.throwIfAborted();
    if (this.#isAway) throw unreachable(verb, resource);
  }
}

function lineOf(type: string, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

async function* lines(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('it went wrong\n');
}

function unreachable(verb: string, resource: string): ClusterError {
  return new ClusterError('unreachable', { verb, resource, message: 'the connection broke' });
}

function conflict(): ClusterError {
  return new ClusterError('conflict', {
    verb: 'update',
    resource: 'leases',
    message: 'changed meanwhile',
    status: 409,
  });
}

function neverAsked(): Promise<never> {
  return Promise.reject(new Error('the controller has no reason to ask this'));
}

function forEver(): Promise<never> {
  return new Promise(() => {});
}
