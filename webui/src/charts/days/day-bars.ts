/** One UTC day of a stacked chart. */
export interface DayBar {
  /** `2026-11-20`. */
  readonly date: string;
  /** Under the bar. */
  readonly label: string;
  /** From the ground up. */
  readonly parts: readonly {
    readonly kind: 'succeeded' | 'failed' | 'missed' | 'unseen';
    readonly count: number;
  }[];
  /** The rate as a short text under the day; `-` without a run. */
  readonly rate: string;
  /** False before the oldest kept figure: nothing is known of the day. */
  readonly isRecorded: boolean;
  /** Below the target. */
  readonly isBelow: boolean;
}

/** Marks of an axis of counts: zero, the top, and the middle where it is whole. */
export function countTicks(most: number): number[] {
  if (most <= 1) return [0, 1];
  const half = Math.ceil(most / 2);
  return half * 2 === most || most > 8 ? [0, half, half * 2] : [0, most];
}
