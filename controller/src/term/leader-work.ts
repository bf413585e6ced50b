import { type Execution, type Instant, madeAnewWithinMs, refText } from '@cronjob-monitor/shared/domain';
import { mayBeWatched, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import {
  type ActiveJob,
  FencedError,
  listActiveJobs,
  listKeptGroups,
  listMonitorsSince,
  listPresentObjects,
  mostRunsAtOnce,
  recordRuns,
  type Store,
} from '@cronjob-monitor/shared/store';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { Evaluation } from './evaluation.ts';
import { createEvidenceTaking } from '../evidence/index.ts';
import { createFleetFigures } from '../figures/fleet-figures.ts';
import { CronJobSeries } from '../figures/cron-job-series.ts';
import { Moves } from '../figures/moves.ts';
import type { StopWork, Term } from '../leadership/index.ts';
import { createAnnotationEvents, createMirror, createOutlooks, type Mirror } from '../reconcilers/cronjob/index.ts';
import { type Circuit, isDatabaseAway } from '../runtime/index.ts';
import type { ClusterCaches, MonitorSeen, Selection } from '../selection/index.ts';
import type { LeaderWorkDeps } from './deps.ts';
import { ReconcileLoops } from './reconcile-loops.ts';
import { blindSecondsOf, createVerdictWork, type VerdictWork } from './verdict-work.ts';
import { toUnseenExecution } from '../evaluate/index.ts';
import type { Queues } from '../reconcilers/queues.ts';
import type { JobIntake } from '../reconcilers/job/index.ts';

/** The work of a term, as heartbeats tell it. */
export interface LeaderWork {
  readonly evaluatedAt: Evaluation['evaluatedAt'];
  readonly stop: StopWork;
}

/** Starts everything that writes. It begins when this replica leads and ends before it gives the lead back. */
export async function startLeaderWork(deps: LeaderWorkDeps, term: Term): Promise<LeaderWork> {
  const { settings, store, selection, background } = deps;
  const capturing = new AbortController();
  const capturingSignal = AbortSignal.any([term.signal, capturing.signal]);
  const evidence = createEvidenceTaking(
    {
      ...deps,
      workedUntilAt: () => verdicts.watchedUntilAt,
      whenJudged: () => (verdicts.isSuccession ? Promise.resolve() : verdicts.evaluation.judged),
      onFacts: (cronJobUid) => verdicts.evaluation.ask([cronJobUid], ['output']),
    },
    { epoch: term.epoch, signal: capturingSignal },
  );
  const outlookOf = createOutlooks(settings.defaultZone);
  const moves = new Moves();
  const endMoves = store.onMoves(moves.take);
  const figures = figuresOf(deps, term);
  const isAway = (error: unknown): boolean => {
    if (isDatabaseAway(error)) deps.circuit.trip(error);
    return isDatabaseAway(error);
  };
  const series = new CronJobSeries({ ...deps, cronJobs: deps.caches.cronJobs, figures, moves, isAway });
  // Before the catalog is compared with the cluster, which shows no group without a Job.
  deps.groups.restore(await listKeptGroups(store));
  const mirror = mirrorOf(deps, isAway);
  const onAlertsMoved = (uids: Iterable<string>): void => mirror?.ask(uids);
  const verdicts = await createVerdictWork({ ...deps, evidence, figures, outlookOf, onAlertsMoved, isAway }, term);
  await recallDepartedMonitors({ store, selection, monitors: deps.caches.monitors }, deps.clock.now());
  const annotationEvents = deps.settings.ownerEvents
    ? createAnnotationEvents({ ...deps, cronJobs: deps.caches.cronJobs })
    : undefined;
  const parts = { evidence, verdicts, outlookOf, moves, series, mirror, annotationEvents };
  const loops = new ReconcileLoops(deps, term, parts);
  const { judged } = verdicts.evaluation;
  if (mirror) {
    deps.problems.add(() => mirror.problems());
    background(
      'mirror',
      judged.then(() => mirror.run(term.signal)),
    );
  }

  annotationEvents?.begin(capturingSignal);
  loops.startRuns();
  const beginTheRest = (): void => {
    if (capturingSignal.aborted) return;
    loops.startTheRest();
    background(
      'sweep',
      sweepUntilDone(deps, term, (runs) => loops.recorded(runs.map((execution) => ({ execution, isHistory: false })))),
    );
  };
  if (verdicts.isSuccession) background('what was written before', judged.then(beginTheRest));
  else beginTheRest();
  verdicts.start();
  background('series', series.run(capturingSignal));

  return {
    evaluatedAt: () => verdicts.evaluation.evaluatedAt(),
    async stop() {
      // Evidence that is not captured by now does not delay the end: the next leader takes what is still there.
      capturing.abort(new Error('the process stops'));
      // Events from now on are the next leader's.
      const watchedThroughAt = store.now() - 1_000 * blindSecondsOf(deps.freshThroughAt(), deps.clock.now());
      const [isDrained] = await Promise.all([loops.stop(), verdicts.stop()]);
      if (isDrained) await handOver(deps, verdicts, watchedThroughAt);
      endMoves();
      figures.stopped();
    },
  };
}

function figuresOf(
  { settings, store, selection, caches, fleetMetrics, slaMetrics }: LeaderWorkDeps,
  { epoch }: Term,
): ReturnType<typeof createFleetFigures> {
  return createFleetFigures({
    store,
    epoch,
    selection,
    cronJobs: caches.cronJobs,
    mayBeWatched: (namespace) => mayBeWatched(namespace, settings.reach),
    findCronJob: (uid) => caches.cronJobs.find(uid),
    fleet: fleetMetrics,
    sla: slaMetrics,
  });
}

/** Undefined: `gitops.mirror` is off. */
function mirrorOf(deps: LeaderWorkDeps, isAway: (error: unknown) => boolean): Mirror | undefined {
  const { settings, caches, selection } = deps;
  if (settings.mirror === 'off') return undefined;
  return createMirror({
    ...deps,
    untried: settings.mirror === 'healthy' ? 'Healthy' : 'Progressing',
    cronJobs: caches.cronJobs,
    isMonitored: (uid) => selection.isMonitored(uid),
    isAway,
  });
}

/** Tells the next leader until when this one saw everything; without it that one believes the last heartbeat. */
async function handOver(
  { logger }: LeaderWorkDeps,
  verdicts: Pick<VerdictWork, 'handOver'>,
  watchedThroughAt: Instant,
): Promise<void> {
  try {
    await verdicts.handOver(watchedThroughAt);
  } catch (error) {
    if (!(error instanceof FencedError || isDatabaseAway(error)))
      logger.warn('the next leader is not told until when all was seen', { error });
  }
}

/**
 * Recalls monitors that were deleted while another process led, or none. The runs that they select are recorded for as long as the monitors may
 * be made anew, across a restart as well. A monitor whose deletion no leader saw may have been deleted a moment ago.
 */
async function recallDepartedMonitors(
  deps: {
    readonly store: Store;
    readonly selection: Pick<Selection, 'monitorDeparted' | 'departedAt'>;
    readonly monitors: { values(): Iterable<MonitorSeen> };
  },
  now: Instant,
): Promise<void> {
  const { store, selection } = deps;
  const present = new Set([...deps.monitors.values()].map(refText));
  const since = now - madeAnewWithinMs;
  for (const row of await listMonitorsSince(store, since)) {
    const goneAt = row.deletedAt ?? now;
    const isKnown = selection.departedAt((gone) => refText(gone) === refText(row)) !== undefined;
    if (isKnown || present.has(refText(row)) || goneAt < since) continue;
    // The row holds the spec as its reconciler decoded it, with all defaults; without a field it could not be decoded, and selected nothing.
    if (Object.keys(row.spec as object).length === 0) continue;
    const decoded = { ok: true, spec: row.spec as MonitorSpec, problems: [], notes: [] } as const;
    const { uid, namespace, name, generation, createdAt } = row;
    const seen = { uid, namespace, name, generation, createdAt, decoded };
    selection.monitorDeparted({ ...seen, resourceVersion: '', selectorWrites: [], status: undefined }, goneAt);
  }
}

interface SweepSources {
  readonly store: Store;
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs' | 'monitors' | 'channels'>;
  readonly intake: Pick<JobIntake, 'snapshots'>;
  readonly queues: Queues;
  readonly circuit: Circuit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Repeats the sweep until the database has taken it. */
async function sweepUntilDone(
  deps: SweepSources,
  term: Term,
  onRecorded: (runs: readonly Execution[]) => void,
): Promise<void> {
  while (!term.signal.aborted) {
    try {
      onRecorded(await sweepWhatWent(deps, term.epoch));
      return;
    } catch (error) {
      if (error instanceof FencedError) return term.fenced();
      if (isDatabaseAway(error)) deps.circuit.trip(error);
      else deps.logger.warn('what went while no process watched cannot be found yet', { error });
      await deps.circuit.whenClosed(term.signal);
      await deps.clock.sleep(1_000, term.signal).catch(() => {});
    }
  }
}

/**
 * Compares the catalog and the Jobs last seen running with a full list of the cluster. It queues objects that are gone, so that their rows say
 * so, and records runs whose Job is gone as not seen. Repeatable.
 */
export async function sweepWhatWent(
  deps: Pick<SweepSources, 'store' | 'caches' | 'intake' | 'queues'>,
  epoch: number,
): Promise<readonly Execution[]> {
  const { store, caches, queues } = deps;
  const present = await listPresentObjects(store);
  for (const { uid } of present.cronJobs) if (!caches.cronJobs.find(uid)) queues.CronJobHandler.add(uid);
  for (const uid of present.monitors) if (!caches.monitors.find(uid)) queues.CronJobMonitor.add(uid);
  for (const uid of present.channels) if (!caches.channels.find(uid)) queues.AlertChannel.add(uid);

  const names = new Map(present.cronJobs.map((cronJob) => [cronJob.uid, cronJob]));
  const running = await listActiveJobs(store);
  const lost = running
    .filter((job) => !caches.jobs.find(job.jobUid) && !deps.intake.snapshots.find(job.jobUid))
    .map((job) => toUnobserved(job, names.get(job.cronJobUid) ?? { namespace: '', name: '' }));
  const recorded: Execution[] = [];
  for (let from = 0; from < lost.length; from += mostRunsAtOnce) {
    const part = lost.slice(from, from + mostRunsAtOnce);
    const { inserted } = await recordRuns(store, epoch, part);
    recorded.push(...part.filter(({ jobUid }) => inserted.includes(jobUid)));
  }
  return recorded;
}

/** The record of a run that was last seen running and whose outcome was not seen. It is replaced when something tells how the run ended. */
function toUnobserved(job: ActiveJob, of: { readonly namespace: string; readonly name: string }): Execution {
  const { jobUid, cronJobUid: uid, jobName, trigger, scheduledAt, createdAt, startedAt, podName } = job;
  const unseen = toUnseenExecution({ ...of, uid }, { slotAt: createdAt, succeededAt: undefined }, false);
  return {
    ...unseen,
    jobUid,
    jobName,
    trigger,
    scheduledAt,
    createdAt,
    startedAt,
    attempts: podName === undefined ? 0 : 1,
  };
}
