import type { Instant, RunCounter, RunCounts } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { optionalNumber } from '../column.ts';

/** One CronJob's day, as the figures have it. */
export interface StoredDay {
  readonly cronJobId: number;
  readonly day: number;
  readonly counts: RunCounts;
  readonly durationN: number;
  readonly durationSum: number;
  readonly durationMin: number | undefined;
  readonly durationMax: number | undefined;
  readonly sketch: Uint8Array | undefined;
  readonly isSealed: boolean;
  readonly isDirty: boolean;
}

/** What is counted from rows. */
export type Figures = Pick<StoredDay, 'counts' | 'durationN' | 'durationSum' | 'durationMin' | 'durationMax'>;

export const counters: readonly RunCounter[] = ['success', 'failed', 'replaced', 'deleted', 'unobserved', 'manual'];
export const dayKey = ['cronjob_id', 'day'] as const;
/** The columns that a recount writes, in the order of toDayRow. */
export const writtenColumns = [
  ...counters,
  'duration_n',
  'duration_sum',
  'duration_min',
  'duration_max',
  'sketch',
  'sealed_at',
  'dirty',
] as const;
export const daySelection = [...dayKey, ...writtenColumns].map((column) => `"${column}"`).join(', ');

export function toStoredDay(row: Row): StoredDay {
  const sketch = row['sketch'];
  const at = (counter: RunCounter): number => Number(row[counter]);
  return {
    cronJobId: Number(row['cronjob_id']),
    day: Number(row['day']),
    counts: {
      success: at('success'),
      failed: at('failed'),
      replaced: at('replaced'),
      deleted: at('deleted'),
      unobserved: at('unobserved'),
      manual: at('manual'),
    },
    durationN: Number(row['duration_n']),
    durationSum: Number(row['duration_sum']),
    durationMin: optionalNumber(row['duration_min']),
    durationMax: optionalNumber(row['duration_max']),
    sketch: sketch instanceof Uint8Array ? sketch : undefined,
    isSealed: row['sealed_at'] !== null,
    isDirty: Number(row['dirty']) === 1,
  };
}

/** The values of a row, in the order of its key and `writtenColumns`. */
export function toDayRow(
  { cronJobId, day }: StoredDay,
  now: {
    readonly figures: Figures;
    readonly sketch: Uint8Array | undefined;
    readonly sealedAt: Instant | undefined;
    readonly isDirty: boolean;
  },
): unknown[] {
  const { figures, sketch, sealedAt, isDirty } = now;
  return [
    cronJobId,
    day,
    ...counters.map((counter) => figures.counts[counter]),
    figures.durationN,
    figures.durationSum,
    figures.durationMin,
    figures.durationMax,
    sketch === undefined ? null : Buffer.from(sketch),
    sealedAt,
    Number(isDirty),
  ];
}
