/** Why a tick gives no verdict that depends on time; it is postponed, never skipped. */
export type Postponement =
  /** Not everything was seen yet in this term. */
  | 'notSynced'
  /** Our wall clock moved against the monotonic one: it was set, or the machine slept. */
  | 'clockStepped'
  /** Our clock is far from that of the API server or of the database. */
  | 'clockOff';

export interface ClockReadings {
  readonly synced: boolean;
  /** Of both clocks since the last tick, milliseconds; undefined in the first one. */
  readonly sinceLastTick: { readonly wallMs: number; readonly monotonicMs: number } | undefined;
  /** The API server's `Date` minus our clock, milliseconds; undefined: never heard. */
  readonly serverOffsetMs: number | undefined;
  /** The database's clock minus ours, milliseconds; undefined: never measured, or it has none. */
  readonly databaseOffsetMs: number | undefined;
}

const mostStepMs = 5_000;
const mostOffsetMs = 30_000;

/** Whether the verdicts of a tick must wait (detection.md section 1); undefined: they may be given. */
export function postponementOf(clocks: ClockReadings): Postponement | undefined {
  if (!clocks.synced) return 'notSynced';
  const since = clocks.sinceLastTick;
  if (since && Math.abs(since.wallMs - since.monotonicMs) > mostStepMs) return 'clockStepped';
  const offsets = [clocks.serverOffsetMs ?? 0, clocks.databaseOffsetMs ?? 0];
  return offsets.some(isFarOff) ? 'clockOff' : undefined;
}

/** Whether a clock is so far from ours that verdicts of time must wait; milliseconds. */
export function isFarOff(offsetMs: number): boolean {
  return Math.abs(offsetMs) > mostOffsetMs;
}
