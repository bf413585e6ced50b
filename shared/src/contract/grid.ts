import type { CronJobStatus, ExecutionStatus, ExecutionTrigger, SlotOutcome } from './vocabulary.ts';
import type { Verdict } from './verdict.ts';
import type { Page, WireInstant } from './wire.ts';

/** A run, or an expected run that came to nothing. */
export interface GridCell {
  readonly at: WireInstant;
  /** Null = not judged yet, or a run without an expected one. */
  readonly outcome: SlotOutcome | null;
  readonly jobName: string | null;
  /** From here on null without an ended Job. */
  readonly status: ExecutionStatus | null;
  readonly trigger: ExecutionTrigger | null;
  readonly durationSeconds: number | null;
}

export interface GridLane {
  readonly namespace: string;
  readonly name: string;
  readonly status: CronJobStatus;
  readonly verdict: Verdict;
  /** Nothing of the time before it is recorded; null = not known. */
  readonly figuresFrom: WireInstant | null;
  /** Oldest first. */
  readonly cells: readonly GridCell[];
  /** Older cells that are left out. */
  readonly omitted: number;
}

/** GET /api/v1/grid */
export interface Grid extends Page<GridLane> {
  readonly from: WireInstant;
  readonly until: WireInstant;
}

export const gridSortKeys = ['name', 'namespace', 'status'] as const;
export type GridSortKey = (typeof gridSortKeys)[number];
