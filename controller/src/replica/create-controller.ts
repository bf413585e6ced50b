import { schedulerNames } from '@cronjob-monitor/shared/contract';
import { symptomsOf, type Instant } from '@cronjob-monitor/shared/domain';
import type { Cluster } from '@cronjob-monitor/shared/kube';
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
import { ForeignLeader, createInstallations } from './installations.ts';
import { warnOfConnections } from './connection-check.ts';
import { startLeaderWork, type LeaderWork } from '../term/leader-work.ts';
import {
  giveUpWithoutDatabase,
  hasReadyPeer,
  Heartbeat,
  LeaseElection,
  startWatchdog,
  Terms,
  type StopWork,
  type Term,
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
  UpkeepMetrics,
  VerdictMetrics,
  WorkQueueMetrics,
} from '../metrics/index.ts';
import { createQueues, type Queues } from '../reconcilers/queues.ts';
import { Circuit, isDatabaseAway, noticeOutage } from '../runtime/index.ts';
import { leaseProblems, createTwoWitnesses } from './two-witnesses.ts';
import { isHopeless, prepareSchema, takeFile } from './prepare-schema.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import { Watching } from './watching.ts';

interface ControllerDeps {
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
/** Without a sign of a leader for so long there is none that writes. */
const unledMs = 30_000;
/** A monitor or a namespace that changed may ask for other Jobs: those in the cluster are looked through so soon. */
const reconsiderEveryMs = 500;

/** How Pods of a controller are found, to ask whether another one is ready. */
const controllerPods = 'app.kubernetes.io/name=cronjob-monitor,app.kubernetes.io/component=controller';

export function createController(deps: ControllerDeps): Controller {
  return new Replica(deps);
}

class Replica implements Controller {
  readonly #deps: ControllerDeps;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #leadership: LeadershipMetrics;
  readonly #queues: Queues;
  readonly #metrics: ReturnType<typeof leaderMetrics>;
  readonly #watching: Watching;
  readonly #circuit: Circuit;
  readonly #leaseKey: { readonly namespace: string; readonly name: string };
  readonly #election: LeaseElection | undefined;
  readonly #foreign: ForeignLeader;
  readonly #installations: ReturnType<typeof createInstallations>;
  readonly #witnesses: ReturnType<typeof createTwoWitnesses>;
  readonly #terms: Terms;
  readonly #heartbeat: Heartbeat;
  readonly #startedMs: number;
  readonly #startedAt: Instant;
  #syncedAt: Instant;
  #seenEpoch = 0;
  #work: LeaderWork | undefined;
  /** When this replica last led, or saw another lead. */
  #ledMs: number;

  constructor(deps: ControllerDeps) {
    const { settings, store, cluster, clock, registry } = deps;
    const logger = deps.logger.child({ component: 'controller' });
    this.#deps = deps;
    this.#logger = logger;
    this.#startedMs = clock.monotonicMs();
    this.#ledMs = this.#startedMs;
    this.#startedAt = clock.now();
    this.#syncedAt = this.#startedAt;
    this.#leadership = new LeadershipMetrics(registry);
    this.#queues = createQueues(clock, new WorkQueueMetrics(registry));
    this.#metrics = leaderMetrics(deps, () => this.#watching.blindSeconds());
    this.#watching = new Watching({ settings, cluster, clock, logger, registry, queues: this.#queues });
    this.#circuit = new Circuit({ clock, logger, probe: () => store.probe(), signal: this.#stopping.signal });
    this.#leaseKey = { namespace: settings.election?.namespace ?? '', name: 'cronjob-monitor-controller' };
    this.#election = this.#createElection();
    this.#foreign = new ForeignLeader({ store, cluster, clock, identity: settings.identity });
    this.#installations = createInstallations({
      store,
      clock,
      foreign: this.#foreign,
      ...settings.installation,
      startedAt: this.#startedAt,
      monitors: () => this.#watching.caches.monitors.values(),
      leaseHolder: () => this.#election?.holder,
      identity: settings.identity,
      leaseMs: settings.leaseMs,
    });
    this.#witnesses = createTwoWitnesses({
      ...deps,
      logger,
      onFailure: (error) => this.#noteOutage(error),
      onFenced: () => this.#terms.fenced(),
    });
    this.#terms = this.#createTerms();
    this.#heartbeat = new Heartbeat({
      beat: (leading) => this.#beat(leading),
      isLeading: () => this.#terms.isLeading,
      onFailure: (error) => this.#noteOutage(error),
      leaseMs: settings.leaseMs,
      clock,
      logger,
    });
    this.#addProblems();
  }

  start(): void {
    const { background, clock } = this.#deps;
    background('watchdog', startWatchdog({ clock }, this.#stopping.signal));
    background('controller', this.#run());
  }

  async stop(): Promise<void> {
    await this.#terms.stop();
    await this.#heartbeat.stop();
    this.#stopping.abort();
  }

  /** Undefined: it runs alone. */
  #createElection(): LeaseElection | undefined {
    const { settings, cluster, clock } = this.#deps;
    if (!settings.election) return undefined;
    return new LeaseElection({
      cluster,
      key: this.#leaseKey,
      identity: settings.identity,
      timing: settings.election,
      clock,
      logger: this.#logger,
    });
  }

  #createTerms(): Terms {
    const { store, clock, exit } = this.#deps;
    return new Terms({
      election: this.#election,
      prepare: (signal) => this.#prepareTerm(signal),
      lock: this.#witnesses.lock,
      readBeat: () => findLeaderBeat(store),
      takeEpoch: (signal) => this.#takeEpoch(signal),
      startWork: (term) => this.#startWork(term),
      exit,
      isHopeless,
      clock,
      logger: this.#logger,
    });
  }

  async #prepareTerm(signal: AbortSignal): Promise<void> {
    this.#seenEpoch = await prepareSchema(this.#deps, signal);
    await this.#installations.learn();
    const refusal = this.#installations.refusal();
    if (refusal !== undefined) throw new Error(refusal);
    await warnOfConnections(this.#deps, signal);
  }

  #takeEpoch(signal: AbortSignal): Promise<number> {
    const { isFileStorage } = this.#deps.settings;
    return isFileStorage ? takeFile(this.#deps, this.#seenEpoch, signal) : this.#witnesses.takeEpoch();
  }

  async #startWork(term: Term): Promise<StopWork> {
    const { settings, background } = this.#deps;
    const { caches, selection, groups, intake, sightings, words, starts, blind, reflectors } = this.#watching;
    this.#leadership.leads(term.epoch);
    const guard = this.#witnesses.guard();
    guard?.start(term.signal);
    void this.#heartbeat.beat();
    if (settings.election) background('watch over the database', this.#watchDatabase(term.signal));
    this.#work = await startLeaderWork(
      {
        ...this.#deps,
        ...this.#metrics,
        logger: this.#logger,
        caches,
        selection,
        groups,
        intake,
        queues: this.#queues,
        circuit: this.#circuit,
        syncedAt: () => this.#syncedAt,
        watchAgesMs: () => this.#watching.agesMs(),
        writtenBy: () => this.#installations.writtenBy(),
        sightings,
        words,
        starts,
        blind,
        startedMs: this.#startedMs,
        freshThroughAt: () => reflectors.freshThrough('CronJob', 'Job'),
        blindFromAt: () => this.#watching.blindFromAt(),
        guard,
      },
      term,
    );
    return async () => {
      await this.#work?.stop();
      this.#leadership.stopped();
      await this.#heartbeat.stop();
      await guard?.stop();
    };
  }

  async #beat(leading: boolean): Promise<void> {
    const { settings, store, clock, problems } = this.#deps;
    await beat(store, {
      holder: settings.identity,
      version: settings.version,
      leading,
      epoch: leading ? this.#terms.epoch : undefined,
      startedAt: this.#startedAt,
      beatAt: store.now(),
      schedulers: leading && this.#work ? schedulerNames : [],
      evaluatedAt: leading ? this.#work?.evaluatedAt() : undefined,
      figures: {
        problems: problems.current(),
        watchAgeMs: this.#watching.agesMs(),
        ...this.#foreign.mark,
        ...(leading && this.#witnesses.figures),
      },
    });
    if (leading || (await findLiveLeader(store, store.now(), settings.leaseMs))) this.#ledMs = clock.monotonicMs();
    await this.#installations.learn();
    const refusal = this.#installations.refusal();
    if (refusal === undefined || !leading || this.#terms.epoch === undefined) return;
    await this.#installations.remember(this.#terms.epoch);
    this.#terms.lose(refusal);
  }

  #addProblems(): void {
    const { settings, store, cluster, clock, problems } = this.#deps;
    const { reflectors } = this.#watching;
    problems.add(() => databaseProblems(store, clock));
    problems.add(() => this.#watching.problems());
    problems.add(() => this.#installations.problems());
    problems.add(() =>
      leaseProblems({
        key: this.#leaseKey,
        failure: this.#election?.failing,
        nowMs: clock.monotonicMs(),
        renewDeadlineMs: settings.election?.renewDeadlineMs ?? 0,
        isServerThere: reflectors.states().every(({ trouble }) => trouble?.isRefused !== false),
      }),
    );
    problems.add(() =>
      symptomsOf({
        watchAgesMs: this.#watching.agesMs(),
        blindMs: this.#watching.blindSeconds() * 1_000,
        // Without a database it is not known who leads.
        leaderlessMs: store.trouble() ? 0 : clock.monotonicMs() - this.#ledMs,
      }),
    );
    problems.add(() => clockProblems({ serverMs: cluster.clockSkewMs(), databaseMs: store.clockOffsetMs() }));
  }

  /** On a quiet day a heartbeat is the first to notice that the database is away. */
  #noteOutage(error: unknown): void {
    if (isDatabaseAway(error)) this.#circuit.trip(error);
  }

  async #run(): Promise<void> {
    const { settings, store, clock, background } = this.#deps;
    const { caches, groups, reflectors } = this.#watching;
    const { signal } = this.#stopping;
    const { spoolPath } = settings;
    const spooling = spoolPath === undefined ? undefined : this.#watching.spoolTo(spoolPath, this.#circuit);
    await spooling?.restore();
    spooling?.start(signal);
    background('watches', reflectors.run(signal));
    const database = store.waitUntilReady(signal);
    database.catch(() => {}); // its caller hears of it
    // From before the cluster was seen: what keeps this replica from leading is told by its heartbeat too.
    background('first heartbeat', this.#beatOnceMigrated(database, signal));
    // Runs that end before its first answer are spooled too.
    background(
      'first question',
      noticeOutage(() => store.probe(), this.#circuit),
    );
    // Alone, it makes the tables without waiting for the cluster: what is stored is served meanwhile. A failure is told when the term begins.
    if (!settings.election)
      background(
        'schema',
        prepareSchema(this.#deps, signal).then(
          () => {},
          () => {},
        ),
      );
    while (!signal.aborted && !reflectors.hasSynced()) await clock.sleep(100, signal).catch(() => {});
    if (signal.aborted) return;
    groups.reconsider();
    clock.every(reconsiderEveryMs, () => groups.reconsiderIfAsked(), signal);
    this.#syncedAt = clock.now();
    this.#logger.info('all caches are filled', {
      cronJobs: caches.cronJobs.size,
      jobs: caches.jobs.size,
      groupsOfJobs: caches.cronJobs.groups.size,
      pods: caches.pods.size,
    });
    const isUnwritten = (): boolean => this.#circuit.isOpen || clock.monotonicMs() - this.#ledMs > unledMs;
    clock.every(tidyEveryMs, () => this.#watching.tidy(this.#terms.isLeading, isUnwritten()), signal);
    await database;
    await this.#terms.start();
  }

  /** A fresh database has no table for heartbeats before the leader made it. */
  async #beatOnceMigrated(database: Promise<void>, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#deps;
    await database;
    // A database that goes away meanwhile is waited for.
    const isReady = async () => (await getSchemaState(store).catch(() => undefined))?.state === 'ready';
    while (!signal.aborted && !(await isReady())) await clock.sleep(500, signal);
    this.#heartbeat.start(signal);
  }

  #watchDatabase(signal: AbortSignal): Promise<void> {
    const { settings, cluster, clock } = this.#deps;
    const asked = {
      cluster,
      namespace: settings.election?.namespace ?? settings.ownNamespace,
      labelSelector: controllerPods,
      ownPod: settings.podName,
    };
    return giveUpWithoutDatabase(
      {
        awayForMs: () => this.#circuit.openForMs,
        hasReadyPeer: (asking) => hasReadyPeer(asked, asking),
        resign: (why) => this.#terms.resign(why),
        clock,
        logger: this.#logger,
      },
      AbortSignal.any([signal, this.#stopping.signal]),
    );
  }
}

/** Series of the leader; those of clocks are of every replica. */
function leaderMetrics({ registry, cluster, store }: ControllerDeps, blindSeconds: () => number) {
  const productMetrics = new ProductMetrics(registry);
  const reconcileMetrics = new ReconcileMetrics(registry);
  const deliveryMetrics = new DeliveryMetrics(registry);
  exposeClocks(registry, { apiserver: () => cluster.clockSkewMs(), database: () => store.clockOffsetMs() });
  return {
    productMetrics,
    reconcileMetrics,
    deliveryMetrics,
    upkeepMetrics: new UpkeepMetrics(registry),
    fleetMetrics: new FleetMetrics(registry),
    slaMetrics: new SlaMetrics(registry),
    heartbeatMetrics: new OutboundHeartbeatMetrics(registry),
    verdictMetrics: new VerdictMetrics(registry, { blindSeconds }),
  };
}
