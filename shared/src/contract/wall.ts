import type { RiskLevel } from './tonight.ts';
import type { HealthState, Verdict, Words } from './verdict.ts';
import type { Pagination, Ref, WireInstant } from './wire.ts';

/** How wide a column may be. A day is divided by each of them, so that columns begin at full ones of UTC. */
export const wallSteps = ['2m', '5m', '10m', '15m', '30m', '1h', '3h', '6h', '12h', '24h'] as const;
export type WallStep = (typeof wallSteps)[number];

/** What rows stand together by. */
export const wallGroups = ['namespace', 'owner'] as const;
export type WallGroup = (typeof wallGroups)[number];

export const wallSortKeys = ['status', 'name', 'nextRun'] as const;
export type WallSortKey = (typeof wallSortKeys)[number];

/** What a row has a cell of. `skipped`: not meant to run, or stopped for another run; `unseen`: nothing tells what became of it. */
export const wallOutcomes = ['failed', 'late', 'missed', 'skipped', 'unseen', 'atRisk'] as const;
export type WallOutcome = (typeof wallOutcomes)[number];

/** The runs of one CronJob that were due within a column; a run that no expected run asked for stands where its Job was created. Each run counts once. */
export interface WallCell {
  /** The column, from 0 on. */
  readonly c: number;
  /** Succeeded in time. */
  readonly ok: number;
  readonly failed: number;
  /** Succeeded, and began late. */
  readonly late: number;
  readonly missed: number;
  readonly skipped: number;
  readonly unseen: number;
  readonly running: number;
  /** Expected, and not there yet. */
  readonly due: number;
  /** Whether those that are due may end badly; null: nothing says so, or none is due. */
  readonly risk: RiskLevel | null;
  /** The newest run of the worst kind; null: no Job is known. */
  readonly jobName: string | null;
  /** What the cell holds: `2 runs, 1 failed: DeadlineExceeded after 25 min`. */
  readonly words: Words;
}

export interface WallRow {
  readonly cronjob: Ref;
  /** The namespace, or the owner; null = it has none. */
  readonly group: string | null;
  readonly state: HealthState;
  readonly verdict: Verdict;
  /** It comes more often than each 15 minutes, or than each column where they are narrower: its cells are no single runs. */
  readonly texture: boolean;
  /** Nothing of the time before it is recorded. */
  readonly figuresFrom: WireInstant;
  /** Why no run is to come although time is ahead; null = one is, or nothing tells. */
  readonly note: Words | null;
  /** Columns that have anything, rising. */
  readonly cells: readonly WallCell[];
}

/** GET /api/v1/wall */
export interface Wall {
  readonly from: WireInstant;
  /** What lies before it is recorded, what lies behind it expected. */
  readonly now: WireInstant;
  readonly until: WireInstant;
  readonly stepSeconds: number;
  /** Where each column begins. */
  readonly columns: readonly WireInstant[];
  /** Starts in each column by the schedules as they stand now, of all that the filters find and that is no texture. */
  readonly starts: readonly number[];
  readonly rows: readonly WallRow[];
  readonly pagination: Pagination;
}
