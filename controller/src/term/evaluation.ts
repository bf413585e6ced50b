import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import type { Execution, Instant, Part } from '@cronjob-monitor/shared/domain';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  cronJobIdsOf,
  FencedError,
  listCronJobsToJudge,
  listLiveAlerts,
  markUnjudged,
  movePendingDue,
  rateDue,
  type CountedRunOf,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { RaisedAlert } from '../alerting/index.ts';
import type { Digests } from '../outbox/index.ts';
import {
  allParts,
  AskedCronJobs,
  createExpectations,
  createRecheck,
  createWatchers,
  EarlierSpecs,
  evaluate,
  judgeRecorded,
  partsOf,
  schedulerOf,
  type AbsenceProof,
  type EvaluateDeps,
  type Expectations,
  type JudgeDeps,
  type RunningSources,
  type SettleSlots,
} from '../evaluate/index.ts';
import { createPasses } from './evaluation-passes.ts';
import type { Term } from '../leadership/index.ts';
import type { WordSightings } from '../reconcilers/cronjob/index.ts';
import {
  createSlaRounds,
  dueForPresence,
  dueForRunning,
  dueOrOpen,
  runSchedulers,
  type Scheduler,
} from '../schedulers/index.ts';
import { isSelectorUnderstood, type ClusterCaches, type DepartedCronJob, type Selection } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';

type Watchers = ReturnType<typeof createWatchers>;

interface EvaluationDeps {
  readonly settings: Pick<ControllerSettings, 'defaultZone' | 'schedulers'>;
  readonly store: Store;
  readonly caches: Pick<ClusterCaches, 'cronJobs' | 'jobs' | 'monitors' | 'namespaces'>;
  readonly selection: Selection;
  readonly words: Pick<WordSightings, 'listSince'>;
  /** Of a group of Jobs: when the last of them ended; undefined while one goes on. */
  readonly groupEndedAt: (uid: string) => Instant | undefined;
  readonly podsOf: RunningSources['podsOf'];
  readonly goneJobsOf: RunningSources['goneJobsOf'];
  readonly refusalOf: RunningSources['refusalOf'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: Pick<Term, 'epoch' | 'signal' | 'fenced'>;
  /** When all caches were filled, and until when a leader before this one watched. */
  readonly syncedAt: () => Instant;
  readonly watchedUntilAt: Instant | undefined;
  /** Another leader judged everything until a moment ago: what time, a run or an open alert asks about is judged first, and told. */
  readonly isSuccession: boolean;
  /** No leader ever judged anything in this database: what is found now is older than the watch. */
  readonly isFirstOfAll?: boolean;
  readonly freshThroughAt: () => Instant | undefined;
  /** From when on what happens to CronJobs and Jobs cannot be seen; undefined: it is seen. */
  readonly blindFromAt: () => Instant | undefined;
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
  /** What is foreseen of a night is kept, and judged once it is over. */
  readonly lookAtNight: () => Promise<void>;
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

/** Asks whether something is wrong when a run is recorded, when an event comes, and as time passes. */
export interface Evaluation {
  /** In the transaction that recorded these runs; `committed` is told afterwards. */
  readonly judge: (tx: Tx, counted: readonly CountedRunOf[]) => Promise<RaisedAlert[]>;
  readonly committed: (raised: readonly RaisedAlert[]) => void;
  /** Judges CronJobs that were deleted, or that left a monitor, as they were then. Their runs are recorded. */
  readonly judgeDeparted: (departures: readonly DepartedCronJob[]) => Promise<void>;
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
const rateEveryMs = 60_000;
const nightEveryMs = 10_000;
/** CronJobs judged in one piece where no caller waits, so that other work comes between. */
const pieceOfRest = 200;
/** Of a monitor that names no window. */
const defaultWindowDays = 7;

export function createEvaluation(deps: EvaluationDeps): Evaluation {
  return new EvaluationOfTerm(deps);
}

class EvaluationOfTerm implements Evaluation {
  readonly #deps: EvaluationDeps;
  readonly #watchers: Watchers;
  #signal: AbortSignal;
  readonly #asked = new AskedCronJobs();
  readonly #sla: ReturnType<typeof createSlaRounds>;
  #evaluatedAt: Instant | undefined;
  /** The first evaluation has begun; a successor goes on with that of the leader before it. */
  #hasBegun: boolean;
  #steppedMs = 0;
  readonly #first = Promise.withResolvers<void>();
  readonly #judging: EvaluateDeps;
  readonly #passes: ReturnType<typeof createPasses>;
  /** This term has asked about everything that was due when it began. */
  #isAllJudged = false;
  readonly #judgedThrough = new Map<keyof typeof partsOf, Instant>();
  readonly #expectations: Expectations;
  readonly #recheck: (now: Instant) => Promise<void>;

  constructor(deps: EvaluationDeps) {
    this.#deps = deps;
    this.#watchers = createWatchers({ ...deps, defaultZone: deps.settings.defaultZone });
    this.#signal = deps.term.signal;
    this.#sla = createSlaRounds(deps.store, () =>
      deps.caches.monitors
        .values()
        .map(({ decoded }) => (decoded.ok ? decoded.spec.sla?.windowDays : undefined) ?? defaultWindowDays),
    );
    this.#hasBegun = deps.isSuccession;
    this.#judging = judgingOf(deps, {
      onSettled: (outcomes, missing) => {
        this.#sla.missed(missing);
        deps.onSettled(outcomes, missing);
      },
      watchersOf: this.#watchers.of,
      judgedThroughAt: (part) => this.#judgedThrough.get(schedulerOf(part)) ?? deps.watchedUntilAt,
    });
    this.#passes = createPasses(this.#judging, deps.digests, () => this.#signal);
    this.#expectations = createExpectations({
      ...deps,
      epoch: deps.term.epoch,
      defaultZone: deps.settings.defaultZone,
      isDelayed: this.#judging.isDelayed,
      onChanged: (uid) => deps.onExpectations?.(uid),
    });
    this.#recheck = createRecheck({
      store: deps.store,
      blindFromAt: deps.blindFromAt,
      evaluate: this.#passes.evaluate,
      judgeExpected: () => this.#expectations.judge(),
    });
  }

  committed(raised: readonly RaisedAlert[]): void {
    if (raised.length > 0) this.#deps.onRaised(raised);
  }

  recorded(cronJobUid: string): void {
    this.#sla.recorded(cronJobUid);
  }

  ask(uids: Iterable<string>, parts?: Iterable<Part>): void {
    this.#asked.add(uids, parts);
  }

  expectationsOf(monitorUid: string): ReturnType<Expectations['of']> {
    return this.#expectations.of(monitorUid);
  }

  stepped(byMs: number): void {
    this.#steppedMs += byMs;
  }

  evaluatedAt(): Instant | undefined {
    return this.#evaluatedAt;
  }

  get judged(): Promise<void> {
    return this.#first.promise;
  }

  async run(until: AbortSignal): Promise<void> {
    this.#signal = until;
    let rest: readonly number[] = [];
    await this.#untilDone(async () => {
      rest = await this.#judgeFirst();
    });
    this.#first.resolve();
    const { clock, logger, postponedBecause } = this.#deps;
    const every = (ms: number, work: () => Promise<void>): void => clock.every(ms, this.#guarded(work), this.#signal);
    every(askEveryMs, () => this.#answerAsked());
    every(recheckEveryMs, async () => {
      const isPostponed = postponedBecause() !== undefined;
      await this.#followSteps();
      if (!isPostponed) await this.#recheck(this.#deps.store.now());
    });
    every(rateEveryMs, () => this.#rate({ all: false }));
    every(nightEveryMs, async () => {
      // The outcome of a night is known once everything is judged.
      if (this.#isAllJudged && postponedBecause() === undefined) await this.#deps.lookAtNight();
    });
    const ticker = {
      clock,
      logger,
      onRan: (...ran: Parameters<EvaluationDeps['onRan']>) => this.#onRan(...ran),
      onError: (error: unknown) => this.#isExpected(error),
    };
    // A round takes up to a fifth of its interval: it runs beside the others, which must not wait for it.
    const prune: Scheduler = {
      name: 'prune',
      intervalMs: this.#deps.settings.schedulers.pruneMs,
      run: (signal) => this.#deps.prune(signal),
    };
    await Promise.all([
      runSchedulers(this.#schedulers(), { ...ticker, postponedBecause }, this.#signal),
      runSchedulers([prune], { ...ticker, postponedBecause: () => undefined }, this.#signal),
      // An earlier release may have written meanwhile, and it knows no list.
      this.#untilDone(() => this.#rate({ all: true })),
      this.#untilDone(async () => {
        for (; rest.length > 0 && !this.#signal.aborted; rest = rest.slice(pieceOfRest))
          await this.#passes.evaluate(rest.slice(0, pieceOfRest), allParts);
        this.#isAllJudged = true;
      }),
    ]);
  }

  /**
   * Runs that a start finds ended long ago, mostly before the process watched: the full evaluation that follows judges them all at once. Only
   * alerts that are open already hear of each run, since they count them.
   */
  async judge(tx: Tx, counted: readonly CountedRunOf[]): Promise<RaisedAlert[]> {
    const open = this.#hasBegun
      ? undefined
      : await listLiveAlerts(tx, [...new Set(counted.map((one) => one.cronJobId))]);
    const isAsked = ({ run, cronJobId }: CountedRunOf): boolean =>
      !this.#endedBeforeDeparture(run) && (open?.some((alert) => alert.cronJobId === cronJobId) ?? true);
    const [asked, later] = [counted.filter(isAsked), counted.filter((one) => !isAsked(one))];
    const uids = later.map(({ run }) => run.jobUid);
    if (uids.length > 0) await markUnjudged(tx, uids);
    return asked.length === 0
      ? []
      : judgeRecorded(tx, asked, this.#judging, this.#deps.digests.holdDuring(0, this.#deps.store.now()));
  }

  async judgeDeparted(departures: readonly DepartedCronJob[]): Promise<void> {
    const ids = await cronJobIdsOf(
      this.#deps.store,
      departures.map(({ cronJob }) => cronJob.uid),
    );
    // Those that went in the same second are judged together, since many go at once.
    const asOf = ({ thereUntilAt, lastEndedAt }: DepartedCronJob): Instant =>
      Math.max(Math.floor(thereUntilAt / 1_000) * 1_000, lastEndedAt);
    // Of those that were judged before, all but the news was told.
    const [first, again] = [departures.filter((one) => !one.isWritten), departures.filter((one) => one.isWritten)];
    const rounds = [
      ...[...Map.groupBy(first, asOf)].map(([at, some]) => ({ at, some, parts: allParts })),
      ...[...Map.groupBy(again, asOf)].map(([at, some]) => ({ at, some, parts: new Set<Part>(['jobFailed']) })),
    ];
    for (const { at: asOfAt, some, parts } of rounds.toSorted((a, b) => a.at - b.at)) {
      const of = Map.groupBy(some, ({ cronJob }) => cronJob.uid);
      const asked = [...of.keys()].flatMap((uid) => ids.get(uid) ?? []);
      const sources = { ...this.#judging.sources, ...this.#asTheyWent(of, asOfAt) };
      await evaluate(asked, { parts, asOfAt }, { ...this.#judging, sources }, this.#signal);
      this.#signal.throwIfAborted();
    }
  }

  /** Answers questions about these CronJobs as they were when they went. */
  #asTheyWent(of: ReadonlyMap<string, readonly DepartedCronJob[]>, asOfAt: Instant): Partial<EvaluateDeps['sources']> {
    const leftBy = (uid: string) => of.get(uid)?.flatMap(({ monitor }) => monitor ?? []) ?? [];
    const judgesOf = (uid: string) =>
      of
        .get(uid)
        ?.flatMap(({ judges }) => [...judges.keys()])
        .map((judge) => this.#deps.caches.monitors.findByName(judge.namespace, judge.name) ?? judge);
    const went = (uid: string) =>
      (of.get(uid) ?? []).flatMap(({ goneJobs }) =>
        goneJobs.map(({ job, gone }) => ({ ...job, endedAt: gone?.at ?? asOfAt })),
      );
    const there = (uid: string) =>
      (leftBy(uid).length > 0 ? this.#deps.caches.jobs.listBy('cronJob', uid) : []).filter(
        ({ createdAt }) => createdAt <= asOfAt,
      );
    return {
      wentOf: (uid) => {
        const leave = of.get(uid)?.find(({ monitor }) => monitor);
        return leave ? { newsFromAt: leave.firstEndedAt, judgesUntilAt: leave.at } : {};
      },
      findCronJob: (uid) => of.get(uid)?.[0]?.cronJob,
      watchersOf: (cronJob) => {
        const left = leftBy(cronJob.uid);
        return this.#watchers.of(cronJob, left.length > 0 ? left : judgesOf(cronJob.uid));
      },
      jobsOf: (uid) =>
        [...there(uid), ...went(uid).filter(({ endedAt }) => endedAt >= asOfAt)].map((job) => ({
          ...job,
          ...((job.endedAt ?? asOfAt) >= asOfAt && { outcome: undefined, endedAt: undefined }),
          ...((job.decidedAt ?? asOfAt) > asOfAt && { decidedAs: undefined, decidedAt: undefined }),
        })),
      goneJobsOf: (uid) => went(uid).filter(({ endedAt }) => endedAt < asOfAt),
    };
  }

  /**
   * Whether the run waits for the judgement of its CronJob as it was when it went; where it left a monitor, of that monitor alone. A failure that
   * comes when a deleted CronJob is judged has it judged again.
   */
  #endedBeforeDeparture({ cronJobUid, status, finishedAt = Infinity }: Execution): boolean {
    const { selection } = this.#deps;
    const departure = selection.departuresOf(cronJobUid).find(({ cronJob }) => cronJob.uid === cronJobUid);
    for (const one of [...selection.leavesOf(cronJobUid), ...(departure ? [departure] : [])]) {
      if (finishedAt > one.at || (one.isJudged && status !== 'failed')) continue;
      one.isJudged = false;
      one.lastEndedAt = Math.max(one.lastEndedAt, finishedAt);
      one.firstEndedAt = Math.min(one.firstEndedAt, finishedAt);
    }
    return departure !== undefined && finishedAt <= departure.at;
  }

  #schedulers(): readonly Scheduler[] {
    const { deadManSwitchMs, stuckJobCheckMs, slaRecalculationMs } = this.#deps.settings.schedulers;
    return [
      { name: 'dead-man-switch', intervalMs: deadManSwitchMs, run: () => this.#judgePresence() },
      { name: 'stuck-job-check', intervalMs: stuckJobCheckMs, run: () => this.#judgeRunning() },
      { name: 'sla-recalculation', intervalMs: slaRecalculationMs, run: () => this.#judgeRates() },
    ];
  }

  /** Recounts rates, as runs leave the windows of the list by time alone. */
  async #rate({ all }: { readonly all: boolean }): Promise<void> {
    const { store, term } = this.#deps;
    await rateDue(store, term.epoch, { of: all ? 'all' : 'longestAgo', signal: this.#signal });
  }

  async #judgePresence(): Promise<void> {
    const { store, clock, absence, digests } = this.#deps;
    const { ids, slotsOnly } = await dueForPresence(store, clock.now());
    await absence?.look();
    await this.#evaluateDue('dead-man-switch', { ids, slotsOnly });
    await this.#expectations.judge();
    await digests.tick(store.now());
  }

  async #judgeRunning(): Promise<void> {
    const { store, clock } = this.#deps;
    const judgedThroughAt = this.#judging.judgedThroughAt('stuck') ?? clock.now();
    const stuckAt = this.#watchers.stuckAt(clock.now(), judgedThroughAt);
    await this.#evaluateDue('stuck-job-check', { ids: await dueForRunning(store, clock.now(), stuckAt) });
  }

  async #judgeRates(): Promise<void> {
    const { clock, store, term } = this.#deps;
    await this.#deps.sealDays();
    await this.#sla.run(clock.now(), async (ids, left) => {
      await this.#evaluateDue('sla-recalculation', { ids });
      await this.#deps.measureSla(ids, clock.now());
      await rateDue(store, term.epoch, { of: left, signal: this.#signal });
    });
  }

  /** Judges everything that may be told now. Returns what a successor may judge later: CronJobs with nothing open and nothing due. */
  async #judgeFirst(): Promise<readonly number[]> {
    const begunMs = this.#deps.clock.monotonicMs();
    await this.#deps.whenCaughtUp(this.#signal);
    const caughtUpMs = this.#deps.clock.monotonicMs();
    this.#hasBegun = true;
    this.#asked.take(); // of all of them everything is asked
    const all = await listCronJobsToJudge(this.#deps.store);
    const { ids, slotsOnly } = this.#deps.isSuccession
      ? await dueOrOpen(this.#deps.store, this.#deps.clock.now(), this.#watchers.stuckAt(this.#deps.clock.now()))
      : { ids: all, slotsOnly: undefined };
    await (this.#deps.isFirstOfAll === true
      ? this.#passes.evaluateFirst(ids, allParts)
      : this.#passes.evaluate(ids, allParts, slotsOnly));
    this.#evaluatedAt = this.#deps.clock.now();
    this.#deps.logger.info('what this start found is judged, messages go out', {
      cronJobs: all.length,
      judged: ids.length,
      writtenAfterMs: Math.round(caughtUpMs - begunMs),
      judgedAfterMs: Math.round(this.#deps.clock.monotonicMs() - begunMs),
    });
    const judged = new Set(ids.filter((id) => !slotsOnly?.has(id)));
    return all.filter((id) => !judged.has(id));
  }

  #onRan(name: SchedulerName, outcome: { readonly isOk: boolean; readonly durationMs: number }): void {
    if (outcome.isOk && name !== 'prune') this.#evaluatedAt = this.#deps.clock.now();
    this.#deps.onRan(name, outcome);
  }

  /** Judges everything that has come due, and notes the instant. */
  async #evaluateDue(
    name: keyof typeof partsOf,
    { ids, slotsOnly }: { readonly ids: readonly number[]; readonly slotsOnly?: ReadonlySet<number> },
  ): Promise<void> {
    const now = this.#deps.store.now();
    const throughAt = Math.min(now, this.#deps.freshThroughAt() ?? -Infinity);
    await this.#passes.evaluateFor(name, ids, slotsOnly);
    if (this.#isAllJudged) this.#judgedThrough.set(name, throughAt);
  }

  /** Moves delays when our wall clock is set, so that none ends early. A database server has a clock of its own, and moves nothing. */
  async #followSteps(): Promise<void> {
    const byMs = this.#steppedMs;
    if (byMs === 0) return;
    if (this.#deps.store.clockOffsetMs() === undefined)
      await this.#deps.store.fenced(this.#deps.term.epoch, (tx) => movePendingDue(tx, byMs));
    this.#steppedMs -= byMs;
  }

  async #answerAsked(): Promise<void> {
    const { uids, parts } = this.#asked.take();
    if (uids.length === 0) return;
    try {
      const ids = await cronJobIdsOf(this.#deps.store, uids);
      await this.#passes.evaluate([...ids.values()], parts);
    } catch (error) {
      this.#asked.add(uids, parts);
      throw error;
    }
  }

  #guarded(work: () => Promise<void>): () => Promise<void> {
    return () =>
      work().catch((error: unknown) => {
        if (!this.#signal.aborted && !this.#isExpected(error))
          this.#deps.logger.error('an evaluation failed and is tried again', { error });
      });
  }

  #isExpected(error: unknown): boolean {
    if (error instanceof FencedError) this.#deps.term.fenced();
    return error instanceof FencedError || this.#deps.isAway(error);
  }

  /** Repeats the work while the database is away. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!this.#isExpected(error))
          this.#deps.logger.error('the first evaluation failed and is tried again', { error });
        await this.#deps.clock.sleep(recheckEveryMs, this.#signal).catch(() => {});
      }
    }
  }
}

function judgingOf(
  deps: EvaluationDeps,
  of: Pick<EvaluateDeps, 'judgedThroughAt' | 'onSettled'> & { readonly watchersOf: Watchers['of'] },
): EvaluateDeps {
  const { caches } = deps;
  const { watchersOf, judgedThroughAt, onSettled } = of;
  return {
    store: deps.store,
    epoch: deps.term.epoch,
    clock: deps.clock,
    sources: {
      findCronJob: (uid) => caches.cronJobs.find(uid),
      watchersOf,
      defaultZone: deps.settings.defaultZone,
      wordsBeside: (cronJob, { said, seenAt }) =>
        deps.words.listSince(
          cronJob,
          { ...said, seenAt: Math.max(seenAt, deps.watchedUntilAt ?? -Infinity) },
          deps.clock.now(),
        ),
      earlierSpecs: new EarlierSpecs(),
      jobsOf: (uid) => caches.jobs.listBy('cronJob', uid).filter((job) => deps.selection.takesJob(job)),
      groupEndedAt: deps.groupEndedAt,
      podsOf: deps.podsOf,
      goneJobsOf: (uid) => deps.goneJobsOf(uid).filter((job) => deps.selection.takesJob(job)),
      refusalOf: deps.refusalOf,
    },
    closing: {
      // A CronJob that was made later did not replace this one.
      isRecreated({ row: { namespace, name, uid, deletedAt = -Infinity } }) {
        const other = caches.cronJobs.findByName(namespace, name);
        return other !== undefined && other.uid !== uid && other.createdAt <= deletedAt;
      },
      isDeselected: ({ namespace, name }, cronJob) => {
        const monitor = caches.monitors.findByName(namespace, name);
        return (
          monitor !== undefined &&
          isSelectorUnderstood(monitor) &&
          !deps.selection.monitorsOf(cronJob).includes(monitor)
        );
      },
    },
    freshThroughAt: deps.freshThroughAt,
    blindFromAt: deps.blindFromAt,
    provenThroughAt: (uid) => deps.absence?.throughAt(uid),
    judgedThroughAt,
    isDelayed: (sinceAt) =>
      deps.watchedUntilAt !== undefined && sinceAt > deps.watchedUntilAt && sinceAt < deps.syncedAt(),
    knownOf: deps.knownOf,
    freeze: deps.freeze,
    settleSlots: deps.settleSlots,
    onSettled,
    onRaised: deps.onRaised,
  };
}
