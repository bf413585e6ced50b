import {
  earliest,
  slotOf,
  type CronJobFacts,
  type Gap,
  type Instant,
  type JobFacts,
  type JobSnapshot,
  type LedgerFacts,
  type ScheduledRun,
  canonicalJobName,
  type Execution,
  type UnseenRun,
} from '@cronjob-monitor/shared/domain';
import type { LedgerRun, StoredLedger } from '@cronjob-monitor/shared/store';
import type { KeptGap } from './watch-gaps.ts';

/** What the store and the caches know of one CronJob. */
interface KnownOfCronJob {
  readonly ledger: StoredLedger;
  /** Undefined: it is not in the cluster any more. */
  readonly cronJob: CronJobFacts | undefined;
  readonly namespaceDeletingAt: Instant | undefined;
  /** Its Jobs in the cluster, and the last states of those whose end is not recorded. */
  readonly jobs: readonly JobSnapshot[];
  readonly recorded: readonly LedgerRun[];
  readonly gaps: readonly KeptGap[];
  /** The time before the database was there. */
  readonly beforeBirth: KeptGap | undefined;
}

/** A run as the store or the cluster knows it. Who saw its end knows more than who saw it running, or saw its Job deleted. */
interface KnownRun {
  readonly slotAt: Instant | undefined;
  readonly run: Omit<ScheduledRun, 'slotAt'>;
  readonly succeeded: boolean;
  /** Its end as the CronJob's status dates it, where the clock of a node was wrong. */
  readonly toldEndAt?: Instant | undefined;
  readonly rank: number;
}

const rankOf = { recorded: 3, inMemory: 2, provisional: 1 };

/** Joins the runs of the store and of the cluster, and the traces that unseen runs left in the cluster, into the facts of the rule. */
export function toLedgerFacts(
  known: KnownOfCronJob,
  settings: {
    readonly zoneMismatch: boolean;
    readonly graceMs: number;
    readonly skewP99Ms: number;
    readonly defaultZone: string;
    readonly freshThroughAt: Instant;
    readonly mostSlots: number;
  },
): LedgerFacts {
  const { cronJob } = known;
  const ledger = { ...known.ledger, evaluatedThroughAt: beginOf(known) };
  const gaps = known.beforeBirth ? [known.beforeBirth, ...known.gaps] : known.gaps;
  const open = gaps.filter(({ toAt }) => toAt > ledger.evaluatedThroughAt);
  const runs = [
    ...known.recorded.map((run) => ofStore(run, gaps, settings.freshThroughAt)),
    ...known.jobs.map(ofMemory),
  ];
  const starts = oneForEachSlot(runs);
  const lastAt = cronJob?.lastScheduleAt;
  const { evaluatedThroughAt } = ledger;
  // The run of a slot before the watermark may have started after it: late, or by an edit that made the controller look back.
  const startedBy = (slotAt: Instant): Instant => starts.find((run) => run.slotAt === slotAt)?.createdAt ?? slotAt;
  // Where the newest start has no Job, something clears Jobs away, whatever the history limits say.
  const isCleared =
    lastAt !== undefined && lastAt > evaluatedThroughAt && !starts.some(({ slotAt }) => slotAt === lastAt);
  return {
    createdAt: ledger.createdAt,
    deletingAt: earliest(ledger.deletedAt, cronJob?.deletingAt, known.namespaceDeletingAt),
    epochs: ledger.epochs,
    evaluatedThroughAt,
    anchorAt: newest(
      ledger.anchorAt,
      lastAt !== undefined && startedBy(lastAt) <= evaluatedThroughAt ? lastAt : undefined,
    ),
    runs: starts,
    gaps: open,
    traces: cronJob && {
      lastScheduleAt: lastAt,
      lastSuccessAt: ownSuccessAt(cronJob),
      successUnexplained: isUnexplained(ownSuccessAt(cronJob), runs),
      keepsAll: !isCleared && keepsAll(cronJob, known.jobs, open, ledger),
    },
    ...settings,
  };
}

/** An empty database looks this far back for runs that should have come. */
const lookBackMs = 7 * 86_400_000;

/**
 * The instant at which questions begin. Before the database existed only the cluster can tell: slots from before the last start, where Jobs may
 * have been cleared away, slots of long ago, and all slots of a CronJob that stands still are not judged.
 */
function beginOf({ ledger, cronJob, beforeBirth: before, jobs }: KnownOfCronJob): Instant {
  const { evaluatedThroughAt } = ledger;
  if (ledger.wasEvaluated || before === undefined || before.toAt <= evaluatedThroughAt) return evaluatedThroughAt;
  if (cronJob?.suspended) return before.toAt;
  const startAt = cronJob?.lastScheduleAt;
  const showsAll = cronJob !== undefined && keepsAll(cronJob, jobs, [before], ledger);
  const unknownThroughAt = showsAll || startAt === undefined ? -Infinity : startAt - 1;
  return Math.max(evaluatedThroughAt, before.toAt - lookBackMs, Math.min(unknownThroughAt, before.toAt));
}

/**
 * A success within a gap, told by `lastSuccessfulTime`, of which no run and no slot is known: its Job came and went unseen. Undefined: none.
 */
export function unexplainedSuccess(
  facts: LedgerFacts,
  answered: readonly (Instant | undefined)[],
): Instant | undefined {
  const at = facts.traces?.successUnexplained ? facts.traces.lastSuccessAt : undefined;
  if (at === undefined || at <= facts.evaluatedThroughAt || answered.includes(at)) return undefined;
  return facts.gaps.some((gap) => gap.fromAt < at && at <= gap.toAt) ? at : undefined;
}

function ofStore(run: LedgerRun, gaps: readonly Gap[], freshThroughAt: Instant): KnownRun {
  const { scheduledAt, jobName, createdAt, finishedAt, status, recordedAt } = run;
  // A Job that was running when last seen and is gone now went in the last gap before its absence was noticed.
  const wentBy = gaps.findLast(({ toAt }) => toAt <= (recordedAt ?? Infinity))?.toAt ?? recordedAt ?? freshThroughAt;
  const endUnseen = finishedAt === undefined;
  return {
    slotAt: run.trigger === 'scheduled' ? scheduledAt : undefined,
    run: { jobUid: run.jobId16, jobName, createdAt, endedAt: finishedAt ?? wentBy, endUnseen },
    succeeded: status === 'success',
    rank: status === undefined || run.provisional ? rankOf.provisional : rankOf.recorded,
  };
}

function ofMemory({ job, gone }: JobSnapshot): KnownRun {
  const endUnseen = job.outcome === undefined && gone?.seen === false;
  const endedAt = job.outcome === undefined ? gone?.at : (job.endedAt ?? job.createdAt);
  return {
    slotAt: slotOf(job),
    run: { jobUid: job.uid, jobName: job.name, createdAt: job.createdAt, endedAt, endUnseen },
    succeeded: job.outcome === 'success',
    toldEndAt: job.toldEndAt,
    rank: rankOf.inMemory,
  };
}

function oneForEachSlot(runs: readonly KnownRun[]): ScheduledRun[] {
  const bySlot = new Map<Instant, KnownRun>();
  for (const run of runs) {
    if (run.slotAt === undefined) continue;
    const other = bySlot.get(run.slotAt);
    if (!other || isBetter(run, other)) bySlot.set(run.slotAt, run);
  }
  return [...bySlot].map(([slotAt, { run }]) => ({ ...run, slotAt }));
}

/** Of two Jobs that name a slot the older one answers it; of two records of one Job the one that knows more counts. */
function isBetter(run: KnownRun, other: KnownRun): boolean {
  return run.rank === other.rank ? run.run.createdAt < other.run.createdAt : run.rank > other.rank;
}

/** After a re-creation the success may be that of the earlier object: children are found by the name of their owner. */
function ownSuccessAt({ lastSuccessAt, createdAt }: CronJobFacts): Instant | undefined {
  return lastSuccessAt !== undefined && lastSuccessAt >= createdAt ? lastSuccessAt : undefined;
}

function isUnexplained(successAt: Instant | undefined, runs: readonly KnownRun[]): boolean {
  if (successAt === undefined) return false;
  return !runs.some(
    ({ run, succeeded, toldEndAt = run.endedAt }) => (succeeded && toldEndAt === successAt) || run.endUnseen === true,
  );
}

/** Whether the cluster keeps every Job since the oldest of these gaps, unless a person deleted one. */
function keepsAll(
  cronJob: CronJobFacts,
  jobs: readonly JobSnapshot[],
  gaps: readonly KeptGap[],
  ledger: StoredLedger,
): boolean {
  const { policy, ttlAfterFinishedS, successLimit, failureLimit } = cronJob;
  if (policy === 'Replace' || ttlAfterFinishedS !== undefined) return false;
  const count = (outcome: JobFacts['outcome']): number =>
    jobs.filter(({ job, gone }) => !gone && job.outcome === outcome).length;
  if (count('success') >= successLimit || count('failed') >= failureLimit) return false;
  // No edit changed the CronJob in the gap, so its history limits were those of now.
  const unchanged = ledger.epochs.at(-1)?.generation === cronJob.generation;
  return unchanged || gaps.every(({ edited }) => edited && !edited.includes(cronJob.uid));
}

function newest(...instants: (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

type Owner = { readonly uid: string; readonly namespace: string; readonly name: string };

/**
 * The record of a run of which only a trace is left: its Job started for a slot and went while the service did not watch. The record is replaced
 * when the Job appears after all.
 */
export function toUnseenExecution(owner: Owner, run: UnseenRun, inMaintenance: boolean): Execution {
  const { uid, namespace, name } = owner;
  const { slotAt, succeededAt } = run;
  return {
    jobUid: succeededAt === undefined ? `unobserved:${uid}:${slotAt}` : `inferred:${uid}:${succeededAt}`,
    cronJobUid: uid,
    namespace,
    cronJobName: name,
    jobName: canonicalJobName(name, slotAt),
    trigger: 'scheduled',
    scheduledAt: slotAt,
    createdAt: slotAt,
    startedAt: undefined,
    finishedAt: succeededAt,
    durationMs: undefined,
    status: succeededAt === undefined ? 'unobserved' : 'success',
    exitCode: undefined,
    reason: undefined,
    jobReason: undefined,
    attempts: 0,
    failedIndexes: undefined,
    isRetry: false,
    retryOf: undefined,
    node: undefined,
    templateHash: undefined,
    delayed: true,
    inferred: succeededAt !== undefined,
    inMaintenance,
  };
}

/** The record of a success that only `lastSuccessfulTime` tells; its slot, if it had one, is unknown. */
export function toInferredSuccess(owner: Owner, succeededAt: Instant, inMaintenance: boolean): Execution {
  const run = toUnseenExecution(owner, { slotAt: succeededAt, succeededAt }, inMaintenance);
  return { ...run, jobName: owner.name, trigger: 'unmatched', scheduledAt: undefined };
}
