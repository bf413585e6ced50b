import { Authenticator } from './access/authenticate.ts';
import { Authorizer, type AccessRule } from './access/authorize.ts';
import { ServiceAccountTokens } from './access/service-account-tokens.ts';
import { CronJobController } from './controllers/cron-job.ts';
import { DefinitionController } from './controllers/definition.ts';
import { EventRecorder } from './controllers/event-recorder.ts';
import { ExpiryController } from './controllers/expiry.ts';
import { GarbageCollector } from './controllers/garbage.ts';
import { JobController } from './controllers/job.ts';
import { Kubelet } from './controllers/kubelet.ts';
import { NamespaceController } from './controllers/namespace-end.ts';
import { OwnerIndex } from './controllers/owner-index.ts';
import { ServiceAccountController } from './controllers/service-account.ts';
import { Scheduler } from './controllers/scheduler.ts';
import { FaultBoard, type FaultScript, type SetFault } from './faults.ts';
import type { User } from './http/api-request.ts';
import { Places, type PlaceLimits } from './http/places.ts';
import { ApiServer, type TlsFiles } from './http/api-server.ts';
import { serveRequest, type ServeDeps } from './http/serve-request.ts';
import { WatchHub } from './http/serve-watch.ts';
import type { KindRegistry } from './kinds/registry.ts';
import { KindRegistry as Registry } from './kinds/registry.ts';
import { Creators } from './managed/creators.ts';
import { LogBook } from './logs/log-book.ts';
import { createObjects, type ClusterObjects } from './objects.ts';
import { createRandom } from './random.ts';
import type { KubeObject } from './storage/kube-object.ts';
import { ObjectStore } from './storage/object-store.ts';
import { createClock, type SimClock } from './time/sim-clock.ts';
import { ObjectWriter } from './verbs/object-writer.ts';
import type { VerbDeps } from './verbs/verb-deps.ts';

export interface SimClusterOptions {
  /** The wall clock by default. */
  readonly clock?: SimClock;
  /** Bearer token of the administrator. Without any token every caller is the administrator. */
  readonly token?: string;
  /** 0 by default: a free port. Always on 127.0.0.1. */
  readonly port?: number;
  readonly tls?: TlsFiles;
  /** All chance of the cluster comes from here. */
  readonly seed?: number;
  /** Zone of schedules that name none; UTC by default. */
  readonly defaultZone?: string;
  /** Nodes that are there from the start. */
  readonly nodes?: readonly string[];
  /** Pods of Jobs that name no node are put on one. Off by default: the recorded cluster had no scheduler. */
  readonly schedulePods?: boolean;
  /** False: namespaces get no service account `default`. */
  readonly serviceAccounts?: boolean;
  /** How long a Job waits after its first failed pod, 10 s by default; each time twice as long. */
  readonly podBackOffMs?: number;
  /** False: no pod is played and no Job is run; objects stay as they are put. */
  readonly controllers?: boolean;
  /** How long old states are kept before a watch from there is too old; 5 min by default, as on a real server. */
  readonly keepChangesMs?: number;
  /** How long old states are kept for lists: for continue tokens and exact versions. As long as `keepChangesMs` at most. */
  readonly keepPagesMs?: number;
  /** False: the feature gate WatchList is off, as on a server of 1.33. */
  readonly streamsLists?: boolean;
  /** How many requests are worked on at once before others get 429; as on a real server by default. */
  readonly places?: PlaceLimits;
}

/** A simulated cluster: what a test or the demo holds in its hands. */
export interface SimCluster {
  /** Base address, such as `http://127.0.0.1:41231`. Throws before `start`. */
  readonly url: string;
  readonly clock: SimClock;
  /** Objects, past the API: no checks, no defaults but those of the kind, no limits. */
  readonly objects: ClusterObjects;
  readonly logs: LogBook;
  /** Opens the port. Controllers run from the creation of the cluster on, whether or not it is open. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Sets a fault; it strikes until it is removed or has struck as often as it says. */
  fault(script: FaultScript): SetFault;
  clearFaults(): void;
  /** Forgets old states: watches and continue tokens from before are too old. */
  compact(): void;
  /** Closes every connection at once, watches included. */
  dropConnections(): void;
  /** Watches that are open. */
  watchCount(): number;
  addToken(token: string, user: User): void;
  removeToken(token: string): void;
  /** Decides before roles and bindings do; the last one added is asked first. Returns the way out. */
  addAccessRule(rule: AccessRule): () => void;
  /** The version of the newest write. */
  version(): number;
  /** Stops the controller of CronJobs, and only that one. Returns what starts it again: it looks at everything then. */
  pauseCronJobs(): () => void;
  /** Tells of every write, at once and in order: what a watch would bring, without its connection. Returns what ends the telling. */
  observe(listener: (write: ObservedWrite) => void): () => void;
}

/** One write of an object, as it is from then on, or was when it was deleted. */
export interface ObservedWrite {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly at: number;
  readonly object: KubeObject;
}

const usualBackOffMs = 10_000;
const defaultKeepMs = 300_000;
/** As if the cluster had lived a while. */
const firstVersion = 1_000;

/** Makes a cluster. It is empty but for the namespaces every cluster has. */
export function createSimCluster(options: SimClusterOptions = {}): SimCluster {
  const clock = options.clock ?? createClock();
  const random = createRandom(options.seed ?? 1);
  const keepChangesMs = options.keepChangesMs ?? defaultKeepMs;
  const keepPagesMs = options.keepPagesMs ?? keepChangesMs;
  const store = new ObjectStore({ clock, firstVersion, keepChangesMs, keepPagesMs });
  const registry: KindRegistry = new Registry();
  const writer = new ObjectWriter({ store, clock, random });
  const creators = new Creators();
  const verbs: VerbDeps = { store, writer, registry, clock, creators };
  const logs = new LogBook();
  const watches = new WatchHub(verbs, options.streamsLists !== false);
  const now = (): number => clock.now();
  const tokens = new ServiceAccountTokens(store, now);
  const authenticator = new Authenticator(tokens);
  const authorizer = new Authorizer(store);
  const faults = new FaultBoard(() => store.version);
  if (options.token !== undefined)
    authenticator.addToken(options.token, { name: 'admin', uid: 'admin', groups: ['system:masters'] });

  const serve: ServeDeps = {
    ...verbs,
    authenticator,
    authorizer,
    tokens,
    random,
    now,
    faults,
    watches,
    logs: { store, clock, book: logs },
    places: new Places(options.places),
  };
  const server = new ApiServer((request, response) => void serveRequest(request, response, serve), options.tls);
  const cronJobs = startControllers(options, { verbs, random, logs, watches });
  const observers = new Set<(write: ObservedWrite) => void>();
  store.subscribe(({ type, at, object }) => {
    for (const observer of observers) observer({ type, at, object });
  });
  const objects = createObjects(verbs);
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const name of options.nodes ?? []) objects.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

  return {
    get url() {
      return server.url;
    },
    clock,
    objects,
    logs,
    start: () => server.listen(options.port ?? 0),
    async stop() {
      clock.stop();
      await server.close();
    },
    fault: (script) => faults.set(script),
    clearFaults: () => faults.clear(),
    compact: () => store.compact(),
    dropConnections: () => server.dropConnections(),
    watchCount: () => watches.size,
    addToken: (token, user) => authenticator.addToken(token, user),
    removeToken: (token) => authenticator.removeToken(token),
    addAccessRule: (rule) => authorizer.addRule(rule),
    version: () => store.version,
    pauseCronJobs() {
      cronJobs.pause();
      return () => cronJobs.resume();
    },
    observe(listener) {
      observers.add(listener);
      return () => observers.delete(listener);
    },
  };
}

interface ControllerParts {
  readonly verbs: VerbDeps;
  readonly random: ReturnType<typeof createRandom>;
  readonly logs: LogBook;
  readonly watches: WatchHub;
}

function startControllers(
  options: SimClusterOptions,
  { verbs, random, logs, watches }: ControllerParts,
): CronJobController {
  const owners = new OwnerIndex(verbs.store);
  const events = verbs.registry.get('', 'v1', 'events');
  const isWatched = (): boolean => watches.size > 0;
  const recorder = (component: string): EventRecorder =>
    new EventRecorder(component, { ...verbs, random, events, isWatched });
  const always = [
    verbs.creators,
    owners,
    new NamespaceController(verbs),
    new DefinitionController({ ...verbs, endWatches: (resource) => watches.end(resource) }),
    new GarbageCollector({ ...verbs, owners }),
  ];
  const cronJobs = new CronJobController({
    ...verbs,
    owners,
    recorder: recorder('cronjob-controller'),
    defaultZone: options.defaultZone ?? 'UTC',
  });
  const running = [
    cronJobs,
    new JobController({
      ...verbs,
      owners,
      recorder: recorder('job-controller'),
      backOffMs: options.podBackOffMs ?? usualBackOffMs,
    }),
    new Kubelet({ ...verbs, random, logs, recorder: recorder('kubelet') }),
    new ExpiryController(verbs),
    ...(options.schedulePods === true ? [new Scheduler({ ...verbs, recorder: recorder('default-scheduler') })] : []),
    ...(options.serviceAccounts === false ? [] : [new ServiceAccountController(verbs)]),
  ];
  const listeners = options.controllers === false ? always : [...always, ...running];
  verbs.store.subscribe((change) => {
    for (const listener of listeners) listener.notice(change);
  });
  return cronJobs;
}
