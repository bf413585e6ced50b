import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import type { CronJobFacts, Instant } from '@cronjob-monitor/shared/domain';
import { alertRulesOf, type Redaction } from '@cronjob-monitor/shared/kube';
import { HeapHaste } from '@cronjob-monitor/shared/process';
import { FencedError, findClusterState, listAlerts, newId, putClusterState } from '@cronjob-monitor/shared/store';
import {
  AlertmanagerUpkeep,
  createDispatcher,
  createFreeze,
  createSecretReader,
  createDigests,
  Drills,
  toldAtOnce,
  type RaisedAlert,
  type ToldCronJob,
} from '../alerting/index.ts';
import { createAddressRules, resolveByMachine } from '../channels/index.ts';
import { createLedger } from './create-ledger.ts';
import { isDatabaseAway } from '../runtime/index.ts';
import {
  isMisread,
  partsOf,
  settleSlots,
  WatchGaps,
  AbsenceProof,
  createClockWatch,
  createControllerLease,
  createCreateRefusals,
  type CreateRefusals,
  createMissCauses,
  rulesOfAlerts,
} from '../evaluate/index.ts';
import { createEvaluation, type Evaluation } from './evaluation.ts';
import { type EvidenceTaking, createInstalledRedaction } from '../evidence/index.ts';
import type { FleetFigures } from '../figures/fleet-figures.ts';
import type { LeaderWorkDeps } from './leader-work.ts';
import type { Term } from '../leadership/index.ts';
import { runOwnDeadMan } from './own-dead-man.ts';
import type { Outlook } from '../reconcilers/cronjob/index.ts';
import { createPrune, sealDays } from '../schedulers/index.ts';

export interface VerdictWorkDeps extends LeaderWorkDeps {
  readonly evidence: Pick<EvidenceTaking, 'knownOf' | 'onMessagesCompleted'>;
  readonly figures: Pick<FleetFigures, 'judged' | 'measureSla'>;
  readonly outlookOf: (cronJob: CronJobFacts, now: Instant) => Outlook;
  /** Alerts of these CronJobs were written. */
  readonly onAlertsMoved: (cronJobUids: Iterable<string>) => void;
}

/** What is judged and told: evaluation, outbox, and what ages. */
export interface VerdictWork {
  readonly evaluation: Evaluation;
  /** Until when a term before this one had seen everything; undefined: there was none. */
  readonly watchedUntilAt: Instant | undefined;
  /** A leader was at work until a moment ago: what it wrote stands. */
  readonly isSuccession: boolean;
  /** How late the cluster starts its Jobs, 99th percentile. */
  readonly startSkewP99Ms: (now: Instant) => number;
  /** The cluster reads its schedule in another zone than we do. */
  readonly isZoneMisread: (cronJob: CronJobFacts) => boolean;
  /** What the cluster says goes through it before it is stored. */
  readonly redaction: Redaction;
  /** That the cluster does not create the pods of a Job. */
  readonly refusalOf: CreateRefusals['of'];
  /** Begins; ends with the term, or with `stop`. */
  readonly start: () => void;
  /** Resolves when messages on their way have arrived. */
  readonly stop: () => Promise<void>;
  /** The last of a term whose work is done: the next one need not ask what was not seen. */
  readonly handOver: (watchedThroughAt: Instant) => Promise<void>;
}

/** How long the status of a channel or a monitor may wait for what else happens there: messages go first. */
const statusMs = 1_500;
/** What a start finds is written within this time, or evaluation begins all the same. */
const caughtUpWithinMs = 60_000;
const caughtUpLookMs = 50;
/** A leader that has watched until so long ago has judged everything until then. */
const succeedsWithinMs = 120_000;
/** What a leader that was at work until so long ago left in the outbox goes out as soon as the runs are written that may have ended it. */
const handedOnWithinMs = 30_000;
/** After something was raised messages are in haste for so long. */
const hasteMs = 15_000;
/** What has left the cluster is remembered for so long; a follower keeps the last states of Jobs that ended. */
export const rememberedMs = 600_000;
/** Bookmarks come about every minute: only a longer silence is blindness. */
const usualSilenceMs = 90_000;

export async function createVerdictWork(deps: VerdictWorkDeps, term: Term): Promise<VerdictWork> {
  const { settings, store, caches, selection, queues, clock, logger } = deps;
  const { epoch } = term;
  const stopping = new AbortController();
  const signal = AbortSignal.any([term.signal, stopping.signal]);
  const haste = new HeapHaste(clock, hasteMs);
  const isAway = (error: unknown): boolean => {
    if (isDatabaseAway(error)) deps.circuit.trip(error);
    return isDatabaseAway(error);
  };
  const gaps = await WatchGaps.open(
    { store, epoch, logger },
    {
      // What ended longer ago than a follower remembers may be lost, however long it has watched.
      sinceAt: Math.max(deps.syncedAt(), clock.now() - rememberedMs),
      blindSpans: deps.blind.list(),
      generationOf: (uid) => caches.cronJobs.find(uid)?.generation,
    },
  );
  const { watchedUntilAt } = gaps;
  const isSuccession =
    settings.election !== undefined && watchedUntilAt !== undefined && store.now() - watchedUntilAt < succeedsWithinMs;
  let isCaughtUp = false;
  const isHandedOn = isSuccession && store.now() - watchedUntilAt < handedOnWithinMs;
  // Messages wait for what is written and judged now, and the caches of a successor were filled long before.
  if (isSuccession) haste.hurry(signal);
  const endListening = deps.blind.listen((span) => gaps.noteBlind(span));
  const newestStartAt = (): Instant | undefined =>
    caches.cronJobs.values().reduce<Instant | undefined>((newest, { lastScheduleAt }) => {
      return lastScheduleAt === undefined ? newest : Math.max(newest ?? lastScheduleAt, lastScheduleAt);
    }, undefined);
  let zoneOffsetMs: number | undefined;
  const controllerLease = createControllerLease({ cluster: deps.cluster, newestStartAt, clock });
  const redaction = createInstalledRedaction(deps, settings.evidence.redactPatterns, signal);
  const causes = createMissCauses({
    cluster: deps.cluster,
    namespaceOf: (uid) => caches.cronJobs.find(uid)?.namespace,
    isControllerStale: () => controllerLease.isStale(),
    redaction,
    onRead: (uid) => evaluation.ask([uid], partsOf['dead-man-switch']),
    clock,
    signal,
  });
  const refusals = createCreateRefusals({
    cluster: deps.cluster,
    jobs: caches.jobs,
    podsOf: (jobUid) => deps.intake.pods.podsOf(jobUid),
    isMonitored: (cronJobUid) => selection.isMonitored(cronJobUid),
    redaction,
    onChanged: ({ uid, cronJobUid }) => {
      queues.JobHandler.add(uid);
      evaluation.ask([cronJobUid], ['stuck']);
    },
    clock,
    background: deps.background,
  });
  const ledger = await createLedger(deps, { gaps, causes, newestStartAt });
  const sending = { addresses: createAddressRules(settings.channels), resolve: resolveByMachine };
  const source = await sourceOf(deps, epoch);
  const dispatcher = createDispatcher({
    store,
    epoch,
    sender: { pod: settings.podName, boot: settings.identity },
    channels: caches.channels,
    cluster: deps.cluster,
    secretRules: settings.secrets,
    sending,
    metrics: deps.deliveryMetrics,
    settings: {
      globalLimit: settings.globalLimit,
      startedMs: deps.startedMs,
      startupGraceMs: settings.schedulers.startupGraceMs,
      clusterName: settings.clusterName,
      externalUrl: settings.externalUrl,
      source,
    },
    onMoreToTell: (channelUid) => alertmanagers.soon(channelUid),
    rulesOf: ({ monitor, namespace, cronJobName }) => {
      const seen = caches.monitors.findByName(monitor.namespace, monitor.name);
      const settings = seen && selection.effectiveOf(seen, selection.findNamed(namespace, cronJobName));
      return settings && alertRulesOf(settings);
    },
    hasEvaluated: () => (isHandedOn && isCaughtUp) || evaluation.evaluatedAt() !== undefined,
    guard: deps.guard,
    // Many messages settle in a moment: one status tells of all of them.
    onChannelChanged: (uid) => queues.AlertChannel.addAt(uid, clock.now() + statusMs),
    database: {
      isAway,
      whenBack: (_error, asking) => deps.circuit.whenClosed(asking),
    },
    onFenced: () => term.lose('another process took the epoch'),
    clock,
    logger,
  });
  const freeze = createFreeze({
    clusterName: settings.clusterName,
    externalUrl: settings.externalUrl,
    findCronJob: toldOf,
  });
  const alertmanagers = new AlertmanagerUpkeep({
    store,
    epoch,
    channels: caches.channels,
    secrets: createSecretReader({ cluster: deps.cluster, rules: settings.secrets, clock }),
    sending: { ...sending, clock },
    freeze,
    source,
    turn: (channelUid, work) => dispatcher.turn(channelUid, work),
    metrics: deps.deliveryMetrics,
    database: { isAway, whenBack: (_error, asking) => deps.circuit.whenClosed(asking) },
    onFenced: () => term.lose('another process took the epoch'),
    clock,
    logger,
  });
  const drills = new Drills({
    store,
    epoch,
    channels: caches.channels,
    words: { clusterName: settings.clusterName, externalUrl: settings.externalUrl },
    onTold: () => dispatcher.wake(),
    onChannelChanged: (uid) => queues.AlertChannel.addAt(uid, clock.now()),
    database: { isAway, whenBack: (_error, asking) => deps.circuit.whenClosed(asking) },
    onFenced: () => term.lose('another process took the epoch'),
    clock,
    logger,
  });
  const prune = createPrune({
    store,
    epoch,
    clock,
    logger,
    intervalMs: settings.schedulers.pruneMs,
    retention: settings.retention,
    isWatched: (namespace) => settings.watchNamespaces.length === 0 || settings.watchNamespaces.includes(namespace),
    onPruned: (kind, rows) => deps.upkeepMetrics.pruned(kind, rows),
  });
  const digests = createDigests({
    store,
    epoch,
    threshold: settings.stormThreshold,
    fleet: () => caches.cronJobs.values().reduce((count, { uid }) => count + Number(selection.isMonitored(uid)), 0),
    isControllerStale: () => controllerLease.isStale(),
    rulesOf: (alerts) => rulesOfAlerts(store, alerts, caches.monitors, selection),
    clusterName: settings.clusterName,
    externalUrl: settings.externalUrl,
  });
  // Before anything is judged: what is raised during a storm is held.
  await digests.load();
  const evaluation = createEvaluation({
    ...deps,
    groupEndedAt: (uid) => deps.groups.endedAtOf(uid),
    podsOf: (jobUid) => deps.intake.pods.podsOf(jobUid),
    refusalOf: (jobUid) => refusals.of(jobUid),
    term,
    watchedUntilAt,
    isSuccession,
    isFirstOfAll: watchedUntilAt === undefined,
    absence: new AbsenceProof({
      store,
      cluster: deps.cluster,
      findCronJob: (uid) => caches.cronJobs.find(uid),
      freshThroughAt: deps.freshThroughAt,
      clock,
      signal,
    }),
    freeze,
    digests,
    knownOf: (jobUid, monitor, include) => {
      const known = deps.evidence.knownOf(jobUid);
      return known && toldAtOnce(known, monitor, include);
    },
    settleSlots: (tx, ids, now) => settleSlots(tx, ids, ledger, now),
    whenCaughtUp,
    postponedBecause: createClockWatch({
      clock,
      databaseOffsetMs: () => store.clockOffsetMs(),
      serverOffsetMs: () => deps.cluster.clockSkewMs(),
      onStepped: (byMs) => evaluation.stepped(byMs),
    }),
    prune: async (until) => {
      await prune.run(store.now(), until);
    },
    sealDays: async () => {
      const onMismatch = (days: number): void => deps.upkeepMetrics.mismatched(days);
      await sealDays({ store, epoch, logger, onMismatch }, store.now());
    },
    onSettled: (outcomes) => deps.figures.judged(outcomes),
    measureSla: (ids, now) => deps.figures.measureSla(ids, now),
    onRaised,
    onExpectations: (uid) => queues.CronJobMonitor.add(uid),
    onRan,
    isAway,
  });

  return {
    evaluation,
    watchedUntilAt,
    isSuccession,
    startSkewP99Ms: (now) => ledger.startSkew.p99Ms(now),
    redaction,
    refusalOf: (jobUid) => refusals.of(jobUid),
    isZoneMisread: (cronJob) => isMisread(cronJob, ledger.zones),
    start() {
      controllerLease.watch(signal);
      refusals.watch(signal);
      dispatcher.start(term.signal);
      deps.evidence.onMessagesCompleted(() => dispatcher.wake());
      deps.background('alertmanagers', alertmanagers.run(signal));
      deps.background('drills', drills.run(signal));
      deps.background('active alerts', countActive());
      deps.background('evaluation', evaluation.run(signal));
      deps.background(
        'outbound heartbeat',
        runOwnDeadMan({ ...deps, evaluatedAt: () => evaluation.evaluatedAt(), sending, isAway }, signal),
      );
    },
    async stop() {
      stopping.abort(new Error('the process stops'));
      endListening();
      await dispatcher.stop();
    },
    handOver: (watchedThroughAt) => gaps.handOver(watchedThroughAt),
  };

  /**
   * What the start found is written, and what that led to: a monitor to its CronJobs, these to their Jobs. What comes in meanwhile is not
   * waited for: under a steady load the queues are never empty, and nothing is told before this. A successor waits for runs alone: the
   * rows of CronJobs and monitors were written by the leader before it.
   */
  async function whenCaughtUp(until: AbortSignal): Promise<void> {
    const endMs = clock.monotonicMs() + caughtUpWithinMs;
    const kinds = isSuccession
      ? [queues.JobHandler]
      : [queues.CronJobMonitor, queues.CronJobHandler, queues.JobHandler];
    for (let hop = 0; hop < kinds.length; hop++) {
      const foundMs = clock.monotonicMs();
      while (!until.aborted && clock.monotonicMs() < endMs && kinds.some((queue) => queue.isBusyWith(foundMs))) {
        await clock.sleep(caughtUpLookMs, until).catch(() => {});
      }
    }
    isCaughtUp = true;
    dispatcher.wake();
  }

  function onRaised(raised: readonly RaisedAlert[]): void {
    // What the start finds is much at once, and the memory that is then wanted would stay.
    if (evaluation.evaluatedAt() !== undefined) haste.hurry(signal);
    dispatcher.wake();
    for (const { alert, withheld, unsent } of raised) {
      deps.verdictMetrics.moved({ ...alert, isActive: alert.state === 'active' });
      for (const reason of withheld) deps.deliveryMetrics.suppressed(reason);
      for (const { result, ...message } of unsent) deps.deliveryMetrics.ended(message, result);
    }
    deps.onAlertsMoved(raised.map(({ cronJobUid }) => cronJobUid));
    for (const uid of new Set(raised.map(({ cronJobUid }) => cronJobUid)))
      for (const { uid: monitor } of selection.monitorsOfUid(uid))
        queues.CronJobMonitor.addAt(monitor, clock.now() + statusMs);
  }

  function onRan(name: SchedulerName, { isOk }: { readonly isOk: boolean }): void {
    if (isOk) deps.verdictMetrics.ran(name, clock.now());
    if (name !== 'dead-man-switch') return;
    gaps.report();
    noteZone();
  }

  /** What is said of every CronJob without a zone, and of its monitors, changes with what was found. */
  function noteZone(): void {
    const offsetMs = ledger.zones.mismatch?.offsetMs;
    if (offsetMs === zoneOffsetMs) return;
    zoneOffsetMs = offsetMs;
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
  async function countActive(): Promise<void> {
    const sort = { key: 'since', descending: false } as const;
    const active = await listAlerts(store, { states: ['active'] }, { sort }).catch((error: unknown) => {
      if (error instanceof FencedError || isAway(error)) return [];
      throw error;
    });
    deps.verdictMetrics.begin(
      active.map(({ id, cronJob, severity }) => ({
        id,
        namespace: cronJob.namespace,
        cronJobName: cronJob.name,
        severity,
        isActive: true,
      })),
    );
  }

  function toldOf(uid: string): ToldCronJob | undefined {
    const cronJob = selection.findCronJob(uid);
    if (!cronJob) return undefined;
    const { schedule, timeZone, lastSuccessAt, notes } = cronJob;
    const { nextRunAt } = deps.outlookOf(cronJob, clock.now());
    return { schedule, timeZone, lastSuccessAt, nextRunAt, runbook: notes.runbook };
  }
}

/** For how long nothing is known of what did not come, seconds. */
export function blindSecondsOf(freshThroughAt: Instant | undefined, now: Instant): number {
  const silentMs = now - (freshThroughAt ?? now);
  return silentMs > usualSilenceMs ? silentMs / 1_000 : 0;
}

/** How long a term waits for the name of its cluster: it is asked for once in the life of a database. */
const nameWithinMs = 2_000;

/**
 * What names the cluster to receivers that keep alerts of many: of the UID of the cluster, which no other has. Kept, since alerts are known
 * there by it; where the cluster does not say, an id of our own is as good.
 */
async function sourceOf({ store, cluster, clock }: LeaderWorkDeps, epoch: number): Promise<string> {
  const known = await findClusterState(store, 'clusterUid');
  const uid = typeof known === 'string' ? known : await askOnce();
  return `cronjob-monitor-${uid.replaceAll('-', '').slice(0, 8)}`;

  async function askOnce(): Promise<string> {
    const limit = new AbortController();
    const answered = new AbortController();
    clock.sleep(nameWithinMs, answered.signal).then(
      () => limit.abort(new Error('the cluster did not say its UID in time')),
      () => {}, // It did.
    );
    const found = await cluster.clusterUid(limit.signal).catch(() => newId(clock.now()).split('-').reverse().join('-'));
    answered.abort(new Error('the cluster said its UID'));
    await store.fenced(epoch, (tx) => putClusterState(tx, 'clusterUid', found));
    return found;
  }
}
