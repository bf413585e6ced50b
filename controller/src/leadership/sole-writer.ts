import type { Clock } from '@cronjob-monitor/shared/process';

/** The last beat of a process that leads, or led until it ended without a word. */
export interface LastBeat {
  readonly holder: string;
  readonly beatAt: number;
}

/**
 * Whether another process writes to the same file: its beat goes on while we look. One that ended without a word leaves a beat that
 * does not move, and is waited for no longer than it takes to tell. Two processes that took the file from each other in turn would
 * record nothing.
 */
export async function findOtherWriter(
  deps: {
    /** The newest beat of any other process that said it leads; undefined: none. */
    readonly readBeat: () => Promise<LastBeat | undefined>;
    readonly clock: Clock;
    /** A beat is written every third of it. */
    readonly leaseMs: number;
  },
  signal: AbortSignal,
): Promise<LastBeat | undefined> {
  const { clock, leaseMs } = deps;
  const first = await deps.readBeat();
  if (!first || clock.now() - first.beatAt > leaseMs) return undefined;
  const until = clock.monotonicMs() + leaseMs / 2;
  while (clock.monotonicMs() < until) {
    await clock.sleep(leaseMs / 30, signal);
    const latest = await deps.readBeat();
    if (!latest) return undefined;
    if (latest.holder !== first.holder || latest.beatAt > first.beatAt) return latest;
  }
  return undefined;
}
