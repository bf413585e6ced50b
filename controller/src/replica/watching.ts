import { isOver, type Instant, type JobFacts, type JobSnapshot, type Problem } from '@cronjob-monitor/shared/domain';
import type { Cluster, WatchedKind } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger, Registry } from '@cronjob-monitor/shared/process';
import { SnapshotMetrics, WatchMetrics } from '../metrics/index.ts';
import { SpecSightings, watchCronJobs, WordSightings } from '../reconcilers/cronjob/index.ts';
import { createJobIntake, type JobIntake } from '../reconcilers/job/index.ts';
import { watchMonitors } from '../reconcilers/monitor/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import { BlindSpans, Spool, Spooling, type Circuit, type ReflectorSet, type ReflectorState } from '../runtime/index.ts';
import {
  createCaches,
  createReflectors,
  createSelection,
  JobGroups,
  SelectionStarts,
  type ClusterCaches,
  type Selection,
} from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import { blindSecondsOf, rememberedMs } from '../term/verdict-work.ts';

/** When a database or a leader is back, what waited is written within this time: until then nothing else tells of what is gone. */
const workedOffMs = 120_000;

interface WatchedWorld {
  readonly settings: ControllerSettings;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly queues: Queues;
}

/** What every replica sees of the cluster: caches that are kept up to date, who watches whom, and which keys an event wakes. */
export class Watching {
  readonly caches: ClusterCaches = createCaches();
  readonly selection: Selection;
  readonly intake: JobIntake;
  readonly groups: JobGroups;
  readonly starts: SelectionStarts;
  readonly reflectors: ReturnType<typeof createReflectors>;
  readonly sightings = new SpecSightings();
  readonly words = new WordSightings(this.caches);
  readonly blind = new BlindSpans();
  readonly #world: WatchedWorld;
  /** Until then what waited for the database or for a leader may not be written. */
  #writtenAgainAt = 0;
  readonly #snapshotMetrics: SnapshotMetrics;

  constructor(world: WatchedWorld) {
    const { caches } = this;
    const { settings, clock, queues } = world;
    this.#world = world;
    this.selection = createSelection({
      ...caches,
      rules: settings.reach,
      defaultZone: settings.defaultZone,
      ownerLabel: settings.ownerLabel,
    });
    this.intake = createJobIntake({
      pods: caches.pods,
      queue: (uid) => queues.JobHandler.add(uid),
      onDropped: () => this.#snapshotMetrics.dropped(),
      clock,
    });
    this.#snapshotMetrics = new SnapshotMetrics(world.registry, () => this.intake.snapshots.endedCount);
    this.starts = new SelectionStarts({
      ...caches,
      // A monitor that begins to look for Jobs begins with those that are there.
      cronJobs: { values: () => chain(caches.cronJobs.values(), this.groups.candidates()) },
      selection: this.selection,
      left: (leave) => {
        this.selection.left(leave);
        queues.CronJobHandler.add(leave.cronJob.uid);
      },
      rules: settings.reach,
    });
    const monitors = this.#watchMonitors();
    const onCronJob = this.#watchCronJobs(monitors);
    this.groups = new JobGroups({
      jobs: caches.jobs,
      groups: caches.cronJobs.groups,
      selection: this.selection,
      tell: onCronJob,
      onRefused: (monitorUid) => queues.CronJobMonitor.add(monitorUid),
    });
    this.reflectors = this.#reflect(monitors, onCronJob);
  }

  /** For how long nothing is known of CronJobs and Jobs that did not come, seconds. */
  blindSeconds(): number {
    return blindSecondsOf(this.reflectors.freshThrough('CronJob', 'Job'), this.#world.clock.now());
  }

  /** From when on what happens to CronJobs and Jobs cannot be seen; undefined: it is seen. */
  blindFromAt(): Instant | undefined {
    return blindFromOf(this.reflectors.states(), this.#world.clock.now());
  }

  /** Since the last event or bookmark of each kind; of the worst namespace where there are several. */
  agesMs(): Readonly<Record<string, number>> {
    const { reflectors } = this;
    return Object.fromEntries(reflectors.states().map(({ kind }) => [kind, Math.round(reflectors.ageMs(kind))]));
  }

  /** What is wrong with the cluster as it is watched. */
  problems(): Problem[] {
    return clusterProblems(this.reflectors);
  }

  /** What is remembered beyond the caches is let go when it can no longer be asked for. `isUnwritten`: no leader can write what happens. */
  tidy(isLeading: boolean, isUnwritten: boolean): void {
    const now = this.#world.clock.now();
    if (isUnwritten) this.#writtenAgainAt = now + workedOffMs;
    const before = now - rememberedMs;
    this.groups.forget(now);
    const { pods, snapshots } = this.intake;
    if (now >= this.#writtenAgainAt) {
      this.selection.forgetDeparted(before, (uid) => this.caches.jobs.listBy('cronJob', uid).length > 0);
      if (!isLeading) snapshots.forgetSeenBefore(before);
    }
    pods.forgetLost(before, (jobUid) => {
      const held = snapshots.find(jobUid);
      return held !== undefined && isOver(held.state);
    });
  }

  /** Keeps what is not written of Jobs in a folder while the database is away. */
  spoolTo(folder: string, circuit: Circuit): Spooling<JobSnapshot> {
    const onDropped = (): void => this.#snapshotMetrics.dropped();
    return new Spooling<JobSnapshot>({
      snapshots: this.intake.snapshots,
      spool: new Spool({ folder, onDropped, onUnreadable: onDropped }),
      circuit,
      logger: this.#world.logger,
      decode: toJobState,
    });
  }

  #watchMonitors(): ReturnType<typeof watchMonitors> {
    const { queues, clock } = this.#world;
    return watchMonitors({
      selection: this.selection,
      monitors: this.caches.monitors,
      queue: (uid) => queues.CronJobMonitor.add(uid),
      queueCronJobsIn: (namespace) => {
        for (const { uid } of this.caches.cronJobs.valuesIn(namespace)) queues.CronJobHandler.add(uid);
      },
      starts: this.starts,
      words: this.words,
      unwatchedSinceAt: (kind) => this.#unwatchedSinceAt(kind),
      clock,
    });
  }

  #watchCronJobs(monitors: ReturnType<typeof watchMonitors>): ReturnType<typeof watchCronJobs> {
    const { queues, clock } = this.#world;
    return watchCronJobs({
      queue: (uid) => queues.CronJobHandler.add(uid),
      queueMonitorsAround: (cronJob) => monitors.aroundCronJob(cronJob),
      departed: (departure) => this.selection.departed(departure, (...of) => this.starts.sinceOf(...of)),
      sightings: this.sightings,
      starts: this.starts,
      words: this.words,
      unwatchedSinceAt: () => this.#unwatchedSinceAt('CronJob'),
      clock,
    });
  }

  #unwatchedSinceAt(kind: WatchedKind): Instant | undefined {
    const freshThroughAt = this.reflectors.freshThrough(kind);
    return blindSecondsOf(freshThroughAt, this.#world.clock.now()) > 0 ? freshThroughAt : undefined;
  }

  #reflect(
    monitors: ReturnType<typeof watchMonitors>,
    onCronJob: ReturnType<typeof watchCronJobs>,
  ): ReturnType<typeof createReflectors> {
    const { groups, intake } = this;
    const { settings, cluster, clock, logger, registry, queues } = this.#world;
    const watched = {
      cluster,
      clock,
      logger,
      metrics: new WatchMetrics(registry),
      watchNamespaces: settings.watchNamespaces,
      defaults: settings.monitorDefaults,
      checks: settings.specChecks,
      onBlind: (span: Parameters<BlindSpans['add']>[0]) => this.blind.add(span),
    };
    return createReflectors(watched, this.caches, {
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
    });
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

/** A watch that has to be opened again is no news before this time. */
const patienceMs = 10_000;

/**
 * What is wrong with the cluster as it is watched. An API server that says no keeps this replica from its work, at the start and later. One that
 * does not answer does so only until everything was seen once: then it is the same for all replicas, and what is stored is served on.
 */
function clusterProblems(reflectors: Pick<ReflectorSet, 'states' | 'hasSynced'>): Problem[] {
  const hasSynced = reflectors.hasSynced();
  const problems: Problem[] = [];
  for (const { trouble, ageMs } of reflectors.states()) {
    if (!trouble) continue;
    const { sentence } = trouble;
    const cause = trouble.isUndefined ? 'definitionsMissing' : 'rightMissing';
    if (trouble.isRefused) problems.push({ key: sentence, cause, sentence, blocks: true });
    else if (!hasSynced || ageMs > patienceMs)
      problems.push({
        key: 'cluster',
        cause: 'clusterAway',
        sentence: `the API server does not answer (${sentence}): look at it and at the network, or correct cluster.kubeconfig`,
        blocks: !hasSynced,
      });
  }
  if (!hasSynced && problems.length === 0)
    problems.push({
      key: 'caches',
      cause: 'watchSilent',
      sentence: 'the caches are not filled yet: the cluster is being listed',
      blocks: true,
    });
  return problems;
}

/**
 * The earliest instant up to which a watch of CronJobs or Jobs is known to have told everything, of those that are in trouble or silent for
 * longer than usual; undefined: there is none. One that the server refuses does not count: a person has to mend it, and no alert waits for that.
 */
export function blindFromOf(
  states: readonly Pick<ReflectorState, 'kind' | 'freshThroughAt' | 'trouble'>[],
  now: Instant,
): Instant | undefined {
  return states
    .filter(({ kind, trouble }) => (kind === 'CronJob' || kind === 'Job') && trouble?.isRefused !== true)
    .filter(({ trouble, freshThroughAt }) => trouble !== undefined || blindSecondsOf(freshThroughAt, now) > 0)
    .flatMap(({ freshThroughAt }) => freshThroughAt ?? [])
    .sort((a, b) => a - b)[0];
}
