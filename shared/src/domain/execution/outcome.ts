import type { Instant } from '../instant.ts';

export type JobOutcome = 'success' | 'failed';

/** One condition of a Job's status. */
export interface JobCondition {
  readonly type: string;
  /** Its status is True. */
  readonly holds: boolean;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** `lastTransitionTime`. */
  readonly sinceAt: Instant | undefined;
}

/** What a Job's conditions say. Counts of pods never enter: a pod that failed and was retried is not a failed run. */
interface JobVerdict {
  readonly outcome: JobOutcome | undefined;
  /** Completion time of a Complete Job, last transition of a Failed one, its begin where no time was written; undefined when neither holds. */
  readonly endedAt: Instant | undefined;
  /** Set while the end is decided and pods are still ending: not an outcome yet. */
  readonly decidedAs: JobOutcome | undefined;
  /** Since when the end was decided, of a Job that has ended since too: between the two its pods were ending. */
  readonly decidedAt: Instant | undefined;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly suspended: boolean;
}

const terminal = new Map<string, JobOutcome>([
  ['Complete', 'success'],
  ['Failed', 'failed'],
]);
const deciding = new Map<string, JobOutcome>([
  ['SuccessCriteriaMet', 'success'],
  ['FailureTarget', 'failed'],
]);

/**
 * Judges a Job by its conditions alone. `Complete` and `Failed` end it; `SuccessCriteriaMet` and `FailureTarget` say how it will end
 * once its pods are gone. https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions
 */
export function judgeConditions(
  conditions: readonly JobCondition[],
  { begunAt, completedAt }: { readonly begunAt: Instant; readonly completedAt: Instant | undefined },
): JobVerdict {
  const suspended = conditions.some(({ type, holds }) => holds && type === 'Suspended');
  const decided = conditions.find(({ type, holds }) => holds && deciding.has(type));
  const decidedAt = decided?.sinceAt;
  const ended = conditions.find(({ type, holds }) => holds && terminal.has(type));
  if (ended) {
    const outcome = terminal.get(ended.type);
    // A controller of another kind may leave the times out; a failure without one would be no news to any monitor.
    const endedAt = (outcome === 'success' ? completedAt : undefined) ?? ended.sinceAt ?? begunAt;
    const { reason, message } = ended;
    return { outcome, endedAt, decidedAs: undefined, decidedAt, reason, message, suspended: false };
  }
  return {
    outcome: undefined,
    endedAt: undefined,
    decidedAs: decided && deciding.get(decided.type),
    decidedAt,
    reason: decided?.reason,
    message: decided?.message,
    suspended,
  };
}

/** From start to end in milliseconds, never negative; undefined when either is unknown. Kubernetes writes whole seconds. */
export function elapsedMs(startedAt: Instant | undefined, endedAt: Instant | undefined): number | undefined {
  if (startedAt === undefined || endedAt === undefined) return undefined;
  return Math.max(0, endedAt - startedAt);
}
