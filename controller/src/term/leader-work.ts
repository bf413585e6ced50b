import { type Instant, madeAnewWithinMs, refText } from '@cronjob-monitor/shared/domain';
import { mayBeWatched, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { FencedError, listKeptGroups, type Store, listMonitorsSince } from '@cronjob-monitor/shared/store';
import type { Evaluation } from './evaluation.ts';
import { createEvidenceTaking } from '../evidence/index.ts';
import { createFleetFigures } from '../figures/fleet-figures.ts';
import { CronJobSeries } from '../figures/cron-job-series.ts';
import { Moves } from '../figures/moves.ts';
import type { StopWork, Term } from '../leadership/index.ts';
import { createAnnotationEvents, createMirror, createOutlooks, type Mirror } from '../reconcilers/cronjob/index.ts';
import { isDatabaseAway } from '../runtime/index.ts';
import type { Selection, MonitorSeen } from '../selection/index.ts';
import type { LeaderWorkDeps } from './deps.ts';
import { ReconcileLoops } from './reconcile-loops.ts';
import { sweepUntilDone } from './sweep.ts';
import { blindSecondsOf, createVerdictWork, type VerdictWork } from './verdict-work.ts';

/** What a term does, as heartbeats tell it. */
export interface LeaderWork {
  readonly evaluatedAt: Evaluation['evaluatedAt'];
  readonly stop: StopWork;
}

/** All that writes: begins when this replica leads, ends before it gives the lead back. */
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
  // Before anything is compared with the cluster, which knows of no group without a Job.
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
      // What is not captured by now delays no end: the next leader takes it, as far as it is there.
      capturing.abort(new Error('the process stops'));
      // What comes from now on is not taken in here.
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

/** Without it the next leader believes the last heartbeat. */
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
 * Monitors that went while another process led, or none: what they select is recorded for as long as they may be made anew,
 * across a restart as well. One whose deletion no leader saw may have gone a moment ago.
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
