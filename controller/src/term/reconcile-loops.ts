import type { Ref } from '@cronjob-monitor/shared/contract';
import { isMadeAnew, ownerOf, type CronJobFacts, type Instant, refText } from '@cronjob-monitor/shared/domain';
import { FencedError, mostRunsAtOnce } from '@cronjob-monitor/shared/store';
import { createAddressRules } from '../channels/index.ts';
import { wantsFactsOfLogs, type EvidenceTaking } from '../evidence/index.ts';
import type { CronJobSeries } from '../figures/cron-job-series.ts';
import type { Moves } from '../figures/moves.ts';
import type { Term } from '../leadership/index.ts';
import type { ControllerName } from '../metrics/index.ts';
import { reconcileChannel } from '../reconcilers/channel/index.ts';
import {
  createCronJobRecords,
  reconcileCronJobs,
  type createAnnotationEvents,
  type createOutlooks,
  type Mirror,
  type Outlook,
} from '../reconcilers/cronjob/index.ts';
import { createJobRecords, reconcileJobs, type RecordedRun } from '../reconcilers/job/index.ts';
import { createMonitorLint, createMonitorRecords, reconcileMonitor } from '../reconcilers/monitor/index.ts';
import { createStatusWriting } from '../reconcilers/status-writing.ts';
import { ReconcileLoop, type ComeBack, isDatabaseAway } from '../runtime/index.ts';
import {
  dependsOn,
  isExcluded,
  isSelectorUnderstood,
  selectedInGap,
  type DepartedCronJob,
  type MonitorSeen,
} from '../selection/index.ts';
import type { LeaderWorkDeps } from './deps.ts';
import type { VerdictWork } from './verdict-work.ts';

/** Figures of a monitor's status may be this old. */
const monitorFiguresMs = 30_000;
/** Conditions tell this soon that a run judged a job template otherwise than the one before. */
const rolloutMs = 1_000;
/** Events that a leader had seen and not written when it ended are at most this old. */
const unwrittenMs = 60_000;
/** A CronJob whose deletion is written this late may have been wrong in between. */
const lateMs = 1_000;
/** So far the watch of Jobs may be behind that of CronJobs. */
const behindMs = 45_000;
/** How many keys of one kind are worked on at once; transactions of one database file follow one another anyway. */
const workers = 4;

type BatchOf = (uids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, ComeBack>>;

/** The other parts of a term. */
interface TermParts {
  readonly evidence: EvidenceTaking;
  readonly verdicts: VerdictWork;
  readonly outlookOf: ReturnType<typeof createOutlooks>;
  readonly moves: Moves;
  readonly series: CronJobSeries;
  /** Undefined: nothing is mirrored. */
  readonly mirror: Mirror | undefined;
  /** Undefined: no Event is written. */
  readonly annotationEvents: ReturnType<typeof createAnnotationEvents> | undefined;
}

/** The loops that write down what the cluster says, one for each kind of object. */
export class ReconcileLoops {
  readonly #deps: LeaderWorkDeps;
  readonly #term: Term;
  readonly #parts: TermParts;
  readonly #loops: ReconcileLoop<string>[] = [];
  readonly #statuses: ReturnType<typeof createStatusWriting>;
  readonly #jobRecords: ReturnType<typeof createJobRecords>;
  readonly #cronJobRecords: ReturnType<typeof createCronJobRecords>;
  readonly #monitorRecords: ReturnType<typeof createMonitorRecords>;
  readonly #lint: ReturnType<typeof createMonitorLint>;
  readonly #addresses: ReturnType<typeof createAddressRules>;
  /** How the last run that was recorded of each CronJob ended, and of which job template it was. */
  readonly #lastEnds = new Map<string, string>();

  constructor(deps: LeaderWorkDeps, term: Term, parts: TermParts) {
    this.#deps = deps;
    this.#term = term;
    this.#parts = parts;
    const { store, settings } = deps;
    const { redaction, evaluation } = parts.verdicts;
    this.#jobRecords = createJobRecords({ store, epoch: term.epoch, redaction }, evaluation);
    this.#cronJobRecords = createCronJobRecords(store, term.epoch);
    this.#monitorRecords = this.#createMonitorRecords();
    this.#statuses = createStatusWriting(deps);
    this.#addresses = createAddressRules(settings.channels);
    this.#lint = createMonitorLint({
      store,
      epoch: term.epoch,
      defaultZone: settings.defaultZone,
      isDefaultZoneGiven: settings.isDefaultZoneGiven,
      selection: deps.selection,
      startSkewP99Ms: (now) => parts.verdicts.startSkewP99Ms(now),
      parentProblemOf: (monitor, parent) => this.#parentProblemOf(monitor, parent),
      nextRunAtOf: (cronJob, now) => parts.outlookOf(cronJob, now).nextRunAt,
    });
    deps.problems.add(() => this.#statuses.problems());
  }

  /** Starts the recording of runs first, since messages wait for them. */
  startRuns(): void {
    const { caches, intake, queues } = this.#deps;
    const jobs: BatchOf = (uids) => this.#reconcileJobs(uids);
    this.#start('JobHandler', caches.jobs, { count: workers, reconcile: one(jobs), batch: jobs });
    for (const uid of intake.snapshots.uids()) queues.JobHandler.add(uid);
  }

  /** Starts the other loops: a leader wrote their rows until a moment ago. */
  startTheRest(): void {
    const { caches } = this.#deps;
    const cronJobs: BatchOf = (uids) => this.#reconcileCronJobs(uids);
    this.#start('CronJobMonitor', caches.monitors, {
      count: 2,
      reconcile: (uid, signal) => this.#reconcileMonitor(uid, signal),
    });
    this.#start('CronJobHandler', caches.cronJobs, { count: workers, reconcile: one(cronJobs), batch: cronJobs });
    this.#start('AlertChannel', caches.channels, {
      count: 2,
      reconcile: (uid, signal) => this.#reconcileChannel(uid, signal),
    });
  }

  /** Resolves with true when everything that was begun is done. */
  async stop(): Promise<boolean> {
    const drained = await Promise.all(this.#loops.map((loop) => loop.stop()));
    return drained.every(Boolean);
  }

  /** Tells rates, figures and conditions that these runs have their rows. */
  recorded(runs: readonly RecordedRun[]): void {
    const { clock, productMetrics, selection, queues } = this.#deps;
    const now = clock.now();
    for (const { execution, isHistory } of runs) {
      const { finishedAt, cronJobUid } = execution;
      const end = `${execution.status} ${execution.templateHash}`;
      const showsAfterMs = this.#lastEnds.get(cronJobUid) === end ? monitorFiguresMs : rolloutMs;
      this.#lastEnds.set(cronJobUid, end);
      this.#parts.verdicts.evaluation.recorded(cronJobUid);
      this.#parts.mirror?.ask([cronJobUid]);
      productMetrics.recorded(execution, { isHistory, lagSeconds: finishedAt && (now - finishedAt) / 1000 });
      for (const { uid } of selection.monitorsOfUid(cronJobUid)) queues.CronJobMonitor.addAt(uid, now + showsAfterMs);
      // It may have to be judged as it was when it was deleted.
      if (selection.departuresOf(cronJobUid).length > 0) queues.CronJobHandler.add(cronJobUid);
    }
  }

  #reconcileJobs(uids: readonly string[]): ReturnType<BatchOf> {
    const { caches, selection, intake, clock } = this.#deps;
    const { evidence, verdicts } = this.#parts;
    return reconcileJobs(uids, {
      sources: {
        jobs: caches.jobs,
        snapshots: intake.snapshots,
        untold: intake.untold,
        pods: intake.pods,
        refusalOf: (jobUid) => verdicts.refusalOf(jobUid),
        findCronJob: (uid) => selection.findCronJob(uid),
        isMonitored: (uid) => selection.isMonitored(uid),
        takesJob: (job) => selection.takesJob(job),
      },
      records: this.#jobRecords,
      clock,
      watchingSinceAt: this.#deps.syncedAt(),
      inMaintenance: (cronJobUid, at) => isExcluded(selection, cronJobUid, at),
      factsFromLogs: (cronJobUid) => wantsFactsOfLogs(selection.monitorsOfUid(cronJobUid)),
      expectEvidence: (execution) => evidence.expect(execution),
      captureEvidence: (gathered, conclusion, row) =>
        evidence.take(gathered, conclusion.kind === 'ended' ? conclusion.execution : undefined, row),
      release: ({ snapshot, held }, isUntold) => {
        const { uid, cronJobUid, outcome } = snapshot.job;
        const isDeparted = ({ cronJob }: { cronJob: CronJobFacts }): boolean => cronJob.uid === cronJobUid;
        if (snapshot.gone && !outcome)
          for (const { goneJobs } of [
            ...selection.leavesOf(cronJobUid),
            ...selection.departuresOf(cronJobUid).filter(isDeparted),
          ])
            goneJobs.push(snapshot);
        if (held) intake.snapshots.forget(uid, held);
        if (caches.jobs.find(uid)) return undefined;
        const untilAt = isUntold ? intake.untold.keep(snapshot) : undefined;
        if (untilAt === undefined) {
          intake.untold.forget(uid);
          intake.pods.forget(uid);
          evidence.forget(uid);
        }
        return untilAt;
      },
      onFacts: (cronJobUids) => verdicts.evaluation.ask(cronJobUids, ['output']),
      onCompleted: (cronJobUids) => verdicts.evaluation.ask(cronJobUids, ['jobFailed']),
      onRecorded: (runs) => this.recorded(runs),
      onUndecided: (cronJobUid, jobUid, isUndecided) => intake.markUndecided(cronJobUid, jobUid, isUndecided),
    });
  }

  async #reconcileCronJobs(uids: readonly string[]): ReturnType<BatchOf> {
    const { caches, selection, settings, clock, productMetrics, sightings, words } = this.#deps;
    const { verdicts, series, mirror, annotationEvents } = this.#parts;
    const { evaluation, watchedUntilAt } = verdicts;
    // Coverage counts those that no monitor selects, too.
    const left = uids.filter((uid) => !selection.isMonitored(uid) || !caches.cronJobs.find(uid));
    if (left.length > 0) series.ask(left);
    const comeBack = await reconcileCronJobs(uids, {
      cronJobs: caches.cronJobs,
      isMonitored: (uid) => selection.isMonitored(uid),
      departuresOf: (uid) => selection.departuresOf(uid),
      leavesOf: (uid) => selection.nextLeavesOf(uid),
      judgeDeparted: (departures) => this.#judgeDeparted(departures),
      records: this.#cronJobRecords,
      clock,
      outlookOf: (cronJob, now) => this.#outlookInZone(cronJob, now),
      dependsOn: (cronJob) => {
        const parents = dependsOn(cronJob, selection);
        verdicts.declareParents(parents);
        return parents;
      },
      isIgnored: (cronJob) => selection.isIgnored(cronJob),
      saidOf: (cronJob) => {
        const own = selection.ownOf(cronJob);
        return { ofNamespace: own.ofNamespace, owner: ownerOf(own, settings.ownerLabel) };
      },
      watchedUntilAt,
      sightings,
      words,
      onFirstProjected: (first) => {
        for (const uid of first) {
          const cronJob = caches.cronJobs.find(uid);
          if (cronJob) productMetrics.watched(cronJob);
        }
        this.#queueJobsOf(first);
        evaluation.ask(first);
      },
      onRespecified: (respecified) => evaluation.ask(respecified),
    });
    mirror?.ask(uids);
    annotationEvents?.ask(uids);
    return comeBack;
  }

  /** Judges those whose runs are all recorded, and that all their monitors have written. Returns the others. */
  async #judgeDeparted(departures: readonly DepartedCronJob[]): Promise<readonly DepartedCronJob[]> {
    const { caches, clock, intake, queues } = this.#deps;
    const { evaluation } = this.#parts.verdicts;
    /** Whether a monitor that was made anew under the name goes on with the CronJob. */
    const isReplaced = ({ uid, namespace, name }: MonitorSeen): boolean =>
      (caches.monitors.findByName(namespace, name)?.uid ?? uid) !== uid;
    const goesOn = ({ monitor }: DepartedCronJob): boolean => monitor !== undefined && isReplaced(monitor);
    // The watch of Jobs may be behind: of one that seems to go on it may be on its way that it had ended. Alerts of a monitor that was deleted
    // are held at once.
    const mayHaveEnded = ({ monitor, cronJob: { uid }, at }: DepartedCronJob): boolean =>
      monitor !== undefined &&
      caches.monitors.find(monitor.uid) !== undefined &&
      clock.now() - at < behindMs &&
      caches.jobs.listBy('cronJob', uid).some(({ outcome, createdAt }) => outcome === undefined && createdAt <= at);
    const isHeld = (one: DepartedCronJob): boolean => {
      const { cronJob, judges, isWritten, heardMs = -Infinity } = one;
      const { uid } = cronJob;
      // A monitor that has not written it as its target does so with its next pass.
      const behind = [...judges.keys()].filter(
        (judge) => !isWritten && !isReplaced(judge) && !this.#monitorRecords.hasTarget(judge.uid, uid),
      );
      for (const judge of behind) queues.CronJobMonitor.add(judge.uid);
      return (
        behind.length > 0 ||
        mayHaveEnded(one) ||
        intake.snapshots.listEndedOf(uid).length > 0 ||
        queues.JobHandler.isBusyWith(heardMs)
      );
    };
    const { held = [], ready = [] } = Object.groupBy(departures, (one) => (isHeld(one) ? 'held' : 'ready'));
    const owed = ready.filter(
      (one) => !goesOn(one) && (one.lastEndedAt > -Infinity || clock.now() - one.thereUntilAt >= lateMs),
    );
    if (owed.length > 0) await evaluation.judgeDeparted(owed);
    for (const one of ready) {
      one.isJudged = true;
      for (const { uid } of one.judges.keys()) queues.CronJobMonitor.add(uid);
    }
    return held;
  }

  #reconcileMonitor(uid: string, signal: AbortSignal): Promise<ComeBack> {
    const { caches, selection, groups, queues, clock, writtenBy } = this.#deps;
    const { evaluation } = this.#parts.verdicts;
    const deps: Parameters<typeof reconcileMonitor>[1] = {
      sources: {
        monitors: caches.monitors,
        channels: caches.channels,
        selection,
        scheduleProblemOf: (cronJob, now) => this.#outlookInZone(cronJob, now).problem,
        expectationsOf: (monitorUid) => evaluation.expectationsOf(monitorUid),
        refusedGroupsOf: (monitorUid) => groups.refusedOf(monitorUid),
      },
      records: this.#monitorRecords,
      lint: this.#lint,
      cluster: this.#statuses,
      isStatusRefused: (key) => this.#statuses.isMonitorRefused(key),
      writtenBy,
      clock,
      onTargetsAdded: (added) => {
        for (const cronJobUid of added) queues.CronJobHandler.add(cronJobUid);
        this.#queueJobsOf(added);
      },
      onJudgedOtherwise: (uids) => {
        evaluation.ask(uids);
        // Monitors also say which CronJobs these wait for.
        for (const cronJobUid of uids) queues.CronJobHandler.add(cronJobUid);
        for (const cronJobUid of uids) evaluation.recorded(cronJobUid);
        this.#parts.series.ask(uids);
      },
    };
    return reconcileMonitor(uid, deps, signal);
  }

  #reconcileChannel(uid: string, signal: AbortSignal): Promise<ComeBack> {
    const { caches, store, cluster, settings, clock } = this.#deps;
    const deps: Parameters<typeof reconcileChannel>[1] = {
      channels: caches.channels,
      store,
      epoch: this.#term.epoch,
      cluster: { ...this.#statuses, findSecret: (...asked) => cluster.findSecret(...asked) },
      rules: settings.secrets,
      takesPages: (endpoint) => this.#addresses.takesPages(endpoint),
      clock,
      links: { clusterName: settings.clusterName, externalUrl: settings.externalUrl },
    };
    return reconcileChannel(uid, deps, signal);
  }

  /** Makes the records of monitors, which know since when a monitor selects a CronJob: by what was seen, and by the gaps. */
  #createMonitorRecords(): ReturnType<typeof createMonitorRecords> {
    const { store, caches, selection, starts, queues } = this.#deps;
    const { moves, verdicts } = this.#parts;
    return createMonitorRecords(
      { store, epoch: this.#term.epoch, moves },
      {
        earlierGoneAt: ({ namespace, name }) =>
          selection.departedAt((gone) => gone.namespace === namespace && gone.name === name),
        goneAt: (uid) => selection.departedAt((gone) => gone.uid === uid),
        isBack: (uid) =>
          [...caches.monitors.values()].some(({ namespace, name, createdAt }) => {
            const goneAt = selection.departedAt(
              (gone) => gone.uid === uid && gone.namespace === namespace && gone.name === name,
            );
            return goneAt !== undefined && isMadeAnew(createdAt, goneAt);
          }),
        lookedUntilAt: () => verdicts.watchedUntilAt,
        leftBy: (monitorUid) => selection.leftBy(monitorUid),
        forgetLeaves: (leaves) => {
          selection.forgetLeaves(leaves);
          for (const { cronJob } of leaves)
            if (selection.nextLeavesOf(cronJob.uid).length > 0) queues.CronJobHandler.add(cronJob.uid);
        },
        leftUnseen: (monitor, uids) => this.#leftInGap(monitor, uids),
        seen: (monitor, cronJob) => starts.sinceOf(monitor.uid, cronJob.uid),
        unseen: (monitor, cronJob) => this.#movedInGap(monitor, cronJob),
      },
    );
  }

  #movedInGap(monitor: MonitorSeen, cronJob: CronJobFacts): Instant | undefined {
    const namespace = this.#deps.caches.namespaces.findByName('', cronJob.namespace);
    // Over an empty database all the time before is a gap.
    return selectedInGap(monitor, cronJob, namespace, (this.#parts.verdicts.watchedUntilAt ?? -Infinity) - unwrittenMs);
  }

  /** Remembers CronJobs that left a monitor while no leader looked. */
  #leftInGap(monitor: MonitorSeen, uids: readonly string[]): void {
    const { caches, clock, queues, selection } = this.#deps;
    for (const uid of isSelectorUnderstood(monitor) ? uids : []) {
      const cronJob = caches.cronJobs.find(uid);
      const at = cronJob && this.#movedInGap(monitor, cronJob);
      if (cronJob === undefined || at === undefined) continue;
      const { lastSuccessAt = Infinity } = cronJob;
      const then = lastSuccessAt <= at ? cronJob : { ...cronJob, lastSuccessAt: undefined };
      this.#queueJobsOf([uid]);
      selection.left({ monitor, cronJob: then, at, selectedSinceAt: undefined, heardMs: clock.monotonicMs() });
      queues.CronJobHandler.add(uid);
    }
  }

  #outlookInZone(cronJob: CronJobFacts, now: Instant): Outlook {
    const outlook = this.#parts.outlookOf(cronJob, now);
    const isMisread = outlook.problem === undefined && this.#parts.verdicts.isZoneMisread(cronJob);
    return isMisread ? { ...outlook, problem: 'zoneMismatch' } : outlook;
  }

  #queueJobsOf(cronJobUids: readonly string[]): void {
    const { caches, queues } = this.#deps;
    for (const cronJobUid of cronJobUids)
      for (const job of caches.jobs.listBy('cronJob', cronJobUid)) queues.JobHandler.add(job.uid);
  }

  #parentProblemOf(monitor: MonitorSeen, { namespace, name }: Ref): string | undefined {
    const { caches, selection } = this.#deps;
    if (!selection.reachOf(monitor).namespaces.has(namespace)) return 'the monitor may not look into its namespace';
    const parent = caches.cronJobs.findByName(namespace, name);
    if (!parent) return 'no CronJob has this name';
    return selection.isMonitored(parent.uid) ? undefined : 'no monitor selects it, so nothing is known of it';
  }

  #start(
    name: ControllerName,
    cache: {
      values(): IteratorObject<{ readonly uid: string }>;
      find(uid: string): { readonly namespace: string; readonly name: string } | undefined;
    },
    work: {
      /** Keys that are worked on at once. */
      readonly count: number;
      readonly reconcile: (uid: string, signal: AbortSignal) => Promise<ComeBack>;
      readonly batch?: BatchOf;
    },
  ): void {
    const { queues, circuit, clock, logger, reconcileMetrics } = this.#deps;
    const loop = new ReconcileLoop<string>({
      queue: queues[name],
      circuit,
      clock,
      logger: logger.child({ controller: name }),
      metrics: reconcileMetrics.of(name),
      workers: work.count,
      reconcile: work.reconcile,
      nameOf(uid) {
        const found = cache.find(uid);
        return found && (found.namespace === '' ? found.name : refText(found));
      },
      ...(work.batch && { batch: { max: mostRunsAtOnce, reconcile: work.batch } }),
      isDatabaseAway,
      isFenced: (error) => error instanceof FencedError,
      onFenced: () => this.#term.fenced(),
    });
    loop.start(
      cache.values().map(({ uid }) => uid),
      this.#term.signal,
    );
    this.#loops.push(loop);
  }
}

/** Handles a single key as a batch of one. */
function one(batch: BatchOf): (uid: string, signal: AbortSignal) => Promise<ComeBack> {
  return async (uid, signal) => (await batch([uid], signal)).get(uid);
}
