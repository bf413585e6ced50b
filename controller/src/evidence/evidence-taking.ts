import {
  compareRuns,
  type Evidence,
  type Execution,
  hopelessWaitOf,
  type Instant,
  isOutputKnown,
  type JobFacts,
  type PodFacts,
  refText,
} from '@cronjob-monitor/shared/domain';
import type { Ref } from '@cronjob-monitor/shared/contract';
import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  listAlertsOfRuns,
  listComparedRuns,
  listEvidence,
  putEvidence,
  type Store,
} from '@cronjob-monitor/shared/store';
import { completeAlerts, isExplainedBy, type KnownOfRun, type LearnedOfRun } from '../alerting/index.ts';
import { Batches, isDatabaseAway } from '../runtime/index.ts';
import { type Capture, type CaptureDeps, createCapture, redactionUntil } from './capture.ts';
import { createEvidenceBook } from './book.ts';
import { createEventReader } from './event-reader.ts';
import { keepFacts, readFactsOfLogs } from './facts-from-logs.ts';
import { createReadPool, type ReadPool } from './read-pool.ts';
import { createTakingAgain, createUntilStored, type UntilStored } from './until-stored.ts';
import type { EvidenceWishes } from './wanted.ts';
import { createFixSuggestions } from './suggest-fixes.ts';
import type { Term } from '../leadership/index.ts';
import type { UpkeepMetrics } from '../metrics/index.ts';
import type { ClusterCaches, MonitorSeen, Selection } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import type { GatheredJob, JobIntake, RowOfRun } from '../reconcilers/job/index.ts';
import { createKnowing, type ExplainedRun, explainRun, type RunToExplain } from './run-explaining.ts';
import { createTemplateKeeping } from './template-keeping.ts';

export interface EvidenceTaking {
  /** Called before the end of the run is written: messages about it may wait for evidence. */
  expect(execution: Pick<Execution, 'jobUid' | 'status'>): void;
  /**
   * Takes the evidence that exists now. A failed run that got its row now is explained when all evidence is taken. Runs that ended in the
   * last minute of an earlier leader are taken and explained again: that leader may have stopped before it was done.
   */
  take(gathered: GatheredJob, execution: Execution | undefined, row: RowOfRun): void;
  /**
   * Facts in memory about a run whose evidence is still being taken; undefined: no evidence is being taken. For a stuck run this begins to
   * take evidence; for a monitor whose alert is raised after the run was explained, it explains the run again.
   */
  knownOf(jobUid: string, monitor: Ref): KnownOfRun | undefined;
  /** Calls the listener when messages that waited for evidence may leave. */
  onMessagesCompleted(listener: () => void): void;
  forget(jobUid: string): void;
}

/** A run with a row; `isOwed`: a failure of it has to be explained. */
type EndedRun = Omit<RunToExplain, 'pieces' | 'execution'> & {
  readonly execution: Execution;
  readonly wishes: EvidenceWishes;
  readonly isOwed: boolean;
};

interface EvidenceTakingDeps {
  readonly cluster: Cluster;
  readonly store: Store;
  readonly selection: Selection;
  readonly caches: Pick<ClusterCaches, 'jobs'>;
  readonly intake: Pick<JobIntake, 'pods'>;
  readonly settings: Pick<ControllerSettings, 'evidence'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly background: (name: string, work: Promise<void>) => void;
  readonly upkeepMetrics?: Pick<UpkeepMetrics, 'captured'> | undefined;
  /** Called when the logs of a recorded run told new facts. */
  readonly onFacts: (cronJobUid: string) => void;
  /** When an earlier leader worked last; undefined: there was no earlier leader. */
  readonly workedUntilAt: () => Instant | undefined;
  /** Resolves when alerts about recorded runs are raised: runs found at a start are judged later than they are written. */
  readonly whenJudged: () => Promise<void>;
}

/** The API server drops events after an hour: a run that ended earlier is not read for an explanation. */
const newsMs = 3_600_000;
/** Patterns search the end of a log of so many bytes. */
const searchedLogBytes = 100 * 1024;
const mostExplainedAtOnce = 16;
/** Explanations of runs that fail at once share a transaction, which leaves connections to the recorder. */
const mostTogether = 100;
const betweenWritesMs = 50;
/** An earlier leader has taken the evidence of runs that ended this long before it did. */
const takenWithinMs = 60_000;
/** By then the transaction that raises an alert about a stuck run has ended. */
const stuckAfterMs = 1_000;
/** By one of these the transaction that raises an alert about an ended run has ended. */
const raisedAfterMs = [50, 200, 750, 4_000, 15_000, 60_000];

const nothing: Omit<KnownOfRun, 'messageWaitMs'> = { attempts: [], place: undefined, fixOf: () => undefined };

/** Takes the evidence that monitors want of runs, in the background, and explains failed and stuck runs by it. */
export function createEvidenceTaking(deps: EvidenceTakingDeps, term: Pick<Term, 'epoch' | 'signal'>): EvidenceTaking {
  return new EvidenceOfTerm(deps, term);
}

class EvidenceOfTerm implements EvidenceTaking {
  readonly #deps: EvidenceTakingDeps;
  readonly #term: Pick<Term, 'epoch' | 'signal'>;
  readonly #book = createEvidenceBook();
  readonly #background: (name: string, work: Promise<void>) => void;
  readonly #untilStored: UntilStored;
  readonly #pool: ReadPool;
  readonly #capture: Capture;
  readonly #templates: ReturnType<typeof createTemplateKeeping>;
  readonly #line = createReadPool({ concurrency: mostExplainedAtOnce, perNode: mostExplainedAtOnce });
  readonly #know: (run: Omit<RunToExplain, 'pieces' | 'execution'>) => KnownOfRun;
  readonly #suggest: ReturnType<typeof createFixSuggestions>;
  /** Runs whose end is being written or explained, and stuck runs; stuck runs stay until they are forgotten. */
  readonly #awaited = new Set<string>();
  readonly #explaining = new Set<string>();
  readonly #stuck = new Set<string>();
  /** Ended runs whose evidence was asked for in this term. */
  readonly #taken = new Set<string>();
  /** Runs whose logs were read for facts in this term. */
  readonly #read = new Set<string>();
  /** Failed runs explained in this term, and the monitors whose alerts have the explanation. */
  readonly #explained = new Map<string, Pick<EndedRun, 'job' | 'execution'> & { readonly told: Set<string> }>();
  readonly #listeners = new Set<() => void>();
  readonly #explanations: Batches<ExplainedRun>;
  readonly #takeAgain: (run: EndedRun, onlyAwaited?: boolean) => Promise<void>;

  constructor(deps: EvidenceTakingDeps, term: Pick<Term, 'epoch' | 'signal'>) {
    this.#deps = deps;
    this.#term = term;
    const redaction = redactionUntil(term.signal, deps, deps.settings.evidence.redactPatterns);
    this.#background = forgiving(deps, term.signal);
    this.#untilStored = createUntilStored({
      isAway: isDatabaseAway,
      clock: deps.clock,
      signal: term.signal,
    });
    this.#pool = createReadPool({
      concurrency: deps.settings.evidence.concurrency,
      perNode: deps.settings.evidence.perNode,
    });
    this.#capture = captureOf(deps, {
      term,
      redaction,
      book: this.#book,
      background: this.#background,
      untilStored: this.#untilStored,
      pool: this.#pool,
    });
    this.#templates = createTemplateKeeping({
      store: deps.store,
      epoch: term.epoch,
      redaction,
    });
    this.#know = createKnowing(deps.settings.evidence.messageWaitMs);
    this.#suggest = createFixSuggestions(deps, term.signal);
    this.#explanations = new Batches<ExplainedRun>(
      mostTogether,
      (explained) => this.#keepExplanations(explained),
      () => pauseBetween(deps.clock, term.signal),
    );
    this.#takeAgain = createTakingAgain<EndedRun>({
      findAwaited: (runs) => this.#findUnexplained(runs),
      take: (run) => this.#takeEnded(run),
      signal: term.signal,
    });
  }

  expect({ jobUid, status }: Pick<Execution, 'jobUid' | 'status'>): void {
    // Only a failure is explained: a message about a slow success does not wait.
    if (status === 'failed') this.#awaited.add(jobUid);
  }

  take(
    { snapshot: { job }, pods, cronJob, refusal }: GatheredJob,
    execution: Execution | undefined,
    row: RowOfRun,
  ): void {
    const monitors = cronJob ? this.#deps.selection.monitorsOf(cronJob) : [];
    const isFirst = !this.#taken.has(job.uid);
    const isNews = !execution || this.#deps.clock.now() - (execution.finishedAt ?? this.#deps.clock.now()) < newsMs;
    const isOwed = row === 'new' || (isNews && isFirst);
    const wishes = wishesOf(monitors, isNews && isOwed);
    const isUnread = execution?.factsUnknown === true && row !== 'none' && isNews && !this.#read.has(job.uid);
    if (isUnread && isOutputKnown(execution.status, job, pods) && wantsFactsOfLogs(monitors)) {
      this.#read.add(job.uid);
      this.#background('facts of a run', this.#takeFacts(job, pods));
    }
    if (!execution || row === 'none') {
      this.#capture.request({ job, pods, execution, wishes });
      // A change before the run mostly tells why it cannot start.
      if (!execution && hopelessWaitOf(job, pods, refusal)) this.#keepTemplate(job);
      return;
    }
    const wasTaken = row === 'known' && isFirst && this.#isTaken(execution);
    if (wasTaken && !isOwed) {
      this.#expectNothing(job.uid);
      return;
    }
    this.#taken.add(job.uid);
    const run = { job, pods, execution, monitors, wishes, isOwed };
    if (row === 'new') this.#templates.add(job);
    if (row === 'known' && isFirst) this.#background('evidence of an earlier leader', this.#takeOver(run, wasTaken));
    else this.#background('evidence of a run', this.#takeEnded(run));
    if (row === 'new' && execution.status !== 'failed') this.#keepTemplate(job);
  }

  /** A spec that is stored already costs no write. */
  #keepTemplate(job: JobFacts): void {
    if (this.#templates.add(job))
      this.#background(
        'template of a run',
        this.#untilStored(0, () => this.#templates.flush()),
      );
  }

  knownOf(jobUid: string, monitor: Ref): KnownOfRun | undefined {
    const job = this.#deps.caches.jobs.find(jobUid);
    const isAwaited = this.#awaited.has(jobUid);
    // The run's messages wait all the same.
    if (!job) return isAwaited ? { ...nothing, messageWaitMs: this.#deps.settings.evidence.messageWaitMs } : undefined;
    const run = {
      job,
      pods: this.#deps.intake.pods.podsOf(jobUid),
      monitors: this.#deps.selection.monitorsOfUid(job.cronJobUid),
    };
    if (isAwaited) return this.#know(run);
    if (job.outcome !== undefined) return this.#explainLate(jobUid, monitor) ? this.#know(run) : undefined;
    if (this.#stuck.has(jobUid)) return undefined;
    this.#stuck.add(jobUid);
    this.#awaited.add(jobUid);
    this.#capture.requestOfStuck({ job, pods: run.pods, wishes: wishesOf(run.monitors, true) });
    this.#background('explanation of a stuck run', this.#explainStuck(job));
    return this.#know(run);
  }

  onMessagesCompleted(listener: () => void): void {
    this.#listeners.add(listener);
  }

  forget(jobUid: string): void {
    this.#capture.forget(jobUid);
    this.#stuck.delete(jobUid);
    this.#taken.delete(jobUid);
    this.#read.delete(jobUid);
    this.#explained.delete(jobUid);
    if (!this.#awaited.has(jobUid)) this.#book.forget(jobUid);
  }

  async #explainNow(run: Omit<RunToExplain, 'pieces'>): Promise<ExplainedRun> {
    this.#term.signal.throwIfAborted();
    const taken = this.#book.take(run.job.uid);
    // The pods of a run that is explained again may be deleted.
    const isAgain = this.#explained.get(run.job.uid)?.told.size;
    if (isAgain) await this.#capture.whenKept(run.job.uid);
    const pieces = isAgain ? withKept(taken, await listEvidence(this.#deps.store, run.job.uid)) : taken;
    return this.#untilStored(sizeOf(pieces), () => explainRun({ ...run, pieces }, this.#suggest));
  }

  async #explain(run: Omit<RunToExplain, 'pieces'> & { readonly wishes?: EvidenceWishes }): Promise<void> {
    const { uid } = run.job;
    this.#explaining.add(uid);
    try {
      await this.#book.whenQuiet(uid);
      await this.#deps.whenJudged();
      const all = await this.#line.run('', () => this.#explainNow(run), this.#term.signal);
      // The decisive line is stored where its log is.
      const learned = run.wishes?.logs ? all : { ...all, decisive: undefined };
      await this.#untilStored(sizeOf(piecesOf(learned)), () => this.#explanations.add(learned));
    } finally {
      this.#explaining.delete(uid);
      this.#awaited.delete(uid);
    }
  }

  /** A run stays awaited while it is explained again: its messages wait for that. */
  #expectNothing(uid: string): void {
    if (!this.#explaining.has(uid)) this.#awaited.delete(uid);
  }

  async #keepExplanations(explained: readonly ExplainedRun[]): Promise<void> {
    this.#term.signal.throwIfAborted();
    await this.#templates.flush(new Set(explained.map(({ cronJobUid }) => cronJobUid)));
    const { store } = this.#deps;
    const { epoch } = this.#term;
    const uids = explained.map(({ jobUid }) => jobUid);
    // One connection for a dozen questions: each by itself would queue behind the recorder.
    const { compared, alerts } = await store.fenced(epoch, async (tx) => ({
      compared: await listComparedRuns(tx, uids),
      alerts: await listAlertsOfRuns(tx, explained),
    }));
    const learned = explained.map((run): LearnedOfRun => {
      const runs = compared.get(run.jobUid);
      return { ...run, changes: runs && compareRuns(runs.before, runs.after) };
    });
    for (const { jobUid, monitor } of alerts) this.#explained.get(jobUid)?.told.add(refText(monitor));
    const changed = await completeAlerts(store, epoch, learned, alerts);
    const decisive = learned.flatMap((one) => one.decisive ?? []);
    if (decisive.length > 0)
      this.#background(
        'decisive lines of runs',
        this.#untilStored(sizeOf(decisive), async () => void (await putEvidence(store, epoch, decisive))),
      );
    if (changed > 0) this.#listeners.forEach((tell) => tell());
  }

  /**
   * Explains a run again for a monitor that was seen, or got its row, after the run was explained. True: the monitor's alert will get the
   * explanation.
   */
  #explainLate(jobUid: string, monitor: Ref): boolean {
    const explained = this.#explained.get(jobUid);
    if (explained === undefined || explained.told.has(refText(monitor))) return false;
    explained.told.add(refText(monitor));
    this.#awaited.add(jobUid);
    this.#background('explanation of a run for a later alert', this.#explainAgain(explained));
    return true;
  }

  async #explainAgain({ job, execution }: Pick<EndedRun, 'job' | 'execution'>): Promise<void> {
    const monitors = this.#deps.selection.monitorsOfUid(job.cronJobUid);
    const wishes = wishesOf(monitors, true);
    const run = { job, pods: this.#deps.intake.pods.podsOf(job.uid), execution, monitors, wishes };
    this.#capture.forget(job.uid);
    // Evidence that is stored stays stored; a message waits for evidence that is being read.
    this.#capture.request({ ...run, wishes: { ...wishes, logs: false, events: false } });
    try {
      if (await this.#isUnexplained(job)) await this.#explain(run);
    } finally {
      this.#expectNothing(job.uid);
    }
  }

  /** Whether an alert about the run lacks the explanation; waits for the transaction that raises the alert. */
  async #isUnexplained({ uid: jobUid, cronJobUid }: JobFacts): Promise<boolean> {
    for (const waitMs of raisedAfterMs) {
      await this.#deps.clock.sleep(waitMs, this.#term.signal);
      const alerts = await this.#untilStored(0, () => listAlertsOfRuns(this.#deps.store, [{ jobUid, cronJobUid }]));
      if (alerts.some(({ alert }) => !isExplainedBy(alert, jobUid))) return true;
    }
    return false;
  }

  async #explainStuck(job: JobFacts): Promise<void> {
    await this.#deps.clock.sleep(stuckAfterMs, this.#term.signal);
    const monitors = this.#deps.selection.monitorsOfUid(job.cronJobUid);
    await this.#explain({ job, pods: this.#deps.intake.pods.podsOf(job.uid), execution: undefined, monitors });
  }

  #isTaken({ finishedAt }: Execution): boolean {
    return finishedAt !== undefined && finishedAt < (this.#deps.workedUntilAt() ?? -Infinity) - takenWithinMs;
  }

  async #takeFacts(job: JobFacts, pods: readonly PodFacts[]): Promise<void> {
    const { cluster, store } = this.#deps;
    const timeoutMs = this.#deps.settings.evidence.readTimeoutMs;
    const output = await readFactsOfLogs(job, pods, {
      cluster,
      pool: this.#pool,
      clock: this.#deps.clock,
      timeoutMs,
      signal: this.#term.signal,
    });
    const isNews = await this.#untilStored(0, () => {
      this.#term.signal.throwIfAborted();
      return keepFacts(store, this.#term.epoch, job.uid, output);
    });
    if (isNews) this.#deps.onFacts(job.cronJobUid);
  }

  /** Resolves when the evidence that monitors want is taken and a failed run is explained, if that is owed. */
  async #takeEnded(run: EndedRun): Promise<void> {
    const { job, execution } = run;
    this.#capture.request(run);
    if (execution.status === 'failed' && run.isOwed) {
      // A deleted Job is not read again.
      if (this.#deps.caches.jobs.find(job.uid)) this.#explained.set(job.uid, { job, execution, told: new Set() });
      return this.#explain(run);
    }
    this.#expectNothing(job.uid);
    await this.#book.whenQuiet(job.uid);
    if (execution.status !== 'failed') this.#book.forget(job.uid);
  }

  /** Of these runs, those with an alert that lacks the explanation. */
  async #findUnexplained(runs: readonly EndedRun[]): Promise<ReadonlySet<EndedRun>> {
    const refs = runs.map(({ job: { uid, cronJobUid } }) => ({ jobUid: uid, cronJobUid }));
    const alerts = await listAlertsOfRuns(this.#deps.store, refs);
    const unexplained = new Set(alerts.flatMap(({ jobUid, alert }) => (isExplainedBy(alert, jobUid) ? [] : [jobUid])));
    return new Set(runs.filter(({ job }) => unexplained.has(job.uid)));
  }

  /** Evidence that an earlier leader had time for is taken again only where an outage of the database kept it out. */
  async #takeOver(run: EndedRun, wasTaken: boolean): Promise<void> {
    try {
      await this.#takeAgain(run, wasTaken);
    } finally {
      if (wasTaken) this.#expectNothing(run.job.uid);
    }
  }
}

/** Stored evidence comes first; a piece taken again replaces the stored one, unless the new piece is empty. */
function withKept(taken: readonly Evidence[], kept: readonly Evidence[]): readonly Evidence[] {
  const keyOf = ({ kind, name }: Evidence): string => `${kind} ${name}`;
  const told = new Set(taken.flatMap((piece) => (piece.body === undefined ? [] : keyOf(piece))));
  const before = kept.filter((piece) => piece.body !== undefined && !told.has(keyOf(piece)));
  const keys = new Set(before.map(keyOf));
  return [...before, ...taken.filter((piece) => !keys.has(keyOf(piece)))];
}

function piecesOf({ log, initLogs, events, attempts, decisive }: ExplainedRun): readonly Evidence[] {
  return [log, ...initLogs, events, attempts, decisive].filter((piece) => piece !== undefined);
}

/** Characters of these pieces in memory. */
function sizeOf(pieces: readonly Evidence[]): number {
  return pieces.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

/**
 * Stores evidence. A run is recorded without it all the same. While the database is away the write is repeated; a write that fails for
 * another reason is given up.
 */
function forgiving({ background, logger }: EvidenceTakingDeps, signal: AbortSignal): EvidenceTakingDeps['background'] {
  return (name, work) =>
    background(
      name,
      work.catch((error: unknown) => {
        if (!signal.aborted) logger.warn('evidence of a run could not be kept', { name, error });
      }),
    );
}

function captureOf(
  { cluster, store, clock, logger, upkeepMetrics, settings: { evidence } }: EvidenceTakingDeps,
  of: Pick<CaptureDeps, 'book' | 'background'> & {
    readonly term: Pick<Term, 'epoch' | 'signal'>;
    readonly redaction: Redaction;
    readonly untilStored: UntilStored;
    readonly pool: ReadPool;
  },
): Capture {
  const { term, redaction, book, background, untilStored, pool } = of;
  const pieces = new Batches<readonly Evidence[]>(
    mostTogether,
    async (taken) => {
      term.signal.throwIfAborted();
      try {
        await putEvidence(store, term.epoch, taken.flat());
      } catch (error) {
        if (isDatabaseAway(error) || taken.length === 1) throw error;
        // A piece that the database refuses does not keep the others out.
        for (const alone of taken)
          background(
            'pieces of a run',
            putEvidence(store, term.epoch, alone).then(() => {}),
          );
      }
    },
    () => pauseBetween(clock, term.signal),
  );
  return createCapture({
    cluster,
    pool,
    eventReader: createEventReader({ cluster, clock, signal: term.signal }),
    clock,
    logger,
    readTimeoutMs: evidence.readTimeoutMs,
    maxAttempts: evidence.maxAttempts,
    redaction,
    keep: (taken) => untilStored(sizeOf(taken), () => pieces.add(taken)),
    book,
    onRead: (result) => upkeepMetrics?.captured(result),
    background,
    signal: term.signal,
  });
}

/** Waits, so that more runs share a write; the end of the term ends the wait. */
async function pauseBetween(clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(betweenWritesMs, signal).catch(() => {});
}

/** Whether one of these monitors wants logs read for facts. */
export function wantsFactsOfLogs(monitors: readonly MonitorSeen[]): boolean {
  return monitors.some(({ decoded }) => decoded.ok && decoded.spec.output?.fromLogs === true);
}

/** Logs, events and explanations are stored once for all monitors that ask; the leading monitor chooses the container. */
function wishesOf(monitors: readonly MonitorSeen[], isNews: boolean): EvidenceWishes {
  const specs = monitors.flatMap(({ decoded }) => (decoded.ok ? [decoded.spec] : []));
  const retention = specs.map(({ dataRetention }) => dataRetention);
  const context = specs[0]?.alerting?.includeContext;
  const storedKB = Math.max(
    0,
    ...retention.filter(({ storeLogs }) => storeLogs).map(({ maxLogSizeKB }) => maxLogSizeKB),
  );
  return {
    logs: storedKB > 0,
    events: retention.some(({ storeEvents }) => storeEvents),
    explain: isNews && specs.length > 0,
    maxLogBytes: storedKB > 0 ? 1024 * storedKB : searchedLogBytes,
    container: context?.logContainerName,
    initContainers: specs.some(({ alerting }) => alerting?.includeContext.includeInitContainerLogs === true),
  };
}
