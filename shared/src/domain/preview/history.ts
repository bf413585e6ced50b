import type { ExecutionStatus, ExecutionTrigger, SlotOutcome } from '../../contract/index.ts';
import type { ParentAlert } from '../alert/dependency.ts';
import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import { lateAfterMs } from '../slots/tolerance.ts';
import type { SpecEpoch } from '../slots/epoch.ts';
import type { JudgedSlot } from '../detect/missed-schedule.ts';

/** A run as it is stored. */
export interface PreviewedRun {
  readonly jobUid: string;
  readonly jobName: string;
  readonly trigger: ExecutionTrigger;
  readonly scheduledAt: Instant | undefined;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  /** Undefined: its end was not seen. */
  readonly finishedAt: Instant | undefined;
  readonly status: ExecutionStatus;
  readonly durationMs: number | undefined;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  readonly jobReason: string | undefined;
  readonly fault?: Fault | undefined;
  /** Due in a maintenance window that leaves it out of the SLA. */
  readonly inMaintenance: boolean;
  /** Its facts; undefined: they were never known. */
  readonly values?: ReadonlyMap<string, number> | undefined;
}

/** An expected run that no run answers. */
export interface PreviewedSlot {
  readonly at: Instant;
  readonly outcome: SlotOutcome;
  readonly cause: string | undefined;
  readonly fault?: Fault | undefined;
  /** When the ledger told it. */
  readonly decidedAt: Instant;
}

/** What is stored of one CronJob. Runs and slots in any order; epochs oldest first. */
export interface PreviewedCronJob {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Instant;
  /** IANA; that of the cluster where it names none. */
  readonly timeZone: string;
  readonly runs: readonly PreviewedRun[];
  readonly slots: readonly PreviewedSlot[];
  readonly epochs: readonly SpecEpoch[];
  /** The newest success of any kind that lies before these runs. */
  readonly lastSuccessBeforeAt?: Instant | undefined;
  /** Alerts of the CronJobs that it waits for, the nearest first. Absent: it waits for none. */
  readonly parents?: readonly PreviewedParent[] | undefined;
}

/** An alert as it was, of a CronJob that another waits for. */
export interface PreviewedParent extends ParentAlert {
  readonly fromAt: Instant;
  /** Undefined: it is active still. */
  readonly untilAt: Instant | undefined;
}

/** A slot with the instant from which the ledger told its outcome. */
interface KnownOutcome extends JudgedSlot {
  readonly knownAt: Instant;
}

/** A run that succeeded or failed. */
export interface EndedPreviewRun extends PreviewedRun {
  readonly status: 'success' | 'failed';
  readonly finishedAt: Instant;
}

/** The stored facts of one CronJob in the order in which they came to be known. */
export interface OrderedHistory {
  readonly of: PreviewedCronJob;
  /** By end; those of one second as lists of runs show them. */
  readonly ended: readonly EndedPreviewRun[];
  /** By the instant at which they were known. */
  readonly outcomes: readonly KnownOutcome[];
}

/** `skewP99Ms`: how late the cluster starts Jobs, 99th percentile. */
export function orderHistory(of: PreviewedCronJob, skewP99Ms: number): OrderedHistory {
  const ended = of.runs
    .filter((run): run is EndedPreviewRun => isEnded(run))
    .sort((a, b) => a.finishedAt - b.finishedAt || a.createdAt - b.createdAt || (a.jobUid < b.jobUid ? 1 : -1));
  const lateAfter = lateAfterMs(skewP99Ms);
  const started = of.runs.flatMap(({ scheduledAt: at, createdAt, trigger }): KnownOutcome[] => {
    if (at === undefined || trigger !== 'scheduled') return [];
    return [{ at, outcome: createdAt - at > lateAfter ? 'late' : 'matched', cause: undefined, knownAt: createdAt }];
  });
  const others = of.slots.flatMap(({ at, outcome, cause, decidedAt: knownAt }): KnownOutcome[] =>
    outcome === 'missed' || outcome === 'skippedForbid' || outcome === 'skippedDeadline'
      ? [{ at, outcome, cause, knownAt }]
      : [],
  );
  return { of, ended, outcomes: [...started, ...others].sort((a, b) => a.knownAt - b.knownAt || a.at - b.at) };
}

function isEnded(run: PreviewedRun): boolean {
  return (run.status === 'success' || run.status === 'failed') && run.finishedAt !== undefined;
}
