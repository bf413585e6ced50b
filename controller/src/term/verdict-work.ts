import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import { parseResourceDuration, type CronJobFacts, type Instant } from '@cronjob-monitor/shared/domain';
import type { Redaction } from '@cronjob-monitor/shared/kube';
import { describeSelf, FencedError, listAlerts } from '@cronjob-monitor/shared/store';
import { toldAtOnce, type RaisedAlert } from '../alerting/index.ts';
import { createDigests, type Digests } from '../outbox/index.ts';
import {
  isMisread,
  partsOf,
  settleSlots,
  WatchGaps,
  AbsenceProof,
  createClockWatch,
  createControllerLease,
  createCreateRefusals,
  createMissCauses,
  rulesOfAlerts,
  StartSkew,
  ZoneCheck,
  type CreateRefusals,
  type LedgerDeps,
  type MissCauses,
} from '../evaluate/index.ts';
import { createEvaluation, type Evaluation } from './evaluation.ts';
import { redactionUntil } from '../evidence/index.ts';
import type { LeaderWorkDeps, VerdictWorkDeps } from './deps.ts';
import type { Term } from '../leadership/index.ts';
import { Outbox } from './outbox.ts';
import { runOwnDeadMan } from './own-dead-man.ts';
import { createPrune, Nights, sealDays } from '../schedulers/index.ts';
import { isExcluded } from '../selection/index.ts';

/** The part of a term that judges and tells: evaluation, outbox, and upkeep of what ages. */
export interface VerdictWork {
  readonly evaluation: Evaluation;
  /** The term before this one had seen everything until then; undefined: there was none. */
  readonly watchedUntilAt: Instant | undefined;
  /** A leader was at work until a moment ago, so its rows are up to date. */
  readonly isSuccession: boolean;
  /** How late the cluster starts its Jobs, 99th percentile. */
  readonly startSkewP99Ms: (now: Instant) => number;
  /** The cluster reads its schedule in another zone than we do. */
  readonly isZoneMisread: (cronJob: CronJobFacts) => boolean;
  /** Redacts texts of the cluster before they are stored. */
  readonly redaction: Redaction;
  /** Why the cluster does not create the pods of a Job. */
  readonly refusalOf: CreateRefusals['of'];
  /** Declares the CronJobs that another one waits for, before its row is written: its messages may have to give way to theirs. */
  readonly declareParents: (parents: readonly string[]) => void;
  /** Begins; ends with the term, or with `stop`. */
  readonly start: () => void;
  /** Resolves when messages on their way have arrived. */
  readonly stop: () => Promise<void>;
  /** Ends a term whose work is done: the next one need not ask about a gap. */
  readonly handOver: (watchedThroughAt: Instant) => Promise<void>;
}

/** Evaluation waits this long for the rows of what a start finds. */
const caughtUpWithinMs = 60_000;
const caughtUpLookMs = 50;
/** A leader that watched until this long ago has judged everything until then. */
const succeedsWithinMs = 120_000;
/** Messages that a leader left in the outbox this short a time ago leave as soon as the runs are written that may have ended their alerts. */
const handedOnWithinMs = 30_000;
/** Objects that left the cluster are remembered this long; a follower keeps the last states of ended Jobs. */
export const rememberedMs = 600_000;
/** Bookmarks come about every minute: only a longer silence is blindness. */
const usualSilenceMs = 90_000;

export async function createVerdictWork(deps: VerdictWorkDeps, term: Term): Promise<VerdictWork> {
  const { settings, store, caches, clock, logger } = deps;
  const { clusterName: name, defaultZone: defaultTimeZone } = settings;
  await store.fenced(term.epoch, (tx) => describeSelf(tx, { name, defaultTimeZone }));
  const gaps = await WatchGaps.open(
    { store, epoch: term.epoch, logger },
    {
      // A follower may have lost what ended longer ago than it remembers, however long it has watched.
      sinceAt: Math.max(deps.syncedAt(), clock.now() - rememberedMs),
      blindSpans: deps.blind.list(),
      generationOf: (uid) => caches.cronJobs.find(uid)?.generation,
    },
  );
  const verdicts = new VerdictsOfTerm(deps, term, {
    gaps,
    endListening: deps.blind.listen((span) => gaps.noteBlind(span)),
    startSkew: await StartSkew.load(store),
    zones: await ZoneCheck.load(store, settings.defaultZone),
    source: await Outbox.sourceOf(deps, term.epoch),
  });
  await verdicts.load();
  return verdicts;
}

/** What was read of the database before anything is judged. */
interface Remembered {
  readonly gaps: WatchGaps;
  readonly endListening: () => void;
  readonly startSkew: StartSkew;
  readonly zones: ZoneCheck;
  readonly source: string;
}

class VerdictsOfTerm implements VerdictWork {
  readonly evaluation: Evaluation;
  readonly watchedUntilAt: Instant | undefined;
  readonly isSuccession: boolean;
  readonly redaction: Redaction;
  readonly #deps: VerdictWorkDeps;
  readonly #term: Term;
  readonly #remembered: Remembered;
  readonly #stopping = new AbortController();
  /** Ends with the term, or with `stop`. */
  readonly #signal: AbortSignal;
  readonly #controllerLease: ReturnType<typeof createControllerLease>;
  readonly #refusals: CreateRefusals;
  readonly #ledger: Omit<LedgerDeps, 'findCronJob'>;
  readonly #outbox: Outbox;
  readonly #digests: Digests;
  readonly #isHandedOn: boolean;
  #isCaughtUp = false;
  /** When the database was last back. */
  #backMs = -Infinity;
  #zoneOffsetMs: number | undefined;

  constructor(deps: VerdictWorkDeps, term: Term, remembered: Remembered) {
    const { settings, store, caches, selection, cluster, clock } = deps;
    this.#deps = deps;
    this.#term = term;
    this.#remembered = remembered;
    this.#signal = AbortSignal.any([term.signal, this.#stopping.signal]);
    this.watchedUntilAt = remembered.gaps.watchedUntilAt;
    const unwatchedMs = store.now() - (this.watchedUntilAt ?? -Infinity);
    this.isSuccession = settings.election !== undefined && unwatchedMs < succeedsWithinMs;
    this.#isHandedOn = this.isSuccession && unwatchedMs < handedOnWithinMs;
    const newestStartAt = (): Instant | undefined => newestOf(caches.cronJobs.values());
    this.#controllerLease = createControllerLease({ cluster, newestStartAt, clock });
    this.redaction = redactionUntil(this.#signal, deps, settings.evidence.redactPatterns);
    const causes = createMissCauses({
      cluster,
      namespaceOf: (uid) => caches.cronJobs.find(uid)?.namespace,
      isControllerStale: () => this.#controllerLease.isStale(),
      redaction: this.redaction,
      onRead: (uid) => this.evaluation.ask([uid], partsOf['dead-man-switch']),
      clock,
      signal: this.#signal,
    });
    this.#refusals = this.#createRefusals();
    this.#ledger = createLedger(deps, { ...remembered, causes, newestStartAt });
    this.#outbox = new Outbox(deps, term, {
      source: remembered.source,
      hasEvaluated: () => (this.#isHandedOn && this.#isCaughtUp) || this.evaluation.evaluatedAt() !== undefined,
    });
    this.#digests = createDigests({
      store,
      epoch: term.epoch,
      threshold: settings.stormThreshold,
      fleet: () => caches.cronJobs.values().reduce((count, { uid }) => count + Number(selection.isMonitored(uid)), 0),
      isControllerStale: () => this.#controllerLease.isStale(),
      rulesOf: (alerts) => rulesOfAlerts(store, alerts, caches.monitors, selection),
      clusterName: settings.clusterName,
      externalUrl: settings.externalUrl,
    });
    this.evaluation = this.#createEvaluation();
    const endListening = deps.circuit.onChange((isOpen) => {
      if (!isOpen) this.#backMs = clock.monotonicMs();
    });
    this.#signal.addEventListener('abort', endListening, { once: true });
  }

  /** Before anything is judged: what is raised during a storm is held. */
  async load(): Promise<void> {
    await this.#digests.load();
  }

  startSkewP99Ms(now: Instant): number {
    return this.#ledger.startSkew.p99Ms(now);
  }

  isZoneMisread(cronJob: CronJobFacts): boolean {
    return isMisread(cronJob, this.#ledger.zones);
  }

  refusalOf(jobUid: string): ReturnType<CreateRefusals['of']> {
    return this.#refusals.of(jobUid);
  }

  declareParents(parents: readonly string[]): void {
    this.#outbox.dependents.declared(parents);
  }

  start(): void {
    const { background } = this.#deps;
    this.#controllerLease.watch(this.#signal);
    this.#refusals.watch(this.#signal);
    this.#outbox.start(this.#signal);
    background('active alerts', this.#countActive());
    background('evaluation', this.evaluation.run(this.#signal));
    background(
      'outbound heartbeat',
      runOwnDeadMan(
        { ...this.#deps, evaluatedAt: () => this.evaluation.evaluatedAt(), sending: this.#outbox.sending },
        this.#signal,
      ),
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process stops'));
    this.#remembered.endListening();
    await this.#outbox.stop();
  }

  async handOver(watchedThroughAt: Instant): Promise<void> {
    await this.#remembered.gaps.handOver(watchedThroughAt);
  }

  #createRefusals(): CreateRefusals {
    const { caches, cluster, intake, selection, queues, clock, background } = this.#deps;
    return createCreateRefusals({
      cluster,
      // Most Jobs of a cluster have ended.
      jobs: { values: () => caches.jobs.listBy('unfinished', 'all') },
      podsOf: (jobUid) => intake.pods.podsOf(jobUid),
      isMonitored: (cronJobUid) => selection.isMonitored(cronJobUid),
      redaction: this.redaction,
      onChanged: ({ uid, cronJobUid }) => {
        queues.JobHandler.add(uid);
        this.evaluation.ask([cronJobUid], ['stuck']);
      },
      clock,
      background,
    });
  }

  #createEvaluation(): Evaluation {
    const { caches, cluster, store, clock, logger, evidence, groups, intake, figures } = this.#deps;
    const { epoch } = this.#term;
    const { retention, schedulers, watchNamespaces } = this.#deps.settings;
    const clocks = createClockWatch({
      clock,
      databaseOffsetMs: () => store.clockOffsetMs(),
      serverOffsetMs: () => cluster.clockSkewMs(),
      onStepped: (byMs) => this.evaluation.stepped(byMs),
    });
    const prune = createPrune({
      store,
      epoch,
      clock,
      logger,
      intervalMs: schedulers.pruneMs,
      retention,
      isWatched: (namespace) => watchNamespaces.length === 0 || watchNamespaces.includes(namespace),
      onPruned: (kind, rows) => this.#deps.upkeepMetrics.pruned(kind, rows),
    });
    const nights = new Nights({ store, epoch, logger, zone: this.#deps.settings.defaultZone });
    return createEvaluation({
      ...this.#deps,
      groupEndedAt: (uid) => groups.endedAtOf(uid),
      podsOf: (jobUid) => intake.pods.podsOf(jobUid),
      goneJobsOf: (cronJobUid) => intake.goneJobsOf(cronJobUid),
      refusalOf: (jobUid) => this.#refusals.of(jobUid),
      term: this.#term,
      watchedUntilAt: this.watchedUntilAt,
      isSuccession: this.isSuccession,
      isFirstOfAll: this.watchedUntilAt === undefined,
      absence: new AbsenceProof({
        store,
        cluster,
        findCronJob: (uid) => caches.cronJobs.find(uid),
        freshThroughAt: this.#deps.freshThroughAt,
        clock,
        signal: this.#signal,
      }),
      freeze: this.#outbox.freeze,
      digests: this.#digests,
      knownOf: (jobUid, monitor, include) => {
        const known = evidence.knownOf(jobUid, monitor);
        return known && toldAtOnce(known, monitor, include);
      },
      settleSlots: (tx, ids, now, findCronJob) => settleSlots(tx, ids, { ...this.#ledger, findCronJob }, now),
      whenCaughtUp: (until) => this.#whenCaughtUp(until),
      postponedBecause: () => clocks() ?? (this.#isBehind() ? 'databaseAway' : undefined),
      prune: async (until) => {
        await prune.run(store.now(), until);
      },
      sealDays: async () => {
        const onMismatch = (days: number): void => this.#deps.upkeepMetrics.mismatched(days);
        await sealDays({ store, epoch, logger, onMismatch }, store.now());
      },
      lookAtNight: () => nights.look(store.now()),
      onSettled: (outcomes) => figures.judged(outcomes),
      measureSla: (ids, now) => figures.measureSla(ids, now),
      onRaised: (raised) => this.#onRaised(raised),
      onExpectations: (uid) => this.#deps.queues.CronJobMonitor.add(uid),
      onRan: (name, outcome) => this.#onRan(name, outcome),
    });
  }

  /**
   * What the start found is written, and what that led to: a monitor to its CronJobs, these to their Jobs. What comes in meanwhile is not
   * waited for: under a steady load the queues are never empty, and nothing is told before this. A successor waits for runs alone: the
   * rows of CronJobs and monitors were written by the leader before it.
   */
  async #whenCaughtUp(until: AbortSignal): Promise<void> {
    const { queues, clock } = this.#deps;
    const endMs = clock.monotonicMs() + caughtUpWithinMs;
    const kinds = this.isSuccession
      ? [queues.JobHandler]
      : [queues.CronJobMonitor, queues.CronJobHandler, queues.JobHandler];
    for (let hop = 0; hop < kinds.length; hop++) {
      const foundMs = clock.monotonicMs();
      while (!until.aborted && clock.monotonicMs() < endMs && kinds.some((queue) => queue.isBusyWith(foundMs))) {
        await clock.sleep(caughtUpLookMs, until).catch(() => {});
      }
    }
    this.#isCaughtUp = true;
    this.#outbox.wake();
  }

  /** A run that ended while the database was away may have ended what comes due: it is written first. */
  #isBehind(): boolean {
    const { circuit, queues, clock } = this.#deps;
    if (circuit.isOpen) return true;
    const isLate = clock.monotonicMs() > this.#backMs + caughtUpWithinMs;
    return !isLate && queues.JobHandler.isBusyWith(this.#backMs);
  }

  #onRaised(raised: readonly RaisedAlert[]): void {
    const { selection, queues, clock, verdictMetrics, deliveryMetrics } = this.#deps;
    this.#outbox.wake();
    for (const { alert, withheld, unsent } of raised) {
      verdictMetrics.moved({ ...alert, isActive: alert.state === 'active' });
      for (const reason of withheld) deliveryMetrics.suppressed(reason);
      for (const { result, ...message } of unsent) deliveryMetrics.ended(message, result);
    }
    const cronJobUids = new Set(raised.map(({ cronJobUid }) => cronJobUid));
    this.#deps.onAlertsMoved(cronJobUids);
    for (const uid of cronJobUids)
      for (const { uid: monitor } of selection.monitorsOfUid(uid))
        queues.CronJobMonitor.addAt(monitor, clock.now() + Outbox.statusMs);
  }

  #onRan(name: SchedulerName, { isOk }: { readonly isOk: boolean }): void {
    if (isOk) this.#deps.verdictMetrics.ran(name, this.#deps.clock.now());
    if (name !== 'dead-man-switch') return;
    this.#remembered.gaps.report();
    this.#noteZone();
  }

  /** What is said of every CronJob without a zone, and of its monitors, changes with what was found. */
  #noteZone(): void {
    const { settings, caches, queues, logger } = this.#deps;
    const offsetMs = this.#ledger.zones.mismatch?.offsetMs;
    if (offsetMs === this.#zoneOffsetMs) return;
    this.#zoneOffsetMs = offsetMs;
    if (offsetMs === undefined) logger.info('the zone of CronJobs without one is that of the cluster');
    else
      logger.warn('the zone of CronJobs without one is not that of the cluster', {
        zone: settings.defaultZone,
        offsetMs,
      });
    for (const { uid } of caches.cronJobs.values()) queues.CronJobHandler.add(uid);
    for (const { uid } of caches.monitors.values()) queues.CronJobMonitor.add(uid);
  }

  /** Counted from the database as the term begins; from then on each that moves. */
  async #countActive(): Promise<void> {
    const { store, isAway, verdictMetrics } = this.#deps;
    const sort = { key: 'since', descending: false } as const;
    const active = await listAlerts(store, { states: ['active'] }, { sort }).catch((error: unknown) => {
      if (error instanceof FencedError || isAway(error)) return [];
      throw error;
    });
    verdictMetrics.begin(
      active.map(({ id, cronJob, severity }) => ({
        id,
        namespace: cronJob.namespace,
        cronJobName: cronJob.name,
        severity,
        isActive: true,
      })),
    );
  }
}

/** When a Job was started last; undefined: no CronJob has run yet. */
function newestOf(cronJobs: IteratorObject<CronJobFacts>): Instant | undefined {
  return cronJobs.reduce<Instant | undefined>((newest, { lastScheduleAt }) => {
    return lastScheduleAt === undefined ? newest : Math.max(newest ?? lastScheduleAt, lastScheduleAt);
  }, undefined);
}

/** For how long nothing is known of what did not come, seconds. */
export function blindSecondsOf(freshThroughAt: Instant | undefined, now: Instant): number {
  const silentMs = now - (freshThroughAt ?? now);
  return silentMs > usualSilenceMs ? silentMs / 1_000 : 0;
}

interface LedgerParts extends Pick<LedgerDeps, 'gaps' | 'newestStartAt' | 'startSkew' | 'zones'> {
  readonly causes: MissCauses;
}

/** What the slot ledger asks: of the caches, of the database, and what its monitors grant. */
function createLedger(
  deps: LeaderWorkDeps,
  { gaps, causes, newestStartAt, startSkew, zones }: LedgerParts,
): Omit<LedgerDeps, 'findCronJob'> {
  const { settings, caches, selection, intake } = deps;
  const { defaultZone } = settings;
  return {
    gaps,
    startSkew,
    zones,
    defaultZone,
    isMonitored: (uid) => selection.isMonitored(uid),
    jobsOf: (uid) => caches.jobs.listBy('cronJob', uid),
    unrecorded: () => intake.snapshots.uids().flatMap((uid) => intake.snapshots.find(uid)?.state ?? []),
    namespaceDeletingAt: (namespace) => caches.namespaces.findByName('', namespace)?.deletingAt,
    isSpecPending: (uid) => deps.sightings.has(uid),
    graceMsOf: (uid) => graceMsOf(deps, uid),
    isExcluded: (uid, at) => isExcluded(selection, uid, at),
    freshThroughAt: deps.freshThroughAt,
    newestStartAt,
    awaitsCause: causes.awaits,
    causeOf: causes.causeOf,
  };
}

/** The longest that one of its monitors grants. */
function graceMsOf({ selection }: LeaderWorkDeps, cronJobUid: string): number {
  const graces = selection.monitorsOfUid(cronJobUid).flatMap(({ decoded }) => {
    return decoded.ok ? [parseResourceDuration(decoded.spec.missedSchedule.grace) ?? 0] : [];
  });
  return Math.max(0, ...graces);
}
