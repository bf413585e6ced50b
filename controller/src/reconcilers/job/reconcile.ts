import {
  type Execution,
  type Instant,
  canonicalJobName,
  judgeVanished,
  slotOf,
  toExecution,
  type SlotClaim,
} from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import { mostRunsAtOnce } from '@cronjob-monitor/shared/store';
import type { ComeBack } from '../../runtime/index.ts';
import { gatherJob, type GatheredJob, type JobSources, endedUnwatched, withOtherEnds } from './gather.ts';
import type { JobRecords } from './record.ts';

interface JobReconcilerDeps {
  readonly sources: JobSources;
  readonly records: JobRecords;
  readonly clock: Clock;
  /** When this process began to see everything. */
  readonly watchingSinceAt: Instant;
  /** Whether a run due then is left out of the SLA by a window of its monitors. */
  readonly inMaintenance: (cronJobUid: string, at: Instant) => boolean;
  /** Whether a monitor wants logs of the CronJob read for facts. */
  readonly factsFromLogs: (cronJobUid: string) => boolean;
  /** The end of the run is about to be written: messages about it may wait for its evidence. */
  readonly expectEvidence: (execution: Execution) => void;
  /** Logs, events and pods of a run may be taken now; returns at once. */
  readonly captureEvidence: (gathered: GatheredJob, conclusion: Conclusion, row: RowOfRun) => void;
  /**
   * The end of the run is written, or it is not asked for: its last state need not be kept. `isUntold`: its pods have not told how it
   * ended, and may yet. Answers until when they may.
   */
  readonly release: (gathered: GatheredJob, isUntold: boolean) => ComeBack;
  /** What runs of these CronJobs said of their output is known now, and was not when they were recorded. */
  readonly onFacts: (cronJobUids: readonly string[]) => void;
  /** Why runs of these CronJobs failed is known now, and was not when they were recorded. */
  readonly onCompleted: (cronJobUids: readonly string[]) => void;
  readonly onRecorded: (runs: readonly RecordedRun[]) => void;
  /** Told which gone Jobs wait for a newer Job of their CronJob to appear, and which do no longer. */
  readonly onUndecided: (cronJobUid: string, jobUid: string, isUndecided: boolean) => void;
}

/** Whether a run has a row: it got it now, had it before, or has none yet. */
export type RowOfRun = 'new' | 'known' | 'none';

/** A run that got its row now. */
export interface RecordedRun {
  readonly execution: Execution;
  /** It ended before any monitor judged its CronJob. */
  readonly isHistory: boolean;
}

/** A CronJob's row is written by its own reconciler; a run that is ahead of it waits so long. */
const orphanAgainMs = 1_000;
/** A Job may be seen before the CronJob that made it; after so long it is no longer expected. */
const ownerWithinMs = 60_000;

/**
 * Up to a hundred Jobs: from what the cluster says to one row for each run that ended, one for each that goes on. A second run
 * changes nothing. Answers when to look again, for each UID.
 */
export async function reconcileJobs(
  uids: readonly string[],
  deps: JobReconcilerDeps,
): Promise<ReadonlyMap<string, ComeBack>> {
  const together = withOtherEnds(uids, deps.sources, mostRunsAtOnce);
  try {
    return await reconcileTogether(uids, together, deps);
  } catch (error) {
    if (uids.length > 1 || together.uids.length === 1) throw error;
    // A run that cannot be recorded keeps back none of the others of its CronJob.
    return reconcileTogether(uids, { uids, later: [] }, deps);
  }
}

async function reconcileTogether(
  uids: readonly string[],
  together: ReturnType<typeof withOtherEnds>,
  deps: JobReconcilerDeps,
): Promise<ReadonlyMap<string, ComeBack>> {
  const now = deps.clock.now();
  const comeBack = new Map<string, ComeBack>(uids.map((uid) => [uid, undefined]));
  // What is recorded besides has a turn of its own.
  const comeBackAt = (uid: string, at: ComeBack): void => {
    if (comeBack.has(uid)) comeBack.set(uid, at);
  };
  for (const uid of together.later) comeBackAt(uid, now);
  const known = together.uids.flatMap((uid) => gatherJob(uid, deps.sources) ?? []);
  for (const job of known.filter(({ monitored }) => !monitored)) {
    if (awaitsOwner(job, now)) comeBackAt(job.snapshot.job.uid, now + orphanAgainMs);
    else deps.release(job, false);
  }
  const monitored = known.filter((job) => job.monitored);
  if (monitored.length === 0) return comeBack;

  const { concluded, historic } = await concludeAll(monitored, now, deps);
  const ended = concluded.flatMap(({ conclusion }) => (conclusion.kind === 'ended' ? [conclusion.execution] : []));
  for (const execution of ended) deps.expectEvidence(execution);
  const { counted, orphaned, overtaken, factsOf, completedOf } = await deps.records.recordEnded(ended);
  if (factsOf.size > 0) deps.onFacts([...factsOf]);
  if (completedOf.size > 0) deps.onCompleted([...completedOf]);
  deps.onRecorded(counted.map((execution) => ({ execution, isHistory: historic.has(execution.jobUid) })));
  const fresh = new Set(counted.map(({ jobUid }) => jobUid));
  for (const { job, conclusion } of concluded) {
    const { uid } = job.snapshot.job;
    const hasRow = conclusion.kind === 'ended' && !orphaned.has(uid);
    deps.captureEvidence(job, conclusion, fresh.has(uid) ? 'new' : hasRow ? 'known' : 'none');
  }
  const running = concluded.flatMap(({ job, conclusion }) => (conclusion.kind === 'running' ? [job] : []));
  const { orphaned: early, againAt } = await deps.records.recordRunning(running, now);

  for (const { job, conclusion } of concluded) {
    const { uid, cronJobUid } = job.snapshot.job;
    deps.onUndecided(cronJobUid, uid, conclusion.kind === 'undecided');
    if (conclusion.kind === 'undecided') comeBackAt(uid, conclusion.untilAt);
    else if (orphaned.has(uid) || early.has(uid)) comeBackAt(uid, now + orphanAgainMs);
    else if (overtaken.has(uid)) comeBackAt(uid, now);
    else if (conclusion.kind === 'ended') comeBackAt(uid, deps.release(job, isUntold(conclusion.execution)));
    else comeBackAt(uid, againAt.get(uid));
  }
  return comeBack;
}

async function concludeAll(
  jobs: readonly GatheredJob[],
  now: Instant,
  deps: JobReconcilerDeps,
): Promise<{ concluded: { job: GatheredJob; conclusion: Conclusion }[]; historic: ReadonlySet<string> }> {
  const context = await deps.records.readContext(jobs, jobs.filter(mayBeRerun));
  const historic = new Set<string>();
  const concluded = jobs.map((gathered) => {
    const { job } = gathered.snapshot;
    const judgedSinceAt = context.judgedSinceAt(job.cronJobUid);
    if (job.endedAt !== undefined && job.endedAt < (judgedSinceAt ?? Infinity)) historic.add(job.uid);
    const conclusion = conclude(gathered, {
      now,
      watchingSinceAt: deps.watchingSinceAt,
      judgedSinceAt,
      recordedClaims: context.claimsOf(job),
      inMaintenance: (at) => deps.inMaintenance(job.cronJobUid, at),
      factsFromLogs: deps.factsFromLogs(job.cronJobUid),
    });
    return { job: gathered, conclusion };
  });
  return { concluded, historic };
}

function awaitsOwner({ cronJob, snapshot, held }: GatheredJob, now: Instant): boolean {
  // A group is there before its Jobs are: what has none is not watched.
  return (
    cronJob === undefined &&
    !snapshot.job.marks &&
    now - Math.max(snapshot.job.createdAt, held?.seenAt ?? 0) < ownerWithinMs
  );
}

/** What is to be done about one Job. */
type Conclusion =
  | { readonly kind: 'ended'; readonly execution: Execution }
  | { readonly kind: 'running' }
  /** Gone, and only time or a newer Job can tell whether it was replaced. */
  | { readonly kind: 'undecided'; readonly untilAt: Instant };

/** What the Job's surroundings in the store and the monitors say. */
export interface ConclusionContext {
  readonly now: Instant;
  /** When this process began to see everything. */
  readonly watchingSinceAt: Instant;
  /** From when on some monitor judges the CronJob; undefined: it has no row yet. */
  readonly judgedSinceAt: Instant | undefined;
  /** Recorded runs that own the slot this Job names. */
  readonly recordedClaims: readonly SlotClaim[];
  readonly inMaintenance: (at: Instant) => boolean;
  readonly factsFromLogs?: boolean;
}

/** From what the cluster says of a Job to what its record says. Pure: a second look concludes the same. */
export function conclude(gathered: GatheredJob, context: ConclusionContext): Conclusion {
  const { snapshot, pods, siblings } = gathered;
  const { job, gone } = snapshot;
  if (!job.outcome && !gone) return { kind: 'running' };

  const vanishing =
    job.outcome || !gone
      ? undefined
      : judgeVanished(job, gone, siblings, { policy: gathered.cronJob?.policy, now: context.now });
  if (vanishing && 'undecidedUntilAt' in vanishing) return { kind: 'undecided', untilAt: vanishing.undecidedUntilAt };

  const slotAt = slotOf(job);
  const execution = toExecution(job, pods, {
    otherClaims: [...siblings.flatMap(claimOf), ...context.recordedClaims],
    vanished: vanishing && gone ? { status: vanishing.status, at: gone.at } : undefined,
    delayed: endedUnwatched(job.endedAt ?? gone?.at, {
      sinceAt: context.watchingSinceAt,
      judgedSinceAt: context.judgedSinceAt,
    }),
    inMaintenance: context.inMaintenance(slotAt ?? job.createdAt),
    factsFromLogs: context.factsFromLogs,
  });
  return execution ? { kind: 'ended', execution } : { kind: 'running' };
}

/** A watch of pods that was cut brings how they ended later than that of Jobs, which may be gone by then. */
function isUntold({ status, exitCode, reason, jobReason }: Execution): boolean {
  return status === 'failed' && exitCode === undefined && (reason === undefined || reason === jobReason);
}

/** True when another Job may own the slot this one names, so that the store has to be asked: the canonical name always owns it. */
export function mayBeRerun({ snapshot: { job } }: GatheredJob): boolean {
  const slotAt = slotOf(job);
  return slotAt !== undefined && job.name !== canonicalJobName(job.cronJobName, slotAt);
}

function claimOf(job: GatheredJob['snapshot']['job']): SlotClaim[] {
  const slotAt = slotOf(job);
  return slotAt === undefined ? [] : [{ jobUid: job.uid, jobName: job.name, slotAt, createdAt: job.createdAt }];
}
