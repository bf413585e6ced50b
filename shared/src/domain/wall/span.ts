import type { Instant } from '../instant.ts';

/** Columns of one width. Both ends lie on a multiple of it, counted from the epoch. */
export interface WallSpan {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly until: Instant;
  readonly stepMs: number;
}

/** Where each column begins. */
export function columnsOf({ from, until, stepMs }: WallSpan): Instant[] {
  return Array.from({ length: Math.ceil((until - from) / stepMs) }, (_, index) => from + index * stepMs);
}

/** Which column an instant lies in; undefined: none of them. */
export function columnAt({ from, until, stepMs }: WallSpan, at: Instant): number | undefined {
  return at < from || at >= until ? undefined : Math.floor((at - from) / stepMs);
}

/** The column that an instant lies in, as one that begins at a multiple of its width. */
export function floorTo(stepMs: number, at: Instant): Instant {
  return Math.floor(at / stepMs) * stepMs;
}

/** What comes more often than this is a texture: single starts of it would hide all others. */
const textureBelowMs = 15 * 60_000;

/** Whether runs come too often to be told apart in columns of this width. */
export function isTexture(shortestGapMs: number, stepMs: number): boolean {
  return shortestGapMs < Math.min(textureBelowMs, stepMs);
}

/** Starts in each column. Those with one list of slots are counted once. */
export function countStarts(span: WallSpan, lists: Iterable<readonly Instant[]>): number[] {
  const sharing = new Map<readonly Instant[], number>();
  for (const slots of lists) sharing.set(slots, (sharing.get(slots) ?? 0) + 1);
  const counts = columnsOf(span).map(() => 0);
  for (const [slots, cronJobs] of sharing) {
    for (const at of slots) {
      const column = columnAt(span, at);
      if (column !== undefined) counts[column] = (counts[column] ?? 0) + cronJobs;
    }
  }
  return counts;
}
