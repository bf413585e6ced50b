import { schedulerNames } from '@cronjob-monitor/shared/contract';
import { symptomsOf, type Instant, type JobFacts, type JobSnapshot } from '@cronjob-monitor/shared/domain';
import type { Cluster, WatchedKind } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger, ProblemList, Registry } from '@cronjob-monitor/shared/process';
import {
  beat,
  databaseProblems,
  findLeaderBeat,
  findLiveLeader,
  getSchemaState,
  type Store,
} from '@cronjob-monitor/shared/store';
import { clockProblems } from '../evaluate/index.ts';
import { clusterProblems } from './cluster-problems.ts';
import { createInstallations } from './installations.ts';
import { createJobIntake, type JobIntake } from '../reconcilers/job/index.ts';
import { warnOfConnections } from './connection-check.ts';
import { startLeaderWork, type LeaderWork } from '../term/leader-work.ts';
import {
  giveUpWithoutDatabase,
  hasReadyPeer,
  Heartbeat,
  LeaseElection,
  startWatchdog,
  Terms,
} from '../leadership/index.ts';
import {
  DeliveryMetrics,
  exposeClocks,
  FleetMetrics,
  LeadershipMetrics,
  OutboundHeartbeatMetrics,
  ProductMetrics,
  ReconcileMetrics,
  SlaMetrics,
  SnapshotMetrics,
  UpkeepMetrics,
  VerdictMetrics,
  WatchMetrics,
  WorkQueueMetrics,
} from '../metrics/index.ts';
import { createQueues } from '../reconcilers/queues.ts';
import { SpecSightings, watchCronJobs } from '../reconcilers/cronjob/index.ts';
import { watchMonitors } from '../reconcilers/monitor/index.ts';
import { BlindSpans, Circuit, Spool, Spooling, isDatabaseAway, noticeOutage } from '../runtime/index.ts';
import { leaseProblems } from './lease-problems.ts';
import { isHopeless, prepareSchema } from './prepare-schema.ts';
import { createTwoWitnesses } from './two-witnesses.ts';
import { createSelection, JobGroups, SelectionStarts, createCaches, createReflectors } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import { blindSecondsOf, rememberedMs } from '../term/verdict-work.ts';

export interface ControllerDeps {
  readonly settings: ControllerSettings;
  readonly cluster: Cluster;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** What is wrong with this process: readiness, health and the log tell it. */
  readonly problems: ProblemList;
  /** Ends the process: a lost term is not survived. */
  readonly exit: (code: number) => void;
  /** Work that no caller waits for; its failure is logged. */
  readonly background: (name: string, work: Promise<void>) => void;
}

/** Watches, records, and leads when it may. It opens no listener: the program that starts the process does. */
export interface Controller {
  /** Begins to watch, and becomes a candidate once everything was seen. Returns at once. */
  start(): void;
  /** Ends the work in order, and gives the lead back. */
  stop(): Promise<void>;
}

const tidyEveryMs = 60_000;
/** A monitor or a namespace that changed may ask for other Jobs: those in the cluster are looked through so soon. */
const reconsiderEveryMs = 500;

export function createController(deps: ControllerDeps): Controller {
  const { settings, store, cluster, clock, registry, problems, background } = deps;
  const logger = deps.logger.child({ component: 'controller' });
  const stopping = new AbortController();
  const leadership = new LeadershipMetrics(registry);
  const queues = createQueues(clock, new WorkQueueMetrics(registry));
  const productMetrics = new ProductMetrics(registry);
  const reconcileMetrics = new ReconcileMetrics(registry);

  const deliveryMetrics = new DeliveryMetrics(registry);
  exposeClocks(registry, { apiserver: () => cluster.clockSkewMs(), database: () => store.clockOffsetMs() });
  const upkeepMetrics = new UpkeepMetrics(registry);
  const fleetMetrics = new FleetMetrics(registry);
  const slaMetrics = new SlaMetrics(registry);
  const heartbeatMetrics = new OutboundHeartbeatMetrics(registry);
  const verdictMetrics = new VerdictMetrics(registry, {
    blindSeconds: () => blindSecondsOf(reflectors.freshThrough('CronJob', 'Job'), clock.now()),
  });
  const sightings = new SpecSightings();
  const blind = new BlindSpans();
  const startedMs = clock.monotonicMs();

  const caches = createCaches();
  const selection = createSelection({
    ...caches,
    rules: settings.reach,
    defaultZone: settings.defaultZone,
    ownerLabel: settings.ownerLabel,
  });
  const intake: JobIntake = createJobIntake({
    pods: caches.pods,
    queue: (uid) => queues.JobHandler.add(uid),
    onDropped: () => snapshotMetrics.dropped(),
    clock,
  });
  const snapshotMetrics = new SnapshotMetrics(registry, () => intake.snapshots.endedCount);
  // A monitor that begins to look for Jobs begins with those that are there.
  const seenAndCandidates = { values: () => chain(caches.cronJobs.values(), groups.candidates()) };
  const starts = new SelectionStarts({ ...caches, cronJobs: seenAndCandidates, selection, rules: settings.reach });
  const unwatchedSinceAt = (kind: WatchedKind): Instant | undefined => {
    const freshThroughAt = reflectors.freshThrough(kind);
    return blindSecondsOf(freshThroughAt, clock.now()) > 0 ? freshThroughAt : undefined;
  };
  const monitors = watchMonitors({
    selection,
    monitors: caches.monitors,
    queue: (uid) => queues.CronJobMonitor.add(uid),
    queueCronJobsIn: (namespace) => {
      for (const { uid } of caches.cronJobs.valuesIn(namespace)) queues.CronJobHandler.add(uid);
    },
    starts,
    unwatchedSinceAt,
    clock,
  });
  const onCronJob = watchCronJobs({
    queue: (uid) => queues.CronJobHandler.add(uid),
    queueMonitorsAround: (cronJob) => monitors.aroundCronJob(cronJob),
    departed: (cronJob, at) => selection.departed(cronJob, at),
    sightings,
    starts,
    unwatchedSinceAt: () => unwatchedSinceAt('CronJob'),
    clock,
  });
  const groups: JobGroups = new JobGroups({
    jobs: caches.jobs,
    groups: caches.cronJobs.groups,
    selection,
    tell: onCronJob,
    onRefused: (monitorUid) => queues.CronJobMonitor.add(monitorUid),
  });
  const reflectors = createReflectors(
    {
      cluster,
      clock,
      logger,
      metrics: new WatchMetrics(registry),
      watchNamespaces: settings.watchNamespaces,
      defaults: settings.monitorDefaults,
      checks: settings.specChecks,
      onBlind: (span) => blind.add(span),
    },
    caches,
    {
      onJob(event) {
        groups.onJob(event, clock.now());
        return intake.onJob(event);
      },
      onPod: intake.onPod,
      onCronJob,
      onNamespace(event) {
        monitors.onNamespace(event);
        groups.reconsiderSoon();
      },
      onMonitor(event) {
        monitors.onMonitor(event);
        groups.reconsiderSoon();
      },
      onChannel(event) {
        // Our own status patches come back as events: they change no spec.
        const isOwnEcho = event.type === 'updated' && event.before.generation === event.item.generation;
        if (!isOwnEcho) queues.AlertChannel.add(event.item.uid);
        monitors.onChannel(event);
      },
    },
  );

  const circuit = new Circuit({ clock, logger, probe: () => store.probe(), signal: stopping.signal });
  let syncedAt = clock.now();
  let work: LeaderWork | undefined;
  /** When this replica last led, or saw another lead. */
  let ledMs = startedMs;
  const leaseKey = { namespace: settings.election?.namespace ?? '', name: 'cronjob-monitor-controller' };
  const election =
    settings.election &&
    new LeaseElection({
      cluster,
      key: leaseKey,
      identity: settings.identity,
      timing: settings.election,
      clock,
      logger,
    });
  const startedAt = clock.now();
  const installations = createInstallations({
    store,
    clock,
    ...settings.installation,
    startedAt,
    monitors: () => caches.monitors.values(),
    leaseHolder: () => election?.holder,
    identity: settings.identity,
    leaseMs: settings.leaseMs,
  });
  const witnesses = createTwoWitnesses({
    ...deps,
    logger,
    onFailure: noteOutage,
    onFenced: () => terms.lose('another process took the epoch'),
  });
  const terms = new Terms({
    election,
    async prepare(signal) {
      await prepareSchema(deps, signal);
      await installations.learn();
      const refusal = installations.refusal();
      if (refusal !== undefined) throw new Error(refusal);
      await warnOfConnections(deps, signal);
    },
    lock: witnesses.lock,
    readBeat: () => findLeaderBeat(store),
    takeEpoch: witnesses.takeEpoch,
    startWork: async (term) => {
      leadership.leads(term.epoch);
      const guard = witnesses.guard();
      guard?.start(term.signal);
      void heartbeat.beat();
      if (settings.election) background('watch over the database', watchDatabase(term.signal));
      work = await startLeaderWork(
        {
          ...deps,
          logger,
          caches,
          selection,
          groups,
          intake,
          queues,
          circuit,
          reconcileMetrics,
          productMetrics,
          syncedAt: () => syncedAt,
          deliveryMetrics,
          verdictMetrics,
          upkeepMetrics,
          fleetMetrics,
          slaMetrics,
          heartbeatMetrics,
          watchAgesMs,
          writtenBy: () => installations.writtenBy(),
          sightings,
          starts,
          blind,
          startedMs,
          freshThroughAt: () => reflectors.freshThrough('CronJob', 'Job'),
          guard,
        },
        term,
      );
      return async () => {
        await work?.stop();
        leadership.stopped();
        await heartbeat.stop();
        await guard?.stop();
      };
    },
    exit: deps.exit,
    isHopeless,
    clock,
    logger,
  });
  const heartbeat = new Heartbeat({
    beat: async (leading) => {
      await beat(store, {
        holder: settings.identity,
        version: settings.version,
        leading,
        epoch: leading ? terms.epoch : undefined,
        startedAt,
        beatAt: store.now(),
        schedulers: leading && work ? schedulerNames : [],
        evaluatedAt: leading ? work?.evaluatedAt() : undefined,
        figures: {
          problems: problems.current(),
          watchAgeMs: watchAgesMs(),
          ...(leading && witnesses.figures),
        },
      });
      if (leading || (await findLiveLeader(store, store.now(), settings.leaseMs))) ledMs = clock.monotonicMs();
      await installations.learn();
      const refusal = installations.refusal();
      if (refusal === undefined || !leading || terms.epoch === undefined) return;
      await installations.remember(terms.epoch);
      terms.lose(refusal);
    },
    isLeading: () => terms.isLeading,
    onFailure: noteOutage,
    leaseMs: settings.leaseMs,
    clock,
    logger,
  });
  problems.add(() => databaseProblems(store, clock));
  problems.add(() => clusterProblems(reflectors));
  problems.add(() => installations.problems());
  problems.add(() =>
    leaseProblems({
      key: leaseKey,
      failure: election?.failing,
      nowMs: clock.monotonicMs(),
      renewDeadlineMs: settings.election?.renewDeadlineMs ?? 0,
      isServerThere: reflectors.states().every(({ trouble }) => trouble?.isRefused !== false),
    }),
  );
  problems.add(() =>
    symptomsOf({
      watchAgesMs: watchAgesMs(),
      blindMs: blindSecondsOf(reflectors.freshThrough('CronJob', 'Job'), clock.now()) * 1_000,
      // Without a database it is not known who leads.
      leaderlessMs: store.trouble() ? 0 : clock.monotonicMs() - ledMs,
    }),
  );
  problems.add(() => clockProblems({ serverMs: cluster.clockSkewMs(), databaseMs: store.clockOffsetMs() }));

  return {
    start() {
      background('watchdog', startWatchdog({ clock }, stopping.signal));
      background('controller', run());
    },
    async stop() {
      await terms.stop();
      await heartbeat.stop();
      stopping.abort();
    },
  };

  /** On a quiet day a heartbeat is the first to notice that the database is away. */
  function noteOutage(error: unknown): void {
    if (isDatabaseAway(error)) circuit.trip(error);
  }

  async function run(): Promise<void> {
    const { signal } = stopping;
    const spooling = settings.spoolPath === undefined ? undefined : spoolTo(settings.spoolPath, intake);
    await spooling?.restore();
    spooling?.start(signal);
    background('watches', reflectors.run(signal));
    const database = store.waitUntilReady(signal);
    database.catch(() => {}); // its caller hears of it
    // From before the cluster was seen: what keeps this replica from leading is told by its heartbeat too.
    background('first heartbeat', beatOnceMigrated(database, signal));
    // Runs that end before its first answer are spooled too.
    background(
      'first question',
      noticeOutage(() => store.probe(), circuit),
    );
    // Alone, it makes the tables without waiting for the cluster: what is stored is served meanwhile. A failure is told when the term begins.
    if (!settings.election)
      background(
        'schema',
        prepareSchema(deps, signal).catch(() => {}),
      );
    while (!signal.aborted && !reflectors.hasSynced()) await clock.sleep(100, signal).catch(() => {});
    if (signal.aborted) return;
    groups.reconsider();
    clock.every(reconsiderEveryMs, () => groups.reconsiderIfAsked(), signal);
    syncedAt = clock.now();
    logger.info('all caches are filled', {
      cronJobs: caches.cronJobs.size,
      jobs: caches.jobs.size,
      groupsOfJobs: caches.cronJobs.groups.size,
      pods: caches.pods.size,
    });
    clock.every(tidyEveryMs, tidy, signal);
    await database;
    await terms.start();
  }

  /** A fresh database has no table for heartbeats before the leader made it. */
  async function beatOnceMigrated(database: Promise<void>, signal: AbortSignal): Promise<void> {
    await database;
    // A database that goes away meanwhile is waited for.
    const isReady = async () => (await getSchemaState(store).catch(() => undefined))?.state === 'ready';
    while (!signal.aborted && !(await isReady())) await clock.sleep(500, signal);
    heartbeat.start(signal);
  }

  /** Since the last event or bookmark of each kind; of the worst namespace where there are several. */
  function watchAgesMs(): Readonly<Record<string, number>> {
    return Object.fromEntries(reflectors.states().map(({ kind }) => [kind, Math.round(reflectors.ageMs(kind))]));
  }

  function spoolTo(folder: string, jobs: JobIntake): Spooling<JobSnapshot> {
    const spool = new Spool({
      folder,
      onDropped: () => snapshotMetrics.dropped(),
      onUnreadable: () => snapshotMetrics.dropped(),
    });
    return new Spooling<JobSnapshot>({ snapshots: jobs.snapshots, spool, circuit, logger, decode: toJobState });
  }

  /** What is remembered beyond the caches is let go when it can no longer be asked for. */
  function tidy(): void {
    const before = clock.now() - rememberedMs;
    groups.forget(clock.now());
    selection.forgetDeparted(before, (uid) => caches.jobs.listBy('cronJob', uid).length > 0);
    intake.pods.forgetLost(before);
    if (!terms.isLeading) intake.snapshots.forgetSeenBefore(before);
  }

  function watchDatabase(signal: AbortSignal): Promise<void> {
    const { election } = settings;
    return giveUpWithoutDatabase(
      {
        awayForMs: () => circuit.openForMs,
        hasReadyPeer: (asking) =>
          hasReadyPeer(
            {
              cluster,
              namespace: election?.namespace ?? settings.ownNamespace,
              labelSelector: 'app.kubernetes.io/name=cronjob-monitor,app.kubernetes.io/component=controller',
              ownPod: settings.podName,
            },
            asking,
          ),
        resign: (why) => terms.resign(why),
        clock,
        logger,
      },
      AbortSignal.any([signal, stopping.signal]),
    );
  }
}

function* chain<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** A line of the spool, as far as it is what this release writes. */
function toJobState(state: unknown): JobSnapshot | undefined {
  const { job, gone } = (state ?? {}) as { job?: Partial<JobFacts>; gone?: JobSnapshot['gone'] };
  const texts = [job?.uid, job?.name, job?.namespace, job?.cronJobUid];
  const isOne = texts.every((text) => typeof text === 'string') && typeof job?.createdAt === 'number';
  return isOne ? { job: job as JobFacts, gone: gone ?? undefined } : undefined;
}
