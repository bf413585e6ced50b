import type { SlotCounts } from './stats.ts';
import type { ExecutionStatus, SlotCause, SlotOutcome } from './vocabulary.ts';
import type { Page, WireInstant } from './wire.ts';

/** One expected run. */
export interface Slot {
  readonly scheduledFor: WireInstant;
  /** Null: due, not judged yet. */
  readonly outcome: SlotOutcome | null;
  readonly cause: SlotCause | null;
  readonly message: string | null;
  readonly inMaintenance: boolean;
  /** From here on null without a Job. */
  readonly jobName: string | null;
  /** Null too while the Job runs. */
  readonly executionStatus: ExecutionStatus | null;
  readonly startedAt: WireInstant | null;
  readonly durationSeconds: number | null;
  /** Job creation - scheduledFor. */
  readonly delaySeconds: number | null;
}

/** GET /api/v1/cronjobs/{namespace}/{name}/slots */
export interface SlotPage extends Page<Slot> {
  /** Runs due before it are judged. */
  readonly evaluatedThrough: WireInstant | null;
  /** All outcomes of the window, whatever the filter `outcome`. */
  readonly summary: SlotCounts;
}

export const slotSortKeys = ['scheduledFor'] as const;
