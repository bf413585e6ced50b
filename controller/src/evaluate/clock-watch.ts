import {
  formatDuration,
  isFarOff,
  postponementOf,
  type Postponement,
  type Problem,
} from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';

/** A clock that was set is noticed by the replica that looks first; the others hear of it for so long. */
const toldForMs = 2_000;

/** Whether time-based verdicts may be given now (detection.md section 1). Asked about each second, by several. */
export function createClockWatch(deps: {
  readonly clock: Clock;
  readonly databaseOffsetMs: () => number | undefined;
  /** The API server's `Date` minus our clock. */
  readonly serverOffsetMs: () => number | undefined;
  /** Our wall clock was set by so much: forward, or back with a negative number. */
  readonly onStepped?: ((byMs: number) => void) | undefined;
}): () => Postponement | undefined {
  let last: { readonly wall: number; readonly monotonicMs: number } | undefined;
  let steppedUntilMs = -Infinity;

  return () => {
    const wall = deps.clock.now();
    const monotonicMs = deps.clock.monotonicMs();
    const found = postponementOf({
      synced: true,
      sinceLastTick: last && { wallMs: wall - last.wall, monotonicMs: monotonicMs - last.monotonicMs },
      serverOffsetMs: deps.serverOffsetMs(),
      databaseOffsetMs: deps.databaseOffsetMs(),
    });
    if (found === 'clockStepped') {
      steppedUntilMs = monotonicMs + toldForMs;
      if (last) deps.onStepped?.(Math.round(wall - last.wall - (monotonicMs - last.monotonicMs)));
    }
    last = { wall, monotonicMs };
    return found ?? (monotonicMs < steppedUntilMs ? 'clockStepped' : undefined);
  };
}

/** Problems of clocks so far from ours that verdicts of time wait. Offsets: their clock minus ours, milliseconds. */
export function clockProblems(offsets: {
  readonly serverMs: number | undefined;
  readonly databaseMs: number | undefined;
}): Problem[] {
  const named = [
    ['the API server', offsets.serverMs],
    ['the database', offsets.databaseMs],
  ] as const;
  return named.flatMap(([whose, offsetMs]) => {
    if (offsetMs === undefined || !isFarOff(offsetMs)) return [];
    const far = formatDuration(Math.round(Math.abs(offsetMs) / 1_000) * 1_000);
    const place = offsetMs > 0 ? 'ahead of' : 'behind';
    const sentence = `the clock of ${whose} is ${far} ${place} that of the controller, and nothing is judged by time: set both by NTP`;
    return [{ key: `clock of ${whose}`, cause: 'clockSkewed', sentence, blocks: false }];
  });
}
