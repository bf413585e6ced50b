import type { Ref } from '@cronjob-monitor/shared/contract';
import { ownerOf, type CronJobFacts, type Instant } from '@cronjob-monitor/shared/domain';
import { mayBeWatched, routeRulesOf, type Cluster, type StatusWriter } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger, ProblemList } from '@cronjob-monitor/shared/process';
import { FencedError, listKeptGroups, mostRunsAtOnce, type Store } from '@cronjob-monitor/shared/store';
import { createAddressRules } from '../channels/index.ts';
import type { Evaluation } from './evaluation.ts';
import { createEvidenceTaking, wantsFactsOfLogs } from '../evidence/index.ts';
import { createFleetFigures } from '../figures/fleet-figures.ts';
import { KeptDurations } from '../figures/kept-durations.ts';
import { Moves } from '../figures/moves.ts';
import type { SendGuard, StopWork, Term } from '../leadership/index.ts';
import type {
  ControllerName,
  DeliveryMetrics,
  FleetMetrics,
  OutboundHeartbeatMetrics,
  ProductMetrics,
  ReconcileMetrics,
  SlaMetrics,
  UpkeepMetrics,
  VerdictMetrics,
} from '../metrics/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import { reconcileChannel } from '../reconcilers/channel/index.ts';
import {
  createCronJobRecords,
  createMirror,
  createOutlooks,
  reconcileCronJobs,
  type Outlook,
  type SpecSightings,
} from '../reconcilers/cronjob/index.ts';
import { createJobRecords, reconcileJobs, type RecordedRun, type JobIntake } from '../reconcilers/job/index.ts';
import { recallDepartedMonitors } from './departed-monitors.ts';
import { createMonitorLint, createMonitorRecords, reconcileMonitor } from '../reconcilers/monitor/index.ts';
import { ReconcileLoop, type BlindSpans, type Circuit, type ComeBack, isDatabaseAway } from '../runtime/index.ts';
import {
  dependsOn,
  selectedInGap,
  type MonitorSeen,
  type Selection,
  type JobGroups,
  type SelectionStarts,
  type ClusterCaches,
  isExcluded,
} from '../selection/index.ts';
import { createSeriesUpkeep } from '../figures/series-upkeep.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import { createStatusWriting } from '../reconcilers/status-writing.ts';
import { sweepWhatWent } from './sweep.ts';
import { blindSecondsOf, createVerdictWork } from './verdict-work.ts';

export interface LeaderWorkDeps {
  readonly settings: ControllerSettings;
  readonly cluster: Cluster;
  readonly store: Store;
  readonly caches: ClusterCaches;
  readonly selection: Selection;
  readonly groups: JobGroups;
  readonly intake: JobIntake;
  readonly queues: Queues;
  readonly circuit: Circuit;
  readonly problems: ProblemList;
  /** Which installation this is: monitors carry it in their status. */
  readonly writtenBy: () => StatusWriter | undefined;
  readonly reconcileMetrics: ReconcileMetrics;
  readonly productMetrics: ProductMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** When all caches were filled, and up to when everything about CronJobs and Jobs is known. */
  readonly syncedAt: () => Instant;
  readonly freshThroughAt: () => Instant | undefined;
  readonly background: (name: string, work: Promise<void>) => void;
  readonly deliveryMetrics: DeliveryMetrics;
  readonly verdictMetrics: VerdictMetrics;
  readonly upkeepMetrics: UpkeepMetrics;
  readonly fleetMetrics: FleetMetrics;
  readonly slaMetrics: SlaMetrics;
  readonly heartbeatMetrics: OutboundHeartbeatMetrics;
  /** Since the last event or bookmark, by kind. */
  readonly watchAgesMs: () => Readonly<Record<string, number>>;
  /** Edits of CronJobs that were received and are not written down. */
  readonly sightings: SpecSightings;
  /** Since when monitors select what they did not select before, as far as it was seen. */
  readonly starts: SelectionStarts;
  /** Spans in which a watch broke so that events may be lost. */
  readonly blind: BlindSpans;
  /** Monotonic instant of the start of the process. */
  readonly startedMs: number;
  /** Keeps messages from being sent by a leader that may not be one any more; undefined: claims say who sends. */
  readonly guard: SendGuard | undefined;
}

/** Figures of a monitor's status may be this old. */
const monitorFiguresMs = 30_000;
/** A run that says something else of a job template than the one before shows in conditions so soon. */
const rolloutMs = 1_000;
/** What a leader had seen and not written when it ended is no older than this. */
const unwrittenMs = 60_000;
/** How many keys of one kind are worked on at once; transactions of one database file follow one another anyway. */
const workers = 4;

type BatchOf = (uids: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, ComeBack>>;

/** What a term does, as heartbeats tell it. */
export interface LeaderWork {
  readonly evaluatedAt: Evaluation['evaluatedAt'];
  readonly stop: StopWork;
}

/** All that writes: begins when this replica leads, ends before it gives the lead back. */
export async function startLeaderWork(deps: LeaderWorkDeps, term: Term): Promise<LeaderWork> {
  const { settings, store, caches, selection, queues, clock, productMetrics } = deps;
  const capturing = new AbortController();
  const evidence = createEvidenceTaking(
    {
      ...deps,
      workedUntilAt: () => verdicts.watchedUntilAt,
      onFacts: (cronJobUid) => onFacts([cronJobUid]),
    },
    { epoch: term.epoch, signal: AbortSignal.any([term.signal, capturing.signal]) },
  );
  const outlookOf = createOutlooks(settings.defaultZone);
  const durations = new KeptDurations(store);
  const moves = new Moves();
  const endMoves = store.onMoves(moves.take);
  const figures = createFleetFigures({
    store,
    epoch: term.epoch,
    selection,
    cronJobs: caches.cronJobs,
    mayBeWatched: (namespace) => mayBeWatched(namespace, settings.reach),
    rulesOf: routeRulesOf,
    findCronJob: (uid) => caches.cronJobs.find(uid),
    durations,
    fleet: deps.fleetMetrics,
    sla: deps.slaMetrics,
  });
  const series = createSeriesUpkeep({
    ...deps,
    cronJobs: caches.cronJobs,
    figures,
    moves,
    isAway(error) {
      if (isDatabaseAway(error)) deps.circuit.trip(error);
      return isDatabaseAway(error);
    },
  });
  // Before anything is compared with the cluster, which knows of no group without a Job.
  deps.groups.restore(await listKeptGroups(store));
  const { mirror: mirrored } = settings;
  const mirror =
    mirrored === 'off'
      ? undefined
      : createMirror({
          ...deps,
          untried: mirrored === 'healthy' ? 'Healthy' : 'Progressing',
          cronJobs: caches.cronJobs,
          isMonitored: (uid) => selection.isMonitored(uid),
          isAway(error) {
            if (isDatabaseAway(error)) deps.circuit.trip(error);
            return isDatabaseAway(error);
          },
        });
  const onAlertsMoved = (uids: Iterable<string>): void => mirror?.ask(uids);
  const verdicts = await createVerdictWork({ ...deps, evidence, figures, outlookOf, onAlertsMoved }, term);
  const { evaluation, watchedUntilAt } = verdicts;
  await recallDepartedMonitors({ store, selection, monitors: caches.monitors }, clock.now());
  const outlookInZone = (cronJob: CronJobFacts, now: Instant): Outlook => {
    const outlook = outlookOf(cronJob, now);
    const isMisread = outlook.problem === undefined && verdicts.isZoneMisread(cronJob);
    return isMisread ? { ...outlook, problem: 'zoneMismatch' } : outlook;
  };
  const jobRecords = createJobRecords({ store, epoch: term.epoch, redaction: verdicts.redaction }, evaluation);
  const cronJobRecords = createCronJobRecords(store, term.epoch);
  const monitorRecords = createMonitorRecords(
    { store, epoch: term.epoch, durations, moves },
    {
      earlierGoneAt: ({ namespace, name }) =>
        selection.departedAt((gone) => gone.namespace === namespace && gone.name === name),
      goneAt: (uid) => selection.departedAt((gone) => gone.uid === uid),
      seen: (monitor, cronJob) => deps.starts.sinceOf(monitor.uid, cronJob.uid),
      unseen: (monitor, cronJob) =>
        selectedInGap(
          monitor,
          cronJob,
          caches.namespaces.findByName('', cronJob.namespace),
          // Over an empty database all that ever was is a gap.
          (watchedUntilAt ?? -Infinity) - unwrittenMs,
        ),
    },
  );
  const statuses = createStatusWriting(deps);
  deps.problems.add(() => statuses.problems());
  if (mirror) {
    deps.problems.add(() => mirror.problems());
    deps.background(
      'mirror',
      evaluation.judged.then(() => mirror.run(term.signal)),
    );
  }
  const addresses = createAddressRules(settings.channels);
  const lint = createMonitorLint({
    store,
    defaultZone: settings.defaultZone,
    isDefaultZoneGiven: settings.isDefaultZoneGiven,
    selection,
    startSkewP99Ms: verdicts.startSkewP99Ms,
    parentProblemOf,
    nextRunAtOf: (cronJob, now) => outlookOf(cronJob, now).nextRunAt,
  });

  const queueJobsOf = (cronJobUids: readonly string[]): void => {
    for (const cronJobUid of cronJobUids)
      for (const job of caches.jobs.listBy('cronJob', cronJobUid)) queues.JobHandler.add(job.uid);
  };
  const onFacts = (cronJobUids: readonly string[]): void => verdicts.evaluation.ask(cronJobUids, ['output']);
  /** How the last run that was recorded of each CronJob ended, and of which job template it was. */
  const lastEnds = new Map<string, string>();
  const onRecorded = (runs: readonly RecordedRun[]): void => {
    const now = clock.now();
    for (const { execution, isHistory } of runs) {
      const { finishedAt, cronJobUid } = execution;
      const end = `${execution.status} ${execution.templateHash}`;
      const showsAfterMs = lastEnds.get(cronJobUid) === end ? monitorFiguresMs : rolloutMs;
      lastEnds.set(cronJobUid, end);
      evaluation.recorded(cronJobUid);
      mirror?.ask([cronJobUid]);
      productMetrics.recorded(execution, { isHistory, lagSeconds: finishedAt && (now - finishedAt) / 1000 });
      for (const { uid } of selection.monitorsOfUid(cronJobUid)) queues.CronJobMonitor.addAt(uid, now + showsAfterMs);
    }
  };

  const jobs: BatchOf = (uids) =>
    reconcileJobs(uids, {
      sources: {
        jobs: caches.jobs,
        snapshots: deps.intake.snapshots,
        pods: deps.intake.pods,
        refusalOf: verdicts.refusalOf,
        findCronJob: (uid) => selection.findCronJob(uid),
        isMonitored: (uid) => selection.isMonitored(uid),
        takesJob: (job) => selection.takesJob(job),
      },
      records: jobRecords,
      clock,
      watchingSinceAt: deps.syncedAt(),
      inMaintenance: (cronJobUid, at) => isExcluded(selection, cronJobUid, at),
      factsFromLogs: (cronJobUid) => wantsFactsOfLogs(selection.monitorsOfUid(cronJobUid)),
      expectEvidence: (execution) => evidence.expect(execution),
      captureEvidence: (gathered, conclusion, row) =>
        evidence.take(gathered, conclusion.kind === 'ended' ? conclusion.execution : undefined, row),
      release: ({ snapshot, held }) => {
        const { uid } = snapshot.job;
        if (held) deps.intake.snapshots.forget(uid, held);
        if (!caches.jobs.find(uid)) {
          deps.intake.pods.forget(uid);
          evidence.forget(uid);
        }
      },
      onFacts,
      onRecorded,
      onUndecided: (cronJobUid, jobUid, isUndecided) => deps.intake.markUndecided(cronJobUid, jobUid, isUndecided),
    });

  const cronJobs: BatchOf = async (uids) => {
    // Coverage counts those that no monitor selects, too.
    if (!uids.every((uid) => selection.isMonitored(uid))) series.tidySoon();
    const comeBack = await reconcileCronJobs(uids, {
      cronJobs: caches.cronJobs,
      isMonitored: (uid) => selection.isMonitored(uid),
      findDeparted: (uid) => selection.findCronJob(uid),
      records: cronJobRecords,
      clock,
      outlookOf: outlookInZone,
      dependsOn: (cronJob) => dependsOn(cronJob, selection),
      saidOf: (cronJob) => {
        const own = selection.ownOf(cronJob);
        return { ofNamespace: own.ofNamespace, owner: ownerOf(own, settings.ownerLabel) };
      },
      watchedUntilAt,
      sightings: deps.sightings,
      onFirstProjected: (first) => {
        for (const uid of first) {
          const cronJob = caches.cronJobs.find(uid);
          if (cronJob) productMetrics.watched(cronJob);
        }
        queueJobsOf(first);
        evaluation.ask(first);
      },
      onRespecified: (uids) => evaluation.ask(uids),
    });
    mirror?.ask(uids);
    return comeBack;
  };

  const monitor = (uid: string, signal: AbortSignal): Promise<ComeBack> =>
    reconcileMonitor(
      uid,
      {
        sources: {
          monitors: caches.monitors,
          channels: caches.channels,
          selection,
          scheduleProblemOf: (cronJob, now) => outlookInZone(cronJob, now).problem,
          expectationsOf: (monitorUid) => evaluation.expectationsOf(monitorUid),
          refusedGroupsOf: (monitorUid) => deps.groups.refusedOf(monitorUid),
        },
        records: monitorRecords,
        lint,
        cluster: statuses,
        isStatusRefused: (key) => statuses.isMonitorRefused(key),
        writtenBy: deps.writtenBy,
        clock,
        onTargetsAdded: (added) => {
          for (const cronJobUid of added) queues.CronJobHandler.add(cronJobUid);
          queueJobsOf(added);
        },
        onJudgedOtherwise(uids) {
          evaluation.ask(uids);
          // What they wait for, too, is what their monitors say.
          for (const cronJobUid of uids) queues.CronJobHandler.add(cronJobUid);
          for (const cronJobUid of uids) evaluation.recorded(cronJobUid);
          series.tidySoon();
        },
      },
      signal,
    );
  const channel = (uid: string, signal: AbortSignal): Promise<ComeBack> =>
    reconcileChannel(
      uid,
      {
        channels: caches.channels,
        store,
        epoch: term.epoch,
        cluster: { ...statuses, findSecret: (...asked) => deps.cluster.findSecret(...asked) },
        rules: settings.secrets,
        takesPages: (endpoint) => addresses.takesPages(endpoint),
        clock,
        links: { clusterName: settings.clusterName, externalUrl: settings.externalUrl },
      },
      signal,
    );

  // Runs first: messages wait for what they say.
  const loops = [start('JobHandler', caches.jobs, workers, one(jobs), jobs)];
  for (const uid of deps.intake.snapshots.uids()) queues.JobHandler.add(uid);
  if (verdicts.isSuccession) deps.background('what was written before', evaluation.judged.then(beginTheRest));
  else beginTheRest();
  verdicts.start();
  deps.background('series', series.run(AbortSignal.any([term.signal, capturing.signal])));

  return {
    evaluatedAt: evaluation.evaluatedAt,
    async stop() {
      // What is not captured by now delays no end: the next leader takes it, as far as it is there.
      capturing.abort(new Error('the process stops'));
      // What comes from now on is not taken in here.
      const watchedThroughAt = store.now() - 1_000 * blindSecondsOf(deps.freshThroughAt(), clock.now());
      const drained = await Promise.all(loops.map((loop) => loop.stop()).concat(verdicts.stop().then(() => true)));
      if (drained.every(Boolean)) await handOver(watchedThroughAt);
      endMoves();
      figures.stopped();
    },
  };

  function parentProblemOf(monitor: MonitorSeen, { namespace, name }: Ref): string | undefined {
    if (!selection.reachOf(monitor).namespaces.has(namespace)) return 'the monitor may not look into its namespace';
    const parent = caches.cronJobs.findByName(namespace, name);
    if (!parent) return 'no CronJob has this name';
    return selection.isMonitored(parent.uid) ? undefined : 'no monitor selects it, so nothing is known of it';
  }

  /** What a leader wrote until a moment ago can wait. */
  function beginTheRest(): void {
    if (capturing.signal.aborted || term.signal.aborted) return;
    loops.push(
      start('CronJobMonitor', caches.monitors, 2, monitor),
      start('CronJobHandler', caches.cronJobs, workers, one(cronJobs), cronJobs),
      start('AlertChannel', caches.channels, 2, channel),
    );
    deps.background('sweep', sweepUntilDone());
  }

  /** Without it the next leader believes the last heartbeat. */
  async function handOver(watchedThroughAt: Instant): Promise<void> {
    try {
      await verdicts.handOver(watchedThroughAt);
    } catch (error) {
      if (!(error instanceof FencedError || isDatabaseAway(error)))
        deps.logger.warn('the next leader is not told until when all was seen', { error });
    }
  }

  /** The database may go away under it as under anything else: it is repeated until it went through. */
  async function sweepUntilDone(): Promise<void> {
    while (!term.signal.aborted) {
      try {
        const runs = await sweepWhatWent(deps, term.epoch);
        onRecorded(runs.map((execution) => ({ execution, isHistory: false })));
        return;
      } catch (error) {
        if (error instanceof FencedError) return term.lose('another process took the epoch');
        if (isDatabaseAway(error)) deps.circuit.trip(error);
        else deps.logger.warn('what went while nobody watched could not be found yet', { error });
        await deps.circuit.whenClosed(term.signal);
        await clock.sleep(1_000, term.signal).catch(() => {});
      }
    }
  }

  function start(
    name: ControllerName,
    cache: {
      values(): IteratorObject<{ readonly uid: string }>;
      find(uid: string): { readonly namespace: string; readonly name: string } | undefined;
    },
    count: number,
    reconcile: (uid: string, signal: AbortSignal) => Promise<ComeBack>,
    batch?: BatchOf,
  ): ReconcileLoop<string> {
    const loop = new ReconcileLoop<string>({
      queue: queues[name],
      circuit: deps.circuit,
      clock,
      logger: deps.logger.child({ controller: name }),
      metrics: deps.reconcileMetrics.of(name),
      workers: count,
      reconcile,
      nameOf(uid) {
        const found = cache.find(uid);
        return found && (found.namespace === '' ? found.name : `${found.namespace}/${found.name}`);
      },
      ...(batch && { batch: { max: mostRunsAtOnce, reconcile: batch } }),
      isDatabaseAway,
      isFenced: (error) => error instanceof FencedError,
      onFenced: () => term.lose('another process took the epoch'),
    });
    loop.start(
      cache.values().map(({ uid }) => uid),
      term.signal,
    );
    return loop;
  }
}

/** A batch of one: the same story, told of a single key. */
function one(batch: BatchOf): (uid: string, signal: AbortSignal) => Promise<ComeBack> {
  return async (uid, signal) => (await batch([uid], signal)).get(uid);
}
