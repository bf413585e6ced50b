import { count, instant, listOf, nullable, object, type Of, seconds, text, words } from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { cronJobStatuses, executionStatuses, executionTriggers, slotOutcomes } from './vocabulary.ts';
import { Pagination } from './wire.ts';

/** A run, or an expected run that came to nothing. */
export const GridCell = object({
  at: instant,
  /** Null = not judged yet, or a run without an expected one. */
  outcome: nullable(words(slotOutcomes)),
  jobName: nullable(text),
  /** From here on null without an ended Job. */
  status: nullable(words(executionStatuses)),
  trigger: nullable(words(executionTriggers)),
  durationSeconds: nullable(seconds),
});
export type GridCell = Of<typeof GridCell>;

const GridLane = object({
  namespace: text,
  name: text,
  status: words(cronJobStatuses),
  verdict: Verdict,
  /** Nothing of the time before it is recorded; null = not known. */
  figuresFrom: nullable(instant),
  /** Oldest first. */
  cells: listOf(GridCell, 200),
  /** Older cells that are left out. */
  omitted: count,
});

/** GET /api/v1/grid */
export const Grid = object('Grid', { from: instant, until: instant, items: listOf(GridLane), pagination: Pagination });
export type Grid = Of<typeof Grid>;

export const gridSortKeys = ['name', 'namespace', 'status'] as const;
