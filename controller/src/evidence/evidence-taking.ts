import {
  isOutputKnown,
  type Evidence,
  type Execution,
  type Instant,
  type JobFacts,
  type PodFacts,
} from '@cronjob-monitor/shared/domain';
import type { Cluster, Redaction } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { listAlertsOfRuns, putEvidence, type Store } from '@cronjob-monitor/shared/store';
import { completeAlerts, isExplainedBy, type KnownOfRun, type LearnedOfRun } from '../alerting/index.ts';
import { Batches, isDatabaseAway } from '../runtime/index.ts';
import { createCapture, type Capture, type CaptureDeps } from './capture.ts';
import { createEvidenceBook } from './book.ts';
import { createEventReader } from './event-reader.ts';
import { keepFacts, readFactsOfLogs } from './facts-from-logs.ts';
import { createReadPool, type ReadPool } from './read-pool.ts';
import { createUntilStored, type UntilStored } from './until-stored.ts';
import type { EvidenceWishes } from './wanted.ts';
import { createFixSuggestions } from './fix-suggestions.ts';
import { createInstalledRedaction } from './installed-redaction.ts';
import type { Term } from '../leadership/index.ts';
import type { UpkeepMetrics } from '../metrics/index.ts';
import type { MonitorSeen, Selection, ClusterCaches } from '../selection/index.ts';
import type { ControllerSettings } from '../settings/settings.ts';
import type { GatheredJob, RowOfRun, JobIntake } from '../reconcilers/job/index.ts';
import { createKnowing, explainRun, type RunToExplain } from './run-explaining.ts';
import { createTakingAgain } from './taking-again.ts';
import { createTemplateKeeping } from './template-keeping.ts';

export interface EvidenceTaking {
  /** The end of the run is about to be written: its messages may wait for evidence. */
  expect(execution: Pick<Execution, 'jobUid' | 'status'>): void;
  /**
   * Takes what is there. A failed run that got its row now is explained when all is taken. What ended in the last minute of a leader before
   * this one is taken and explained once more, for that may have ended over it.
   */
  take(gathered: GatheredJob, execution: Execution | undefined, row: RowOfRun): void;
  /** What memory tells of a run about which more is still being taken; undefined: nothing is. Asked of a run that goes on for too long, it
   * begins to take what may tell why. */
  knownOf(jobUid: string): KnownOfRun | undefined;
  /** Tells when messages that waited for evidence may go. */
  onMessagesCompleted(listener: () => void): void;
  forget(jobUid: string): void;
}

/** A run with a row; `isOwed`: if it failed it is to be explained. */
type EndedRun = Omit<RunToExplain, 'pieces' | 'execution'> & {
  readonly execution: Execution;
  readonly wishes: EvidenceWishes;
  readonly isOwed: boolean;
};

export interface EvidenceTakingDeps {
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
  /** Facts of a run of the CronJob are known now that were not when it was recorded. */
  readonly onFacts: (cronJobUid: string) => void;
  /** Until when a leader before this one was at work; undefined: there was none. */
  readonly workedUntilAt: () => Instant | undefined;
}

/** Events of a run are gone after an hour, and what ended before is no news: it is not read for an explanation. */
const newsMs = 3_600_000;
/** Patterns search the end of a log of so many bytes. */
const searchedLogBytes = 100 * 1024;
const mostExplainedAtOnce = 16;
/** What is learned of many that fail at once is written by a few transactions, which leave the connections to those that record. */
const mostTogether = 100;
const betweenWritesMs = 50;
/** A leader had so much time for what ended before it did. */
const takenWithinMs = 60_000;
/** The transaction that raises an alert about a stuck run has ended by then. */
const stuckAfterMs = 1_000;

const nothing: Omit<KnownOfRun, 'messageWaitMs'> = { attempts: [], place: undefined, fixOf: () => undefined };

/** Takes what is wanted of runs, in the background, and explains those that went wrong by it. */
export function createEvidenceTaking(deps: EvidenceTakingDeps, term: Pick<Term, 'epoch' | 'signal'>): EvidenceTaking {
  const { clock, selection } = deps;
  const { evidence } = deps.settings;
  const redaction = createInstalledRedaction(deps, evidence.redactPatterns, term.signal);
  const book = createEvidenceBook();
  const background = forgiving(deps, term.signal);
  const untilStored = createUntilStored({ isAway: isDatabaseAway, clock, signal: term.signal });
  const pool = createReadPool({ concurrency: evidence.concurrency, perNode: evidence.perNode });
  const capture = captureOf(deps, { term, redaction, book, background, untilStored, pool });
  const templates = createTemplateKeeping({ store: deps.store, epoch: term.epoch, redaction });
  const line = createReadPool({ concurrency: mostExplainedAtOnce, perNode: mostExplainedAtOnce });
  const know = createKnowing(evidence.messageWaitMs);
  const suggest = createFixSuggestions(deps, term.signal);
  /** Runs whose end is being written or explained, and stuck ones that are; the latter stay until they are forgotten. */
  const awaited = new Set<string>();
  const stuck = new Set<string>();
  /** Runs that have ended and were asked for in this term. */
  const taken = new Set<string>();
  /** Runs whose logs were read for facts in this term. */
  const read = new Set<string>();
  const listeners = new Set<() => void>();

  const explainNow = async (run: Omit<RunToExplain, 'pieces'>): Promise<LearnedOfRun> => {
    term.signal.throwIfAborted();
    const pieces = book.take(run.job.uid);
    return untilStored(sizeOf(pieces), async () => {
      await templates.flush();
      return explainRun({ ...run, pieces }, { store: deps.store, suggest });
    });
  };
  const explanations = new Batches<LearnedOfRun>(
    mostTogether,
    async (learned) => {
      term.signal.throwIfAborted();
      const changed = await completeAlerts(deps.store, term.epoch, learned);
      const decisive = learned.flatMap((one) => one.decisive ?? []);
      await putEvidence(deps.store, term.epoch, decisive);
      if (changed > 0) listeners.forEach((tell) => tell());
    },
    () => pauseBetween(clock, term.signal),
  );

  const explain = async (run: Omit<RunToExplain, 'pieces'> & { readonly wishes?: EvidenceWishes }): Promise<void> => {
    const { uid } = run.job;
    try {
      await book.whenQuiet(uid);
      const all = await line.run('', () => explainNow(run), term.signal);
      // A line of a log is kept where the log is.
      const learned = run.wishes?.logs ? all : { ...all, decisive: undefined };
      await untilStored(sizeOf(piecesOf(learned)), () => explanations.add(learned));
    } finally {
      awaited.delete(uid);
    }
  };

  const explainStuck = async (job: JobFacts): Promise<void> => {
    await clock.sleep(stuckAfterMs, term.signal);
    const monitors = selection.monitorsOfUid(job.cronJobUid);
    await explain({ job, pods: deps.intake.pods.podsOf(job.uid), execution: undefined, monitors });
  };

  const isTaken = ({ finishedAt }: Execution): boolean =>
    finishedAt !== undefined && finishedAt < (deps.workedUntilAt() ?? -Infinity) - takenWithinMs;

  const takeFacts = async (job: JobFacts, pods: readonly PodFacts[]): Promise<void> => {
    const { cluster, store } = deps;
    const timeoutMs = evidence.readTimeoutMs;
    const output = await readFactsOfLogs(job, pods, { cluster, pool, clock, timeoutMs, signal: term.signal });
    const isNews = await untilStored(0, () => {
      term.signal.throwIfAborted();
      return keepFacts(store, term.epoch, job.uid, output);
    });
    if (isNews) deps.onFacts(job.cronJobUid);
  };

  /** Resolves when all that its monitors want is taken, and a run that failed is explained, if that is owed. */
  const takeEnded = async (run: EndedRun): Promise<void> => {
    const { job, execution } = run;
    capture.request(run);
    if (execution.status === 'failed' && run.isOwed) return explain(run);
    awaited.delete(job.uid);
    await book.whenQuiet(job.uid);
    if (execution.status !== 'failed') book.forget(job.uid);
  };
  const takeAgain = createTakingAgain<EndedRun>({
    findAwaited: async (runs) => {
      const refs = runs.map(({ job: { uid, cronJobUid } }) => ({ jobUid: uid, cronJobUid }));
      const alerts = await listAlertsOfRuns(deps.store, refs);
      const unexplained = new Set(
        alerts.flatMap(({ jobUid, alert }) => (isExplainedBy(alert, jobUid) ? [] : [jobUid])),
      );
      return new Set(runs.filter(({ job }) => unexplained.has(job.uid)));
    },
    take: takeEnded,
    signal: term.signal,
  });

  /** What a leader had time for is taken once more only where it did not get into the database, which was away. */
  const takeOver = async (run: EndedRun, wasTaken: boolean): Promise<void> => {
    try {
      await takeAgain(run, wasTaken);
    } finally {
      if (wasTaken) awaited.delete(run.job.uid);
    }
  };

  return {
    expect({ jobUid, status }) {
      // Only a failure is explained: a message about a success that took too long waits for nothing.
      if (status === 'failed') awaited.add(jobUid);
    },
    take({ snapshot: { job }, pods, cronJob }, execution, row) {
      const monitors = cronJob ? selection.monitorsOf(cronJob) : [];
      const isFirst = !taken.has(job.uid);
      const isNews = !execution || clock.now() - (execution.finishedAt ?? clock.now()) < newsMs;
      const isOwed = row === 'new' || (isNews && isFirst);
      const wishes = wishesOf(monitors, isNews && isOwed);
      const isUnread = execution?.factsUnknown === true && row !== 'none' && isNews && !read.has(job.uid);
      if (isUnread && isOutputKnown(execution.status, job, pods) && wantsFactsOfLogs(monitors)) {
        read.add(job.uid);
        background('facts of a run', takeFacts(job, pods));
      }
      if (!execution || row === 'none') {
        capture.request({ job, pods, execution, wishes });
        return;
      }
      const wasTaken = row === 'known' && isFirst && isTaken(execution);
      if (wasTaken && !isOwed) {
        awaited.delete(job.uid);
        return;
      }
      taken.add(job.uid);
      const run = { job, pods, execution, monitors, wishes, isOwed };
      if (row === 'new') templates.add(job);
      if (row === 'known' && isFirst) background('evidence of an earlier leader', takeOver(run, wasTaken));
      else background('evidence of a run', takeEnded(run));
      if (row === 'new' && execution.status !== 'failed') background('template of a run', templates.flush());
    },
    knownOf(jobUid) {
      const job = deps.caches.jobs.find(jobUid);
      const isAwaited = awaited.has(jobUid);
      // Its messages wait all the same.
      if (!job) return isAwaited ? { ...nothing, messageWaitMs: evidence.messageWaitMs } : undefined;
      const run = {
        job,
        pods: deps.intake.pods.podsOf(jobUid),
        monitors: selection.monitorsOfUid(job.cronJobUid),
      };
      if (isAwaited) return know(run);
      if (job.outcome !== undefined || stuck.has(jobUid)) return undefined;
      stuck.add(jobUid);
      awaited.add(jobUid);
      capture.requestOfStuck({ job, pods: run.pods, wishes: wishesOf(run.monitors, true) });
      background('explanation of a stuck run', explainStuck(job));
      return know(run);
    },
    onMessagesCompleted: (listener) => void listeners.add(listener),
    forget(jobUid) {
      capture.forget(jobUid);
      stuck.delete(jobUid);
      taken.delete(jobUid);
      read.delete(jobUid);
      if (!awaited.has(jobUid)) book.forget(jobUid);
    },
  };
}

function piecesOf({ log, initLogs, events, attempts, decisive }: LearnedOfRun): readonly Evidence[] {
  return [log, ...initLogs, events, attempts, decisive].filter((piece) => piece !== undefined);
}

/** Characters that they keep in memory. */
function sizeOf(pieces: readonly Evidence[]): number {
  return pieces.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

/**
 * Evidence explains and never decides: without it the run is recorded all the same. What the database does not take for a while is written
 * again; what fails for another reason is given up.
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
        // A piece that the database refuses takes no other with it.
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

/** More gathers meanwhile; a term that ends waits for nothing. */
async function pauseBetween(clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(betweenWritesMs, signal).catch(() => {});
}

/** Whether one of these monitors wants logs read for facts. */
export function wantsFactsOfLogs(monitors: readonly MonitorSeen[]): boolean {
  return monitors.some(({ decoded }) => decoded.ok && decoded.spec.output?.fromLogs === true);
}

/** What can exist only once is kept if one monitor asks; the leading one chooses the container. */
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
