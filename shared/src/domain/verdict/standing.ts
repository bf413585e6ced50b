import type {
  AlertType,
  CronJobStatus,
  ExecutionStatus,
  HealthState,
  Severity,
  VerdictKind,
} from '../../contract/index.ts';
import type { Instant } from '../instant.ts';

/** What the state of a CronJob follows from, and nothing else. */
export interface StandingFacts {
  readonly isDeleted: boolean;
  /** Of its alerts in state active or suppressed; undefined: there is none. */
  readonly worstSeverity: Severity | undefined;
  /** Its last ended scheduled run failed, and no run of any kind succeeded since. */
  readonly hasFailed: boolean;
  /** Its newest judged slot is missed. */
  readonly hasMissed: boolean;
  /** A promise of a monitor is broken by the figures that are shown. */
  readonly hasBrokenTarget: boolean;
  /** A Job of it waits for a cause that does not pass by itself, or an alert is pending. */
  readonly isWaiting: boolean;
  /** Its schedule cannot be evaluated. */
  readonly hasProblem: boolean;
  /** A run is known to have ended. */
  readonly hasRun: boolean;
  readonly isSuspended: boolean;
}

/** Kinds that no alert has. */
export type OwnKind = Exclude<VerdictKind, AlertType>;

interface Standing {
  readonly state: HealthState;
  /** `alert`: the type of its worst one. */
  readonly kind: OwnKind | 'alert';
}

type Row = Standing & { readonly holds: (facts: StandingFacts) => boolean };

/** Below an open alert: the first that holds decides. */
const table: readonly Row[] = [
  { kind: 'lastRunFailed', state: 'failing', holds: ({ hasFailed }) => hasFailed },
  { kind: 'missedLast', state: 'failing', holds: ({ hasMissed }) => hasMissed },
  { kind: 'targetMissed', state: 'failing', holds: ({ hasBrokenTarget }) => hasBrokenTarget },
  { kind: 'waiting', state: 'failing', holds: ({ isWaiting }) => isWaiting },
  { kind: 'notEvaluated', state: 'unknown', holds: ({ hasProblem }) => hasProblem },
  { kind: 'neverRan', state: 'unknown', holds: ({ hasRun }) => !hasRun },
  { kind: 'suspended', state: 'suspended', holds: ({ isSuspended }) => isSuspended },
];

/** State and kind of a CronJob: nothing else decides whether it is well. */
export function standingOf(facts: StandingFacts): Standing {
  if (facts.isDeleted) return { kind: 'deleted', state: 'unknown' };
  if (facts.worstSeverity !== undefined) return { kind: 'alert', state: facts.worstSeverity };
  const row = table.find(({ holds }) => holds(facts));
  return row ? { kind: row.kind, state: row.state } : { kind: 'succeeded', state: 'healthy' };
}

const statuses: Readonly<Record<HealthState, CronJobStatus>> = {
  critical: 'critical',
  warning: 'warning',
  failing: 'warning',
  unknown: 'unknown',
  suspended: 'suspended',
  healthy: 'healthy',
};

/** The specification's word for a state: it has none for `failing`. */
export function statusOf(state: HealthState): CronJobStatus {
  return statuses[state];
}

/**
 * Whether anything good is known of runs of a CronJob: one that was deleted or replaced, or was not seen to end, says nothing. A scheduled
 * failure stands for itself; one by hand that nothing succeeded before makes no CronJob healthy either.
 */
export function hasOutcome(
  lastRun: { readonly status: ExecutionStatus } | undefined,
  lastSuccessAt: Instant | undefined,
): boolean {
  return lastSuccessAt !== undefined || lastRun?.status === 'success';
}
