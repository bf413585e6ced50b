import { healthStates, riskLevels } from './vocabulary.ts';
import { bool, count, instant, int, listOf, nullable, object, type Of, text, words } from './shape/shape.ts';
import { Verdict } from './verdict.ts';
import { Pagination, Ref } from './wire.ts';

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
export const WallCell = object({
  /** The column, from 0 on. */
  c: count,
  /** Succeeded in time. */
  ok: count,
  failed: count,
  /** Succeeded, and began late. */
  late: count,
  missed: count,
  skipped: count,
  unseen: count,
  running: count,
  /** Expected, and not there yet. */
  due: count,
  /** Whether those that are due may end badly; null: nothing says so, or none is due. */
  risk: nullable(words(riskLevels)),
  /** The newest run of the worst kind; null: no Job is known. */
  jobName: nullable(text),
  /** What the cell holds: `2 runs, 1 failed: DeadlineExceeded after 25 min`. */
  words: text,
});
export type WallCell = Of<typeof WallCell>;

/** A span within the wall in which messages about a CronJob are held back, whatever its runs come to. */
export const WallHeld = object({
  from: instant,
  until: instant,
  /** `Silenced by jonas until {at:…}`, `Maintenance until {at:…}`. */
  words: text,
});
export type WallHeld = Of<typeof WallHeld>;

export const WallRow = object({
  cronjob: Ref,
  /** The namespace, or the owner; null = it has none. */
  group: nullable(text),
  state: words(healthStates),
  verdict: Verdict,
  /** It comes more often than each 15 minutes, or than each column where they are narrower: its cells are no single runs. */
  texture: bool,
  /** Nothing of the time before it is recorded. */
  figuresFrom: instant,
  /** Why no run is to come although time is ahead; null = one is, or nothing tells. */
  note: nullable(text),
  /** Silences, and maintenance windows by the rules as they stand now, rising by their beginnings. */
  held: listOf(WallHeld, 200),
  /** Columns that have anything, rising. */
  cells: listOf(WallCell, 200),
});
export type WallRow = Of<typeof WallRow>;

/** GET /api/v1/wall */
export const Wall = object('Wall', {
  from: instant,
  /** What lies before it is recorded, what lies behind it expected. */
  now: instant,
  until: instant,
  stepSeconds: int,
  /** Where each column begins. */
  columns: listOf(instant, 200),
  /** Starts in each column by the schedules as they stand now, of all that the filters find and that is no texture. */
  starts: listOf(count, 200),
  rows: listOf(WallRow, 100),
  pagination: Pagination,
});
export type Wall = Of<typeof Wall>;
