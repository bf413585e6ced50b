import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  cronJobIdsOf,
  FencedError,
  listCronJobsToJudge,
  listLiveAlerts,
  markUnjudged,
  movePendingDue,
  type CountedRunOf,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { RaisedAlert, Digests } from '../alerting/index.ts';
import {
  allParts,
  AskedCronJobs,
  createRecheck,
  judgeRecorded,
  partsOf,
  schedulerOf,
  type EvaluateDeps,
  type JudgeDeps,
  type Part,
  type RunningSources,
  type SettleSlots,
  type AbsenceProof,
  createWatchers,
  createExpectations,
  type Expectations,
} from '../evaluate/index.ts';
import { createPasses } from './evaluation-passes.ts';
import type { Term } from '../leadership/index.ts';
import {
  createSlaRounds,
  dueForPresence,
  dueForRunning,
  dueOrOpen,
  runSchedulers,
  type Scheduler,
} from '../schedulers/index.ts';
import type { Selection, ClusterCaches } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';

export interface EvaluationDeps {
  readonly settings: Pick<ControllerSettings, 'defaultZone' | 'schedulers'>;
  readonly store: Store;
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs' | 'monitors' | 'namespaces'>;
  readonly selection: Selection;
  /** Of a group of Jobs: when the last of them ended; undefined while one goes on. */
  readonly groupEndedAt: (uid: string) => Instant | undefined;
  readonly podsOf: RunningSources['podsOf'];
  readonly refusalOf: RunningSources['refusalOf'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: Pick<Term, 'epoch' | 'signal' | 'lose'>;
  /** When all caches were filled, and until when a leader before this one watched. */
  readonly syncedAt: () => Instant;
  readonly watchedUntilAt: Instant | undefined;
  /** Another leader judged everything until a moment ago: what time, a run or an open alert asks about is judged first, and told. */
  readonly isSuccession: boolean;
  /** No leader ever judged anything in this database: what is found now is older than the watch. */
  readonly isFirstOfAll?: boolean;
  readonly freshThroughAt: () => Instant | undefined;
  readonly absence?: AbsenceProof | undefined;
  readonly freeze: JudgeDeps['freeze'];
  readonly knownOf: JudgeDeps['knownOf'];
  readonly settleSlots: SettleSlots;
  readonly digests: Digests;
  /** Resolves when what the start found is written: before, absence says nothing. */
  readonly whenCaughtUp: (signal: AbortSignal) => Promise<void>;
  readonly postponedBecause: () => string | undefined;
  readonly prune: (signal: AbortSignal) => Promise<void>;
  /** Days that are over get their figures for good. */
  readonly sealDays: () => Promise<void>;
  readonly onRaised: (raised: readonly RaisedAlert[]) => void;
  /** What a monitor expects is met otherwise than before. */
  readonly onExpectations?: ((monitorUid: string) => void) | undefined;
  readonly onSettled: EvaluateDeps['onSettled'];
  /** Success rates and durations of these CronJobs are shown anew. */
  readonly measureSla: (cronJobIds: readonly number[], now: Instant) => Promise<void>;
  readonly onRan: (name: SchedulerName, outcome: { readonly isOk: boolean; readonly durationMs: number }) => void;
  /** True: the database is away, and all wait for it. */
  readonly isAway: (error: unknown) => boolean;
}

/** Who asks whether something is wrong: when a run was recorded, when an event says so, and when time has passed. */
export interface Evaluation {
  /** In the transaction that recorded these runs; `committed` is told afterwards. */
  readonly judge: (tx: Tx, counted: readonly CountedRunOf[]) => Promise<RaisedAlert[]>;
  readonly committed: (raised: readonly RaisedAlert[]) => void;
  /** A run of the CronJob was recorded: its rate is asked again. */
  readonly recorded: (cronJobUid: string) => void;
  /** Something about these CronJobs has changed. */
  readonly ask: (cronJobUids: Iterable<string>, parts?: Iterable<Part>) => void;
  /** Which CronJobs that a monitor expects are not there; undefined: that was not asked yet. */
  readonly expectationsOf: Expectations['of'];
  /** Our wall clock was set by so much, milliseconds. */
  readonly stepped: (byMs: number) => void;
  /** End of the last evaluation of this term; undefined: before the first, nothing is told. */
  readonly evaluatedAt: () => Instant | undefined;
  /** Resolves after the first evaluation, or when the term ended before. */
  readonly judged: Promise<void>;
  /** Until the signal aborts: it must not outlive the term. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const recheckEveryMs = 1_000;
const askEveryMs = 250;
/** What no caller waits for is judged in pieces: others come between. */
const pieceOfRest = 200;

export function createEvaluation(deps: EvaluationDeps): Evaluation {
  const { store, caches, clock, term } = deps;
  const watchers = createWatchers({ ...deps, defaultZone: deps.settings.defaultZone });
  let signal = term.signal;
  const asked = new AskedCronJobs();
  const sla = createSlaRounds(store);
  let evaluatedAt: Instant | undefined;
  /** The first evaluation has begun; a successor goes on with that of the leader before it. */
  let hasBegun = deps.isSuccession;
  let steppedMs = 0;
  const first = Promise.withResolvers<void>();

  const judging: EvaluateDeps = {
    store,
    epoch: term.epoch,
    clock,
    sources: {
      findCronJob: (uid) => caches.cronJobs.find(uid),
      watchersOf: watchers.of,
      defaultZone: deps.settings.defaultZone,
      jobsOf: (uid) => caches.jobs.listBy('cronJob', uid).filter((job) => deps.selection.takesJob(job)),
      groupEndedAt: deps.groupEndedAt,
      podsOf: deps.podsOf,
      refusalOf: deps.refusalOf,
    },
    closing: {
      isRecreated: ({ row }) => (caches.cronJobs.findByName(row.namespace, row.name)?.uid ?? row.uid) !== row.uid,
      isUnreadable: ({ namespace, name }) => caches.monitors.findByName(namespace, name)?.decoded.ok === false,
    },
    freshThroughAt: deps.freshThroughAt,
    provenThroughAt: (uid) => deps.absence?.throughAt(uid),
    judgedThroughAt: (part) => judgedThrough.get(schedulerOf(part)) ?? deps.watchedUntilAt,
    isDelayed: (sinceAt) =>
      deps.watchedUntilAt !== undefined && sinceAt > deps.watchedUntilAt && sinceAt < deps.syncedAt(),
    knownOf: deps.knownOf,
    freeze: deps.freeze,
    settleSlots: deps.settleSlots,
    onSettled: deps.onSettled,
    onRaised: deps.onRaised,
  };
  const passes = createPasses(judging, deps.digests, () => signal);
  /** What of it had come due by then was asked in this term, after all that it had found was. */
  let isAllJudged = false;
  const judgedThrough = new Map<keyof typeof partsOf, Instant>();
  const expectations = createExpectations({
    ...deps,
    epoch: term.epoch,
    defaultZone: deps.settings.defaultZone,
    isDelayed: judging.isDelayed,
    onChanged: (uid) => deps.onExpectations?.(uid),
  });
  const recheck = createRecheck({ store, evaluate: passes.evaluate, judgeExpected: () => expectations.judge() });

  const schedulers: readonly Scheduler[] = [
    {
      name: 'dead-man-switch',
      intervalMs: deps.settings.schedulers.deadManSwitchMs,
      run: async () => {
        const { ids, slotsOnly } = await dueForPresence(store, clock.now());
        await deps.absence?.look();
        await evaluateDue('dead-man-switch', { ids, slotsOnly });
        await expectations.judge();
        await deps.digests.tick(store.now());
      },
    },
    {
      name: 'stuck-job-check',
      intervalMs: deps.settings.schedulers.stuckJobCheckMs,
      run: async () =>
        evaluateDue('stuck-job-check', {
          ids: await dueForRunning(
            store,
            clock.now(),
            watchers.stuckAt(clock.now(), judging.judgedThroughAt('stuck') ?? clock.now()),
          ),
        }),
    },
    {
      name: 'sla-recalculation',
      intervalMs: deps.settings.schedulers.slaRecalculationMs,
      run: async () => {
        await deps.sealDays();
        await sla.run(clock.now(), async (ids) => {
          await passes.evaluateFor('sla-recalculation', ids);
          await deps.measureSla(ids, clock.now());
        });
      },
    },
  ];
  /** A round takes up to a fifth of its interval: it runs beside the others, which must not wait for it. */
  const prune: Scheduler = { name: 'prune', intervalMs: deps.settings.schedulers.pruneMs, run: deps.prune };

  return {
    judge: judgeRuns,
    committed: (raised) => {
      if (raised.length > 0) deps.onRaised(raised);
    },
    recorded: sla.recorded,
    ask: (uids, parts) => asked.add(uids, parts),
    expectationsOf: (monitorUid) => expectations.of(monitorUid),
    stepped(byMs) {
      steppedMs += byMs;
    },
    evaluatedAt: () => evaluatedAt,
    judged: first.promise,
    async run(until) {
      signal = until;
      let rest: readonly number[] = [];
      await untilDone(async () => {
        rest = await judgeFirst();
      });
      first.resolve();
      clock.every(askEveryMs, guarded(answerAsked), signal);
      clock.every(
        recheckEveryMs,
        guarded(async () => {
          const isPostponed = deps.postponedBecause() !== undefined;
          await followSteps();
          if (!isPostponed) await recheck(store.now());
        }),
        signal,
      );
      const ticker = { clock, logger: deps.logger, onRan, onError: isExpected };
      await Promise.all([
        runSchedulers(schedulers, { ...ticker, postponedBecause: deps.postponedBecause }, signal),
        runSchedulers([prune], { ...ticker, postponedBecause: () => undefined }, signal),
        untilDone(async () => {
          for (; rest.length > 0 && !signal.aborted; rest = rest.slice(pieceOfRest))
            await passes.evaluate(rest.slice(0, pieceOfRest), allParts);
          isAllJudged = true;
        }),
      ]);
    },
  };

  /** All that may be told now. Returns what is left to judge: of a successor, those about which nothing is open and nothing due. */
  async function judgeFirst(): Promise<readonly number[]> {
    const begunMs = clock.monotonicMs();
    await deps.whenCaughtUp(signal);
    const caughtUpMs = clock.monotonicMs();
    hasBegun = true;
    asked.take(); // of all of them everything is asked
    const all = await listCronJobsToJudge(store);
    const { ids, slotsOnly } = deps.isSuccession
      ? await dueOrOpen(store, clock.now(), watchers.stuckAt(clock.now()))
      : { ids: all, slotsOnly: undefined };
    await (deps.isFirstOfAll === true
      ? passes.evaluateFirst(ids, allParts)
      : passes.evaluate(ids, allParts, slotsOnly));
    evaluatedAt = clock.now();
    deps.logger.info('what this start found is judged, messages go out', {
      cronJobs: all.length,
      judged: ids.length,
      writtenAfterMs: Math.round(caughtUpMs - begunMs),
      judgedAfterMs: Math.round(clock.monotonicMs() - begunMs),
    });
    const judged = new Set(ids.filter((id) => !slotsOnly?.has(id)));
    return all.filter((id) => !judged.has(id));
  }

  function onRan(name: SchedulerName, outcome: { readonly isOk: boolean; readonly durationMs: number }): void {
    if (outcome.isOk && name !== 'prune') evaluatedAt = clock.now();
    deps.onRan(name, outcome);
  }

  /**
   * What a start finds has ended long ago, mostly before it watched: the full evaluation that follows asks about all of it at once.
   * Only what is open already is told of each run, since it counts them.
   */
  async function judgeRuns(tx: Tx, counted: readonly CountedRunOf[]): Promise<RaisedAlert[]> {
    let asked = counted;
    if (!hasBegun) {
      const open = new Set(
        (await listLiveAlerts(tx, [...new Set(counted.map(({ cronJobId }) => cronJobId))])).map(
          ({ cronJobId }) => cronJobId,
        ),
      );
      asked = counted.filter(({ cronJobId }) => open.has(cronJobId));
      await markUnjudged(
        tx,
        counted.flatMap(({ run, cronJobId }) => (open.has(cronJobId) ? [] : [run.jobUid])),
      );
    }
    return asked.length === 0 ? [] : judgeRecorded(tx, asked, judging, deps.digests.holdDuring(0, store.now()));
  }

  /** Asks about what has come due, and notes that all of it was asked. */
  async function evaluateDue(
    name: keyof typeof partsOf,
    { ids, slotsOnly }: { readonly ids: readonly number[]; readonly slotsOnly?: ReadonlySet<number> },
  ): Promise<void> {
    const now = store.now();
    const throughAt = Math.min(now, deps.freshThroughAt() ?? -Infinity);
    await passes.evaluateFor(name, ids, slotsOnly);
    if (isAllJudged) judgedThrough.set(name, throughAt);
  }

  /** No delay ends early because our clock was set. A database with a clock of its own has not noticed. */
  async function followSteps(): Promise<void> {
    const byMs = steppedMs;
    if (byMs === 0) return;
    if (store.clockOffsetMs() === undefined) await store.fenced(term.epoch, (tx) => movePendingDue(tx, byMs));
    steppedMs -= byMs;
  }

  async function answerAsked(): Promise<void> {
    const { uids, parts } = asked.take();
    if (uids.length === 0) return;
    try {
      const ids = await cronJobIdsOf(store, uids);
      await passes.evaluate([...ids.values()], parts);
    } catch (error) {
      asked.add(uids, parts);
      throw error;
    }
  }

  function guarded(work: () => Promise<void>): () => Promise<void> {
    return () =>
      work().catch((error: unknown) => {
        if (!signal.aborted && !isExpected(error))
          deps.logger.error('an evaluation failed and is tried again', { error });
      });
  }

  function isExpected(error: unknown): boolean {
    if (error instanceof FencedError) term.lose('another process took the epoch');
    return error instanceof FencedError || deps.isAway(error);
  }

  /** The database may go away under it as under anything else. */
  async function untilDone(work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return;
        if (!isExpected(error)) deps.logger.error('the first evaluation failed and is tried again', { error });
        await clock.sleep(recheckEveryMs, signal).catch(() => {});
      }
    }
  }
}
