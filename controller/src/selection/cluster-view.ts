import {
  isGroupName,
  type CronJobFacts,
  type Instant,
  type JobFacts,
  type NamespaceFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import {
  createTranslator,
  type Cluster,
  type MonitorDefaults,
  type RawObject,
  type SpecChecks,
  type WatchedKind,
  decodeChannelSpec,
  type DecodedChannel,
} from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { WatchMetrics } from '../metrics/index.ts';
import {
  ClusterOutage,
  ListOffer,
  ObjectCache,
  Reflector,
  ReflectorSet,
  resourceOf,
  type EventHandler,
  type Projected,
} from '../runtime/index.ts';
import { toMonitorSeen, type MonitorSeen } from './monitor-seen.ts';

/** The cache knows cluster-scoped objects by the empty namespace. */
type NamespaceSeen = NamespaceFacts & { readonly namespace: string };

/** CronJobs and groups of Jobs as one: both are selected, recorded and judged in the same way. */
class SeenCronJobs {
  /** The CronJobs of the cluster alone. */
  readonly own = new ObjectCache<CronJobFacts>({});
  /** `JobGroups` writes them. */
  readonly groups = new ObjectCache<CronJobFacts>({});

  get size(): number {
    return this.own.size + this.groups.size;
  }

  find(uid: string): CronJobFacts | undefined {
    return this.own.find(uid) ?? this.groups.find(uid);
  }

  findByName(namespace: string, name: string): CronJobFacts | undefined {
    return (isGroupName(name) ? this.groups : this.own).findByName(namespace, name);
  }

  *values(): Generator<CronJobFacts> {
    yield* this.own.values();
    yield* this.groups.values();
  }

  *valuesIn(namespace: string): Generator<CronJobFacts> {
    yield* this.own.valuesIn(namespace);
    yield* this.groups.valuesIn(namespace);
  }
}

/** Everything this replica sees of the cluster, kept in step by one reflector per kind: warm on followers too. */
export interface ClusterCaches {
  readonly cronJobs: SeenCronJobs;
  readonly jobs: ObjectCache<JobFacts, 'cronJob' | 'unfinished'>;
  readonly pods: ObjectCache<PodFacts, 'job'>;
  readonly namespaces: ObjectCache<NamespaceSeen>;
  readonly monitors: ObjectCache<MonitorSeen>;
  readonly channels: ObjectCache<ChannelSeen>;
}

/** Who is told of changes; the caches are up to date before. */
interface ClusterHandlers {
  readonly onCronJob: EventHandler<CronJobFacts>;
  readonly onJob: EventHandler<JobFacts>;
  readonly onPod: EventHandler<PodFacts>;
  readonly onNamespace: EventHandler<NamespaceSeen>;
  readonly onMonitor: EventHandler<MonitorSeen>;
  readonly onChannel: EventHandler<ChannelSeen>;
}

export function createCaches(): ClusterCaches {
  return {
    cronJobs: new SeenCronJobs(),
    jobs: new ObjectCache<JobFacts, 'cronJob' | 'unfinished'>({
      cronJob: (job) => job.cronJobUid,
      unfinished: ({ outcome }) => (outcome === undefined ? 'all' : undefined),
    }),
    pods: new ObjectCache<PodFacts, 'job'>({ job: (pod) => pod.jobUid }),
    namespaces: new ObjectCache<NamespaceSeen>({}),
    monitors: new ObjectCache<MonitorSeen>({}),
    channels: new ObjectCache<ChannelSeen>({}),
  };
}

/** Keeps the caches in step with the cluster, and tells the handlers. Nothing is read before `run`. */
export function createReflectors(
  deps: {
    readonly cluster: Cluster;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly metrics: WatchMetrics;
    /** `cluster.watch-namespaces`; empty: all. */
    readonly watchNamespaces: readonly string[];
    readonly defaults: MonitorDefaults;
    readonly checks: SpecChecks;
    /** A watch of CronJobs or Jobs was broken so that events of this span may be lost. */
    readonly onBlind?: ((span: { readonly fromAt: number; readonly toAt: number }) => void) | undefined;
  },
  caches: ClusterCaches,
  tell: ClusterHandlers,
): ReflectorSet {
  const translator = createTranslator();
  const outage = new ClusterOutage(deps.logger);
  const listOffer = new ListOffer(deps.cluster);
  return new ReflectorSet([
    ...reflect('Namespace', caches.namespaces, tell.onNamespace, (raw) => withNamespace(translator.namespace(raw))),
    ...reflect('CronJobMonitor', caches.monitors, tell.onMonitor, (raw) =>
      toMonitorSeen(raw, deps.defaults, deps.checks),
    ),
    ...reflect('AlertChannel', caches.channels, tell.onChannel, toChannelSeen),
    ...reflect('CronJob', caches.cronJobs.own, tell.onCronJob, (raw) => translator.cronJob(raw)),
    ...reflect('Pod', caches.pods, tell.onPod, (raw) => translator.pod(raw)),
    ...reflect('Job', caches.jobs, tell.onJob, (raw) => translator.job(raw, knownJob(raw))),
  ]);

  /** A Job that has lost its owner stays a run of that owner. */
  function knownJob(raw: RawObject): JobFacts | undefined {
    const metadata = raw['metadata'] as { uid?: unknown } | undefined;
    return typeof metadata?.uid === 'string' ? caches.jobs.find(metadata.uid) : undefined;
  }

  function reflect<T extends Projected, Index extends string>(
    kind: WatchedKind,
    cache: ObjectCache<T, Index>,
    handler: EventHandler<T>,
    project: (raw: RawObject) => T | undefined,
  ): Reflector<T>[] {
    const isClusterScoped = kind === 'Namespace' || kind === 'AlertChannel';
    const everywhere = isClusterScoped || deps.watchNamespaces.length === 0;
    const scopes = everywhere ? [undefined] : deps.watchNamespaces;
    const made: Reflector<T>[] = [];
    const metrics = deps.metrics.of(resourceOf[kind], {
      ageSeconds: () => Math.max(0, ...made.map(({ state }) => state.ageMs / 1000)),
      objects: () => cache.size,
    });
    for (const namespace of scopes) {
      made.push(
        new Reflector<T>({
          cluster: deps.cluster,
          projection: { kind, project },
          namespace,
          cache,
          handlers: [handler],
          clock: deps.clock,
          logger: deps.logger,
          metrics,
          outage,
          listOffer,
          onBlind: kind === 'CronJob' || kind === 'Job' ? deps.onBlind : undefined,
        }),
      );
    }
    return made;
  }
}

function withNamespace(facts: NamespaceFacts | undefined): NamespaceSeen | undefined {
  return facts && { ...facts, namespace: '' };
}

/** An AlertChannel as the cluster shows it, its spec decoded on arrival. */
export interface ChannelSeen {
  readonly uid: string;
  /** Empty: the kind belongs to no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly createdAt: Instant;
  readonly decoded: DecodedChannel;
  readonly status: unknown;
}

/** Undefined for what is no object of an API server. */
function toChannelSeen(raw: RawObject): ChannelSeen | undefined {
  const metadata = raw['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const { uid, name, generation, resourceVersion, creationTimestamp } = metadata as Readonly<Record<string, unknown>>;
  if (typeof uid !== 'string' || typeof name !== 'string') return undefined;
  const createdAt = Date.parse(String(creationTimestamp));
  return {
    uid,
    namespace: '',
    createdAt: Number.isNaN(createdAt) ? 0 : createdAt,
    name,
    generation: typeof generation === 'number' ? generation : 0,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    decoded: decodeChannelSpec(raw),
    status: raw['status'],
  };
}
