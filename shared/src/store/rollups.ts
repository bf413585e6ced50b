import { countedDurationMs, counterOf, dayOf, type Execution, type Instant, type RunCounter } from '../domain/index.ts';
import { insertRows } from './ask.ts';
import type { Tx } from './database.ts';

/** A run that enters its day, or leaves it because another takes its place. */
interface CountedRun {
  readonly cronJobId: number;
  readonly createdAt: Instant;
  readonly run: Pick<Execution, 'status' | 'trigger' | 'inMaintenance' | 'durationMs'>;
  /** The run started late after its slot. */
  readonly late: boolean;
  /** -1: the row was replaced. The day's extremes cannot be taken back, so it is marked dirty and computed again. */
  readonly sign: 1 | -1;
}

export const counters: readonly RunCounter[] = ['success', 'failed', 'replaced', 'deleted', 'unobserved', 'manual'];
const columns = [
  'cronjob_id',
  'day',
  ...counters,
  'late',
  'duration_n',
  'duration_sum',
  'duration_min',
  'duration_max',
  'dirty',
] as const;

interface DayDelta {
  readonly cronJobId: number;
  readonly day: number;
  readonly counts: Record<RunCounter, number>;
  late: number;
  durationN: number;
  durationSum: number;
  durationMin: number | undefined;
  durationMax: number | undefined;
  dirty: boolean;
}

/**
 * Moves the counts of the UTC days of these runs, in the transaction that inserted their rows. A sealed day becomes dirty: its
 * sketch is computed again (storage.md section 6).
 */
export async function countRuns(tx: Tx, runs: readonly CountedRun[]): Promise<void> {
  const deltas = [...toDeltas(runs).values()].sort((a, b) => a.cronJobId - b.cronJobId || a.day - b.day);
  const { dialect } = tx;
  const sums = [...counters, 'late', 'duration_n', 'duration_sum'].map(
    (column) => `"${column}" = rollups."${column}" + ${dialect.proposed(column)}`,
  );
  const extremes = (['<', '>'] as const).map((order) => {
    const column = order === '<' ? 'duration_min' : 'duration_max';
    const proposed = dialect.proposed(column);
    return `"${column}" = case when rollups."${column}" is null or ${proposed} ${order} rollups."${column}"
      then ${proposed} else rollups."${column}" end`;
  });
  const dirty = `"dirty" = case when rollups.sealed_at is not null or ${dialect.proposed('dirty')} = 1 then 1
    else rollups."dirty" end`;
  await insertRows(tx, {
    table: 'rollups',
    columns,
    rows: deltas.map(toRow),
    tail: `${dialect.orUpdate(['cronjob_id', 'day'])}${[...sums, ...extremes, dirty].join(', ')}`,
  });
}

function toDeltas(runs: readonly CountedRun[]): Map<string, DayDelta> {
  const deltas = new Map<string, DayDelta>();
  for (const { cronJobId, createdAt, run, late, sign } of runs) {
    const day = dayOf(createdAt);
    const key = `${cronJobId} ${day}`;
    const delta = deltas.get(key) ?? emptyDelta(cronJobId, day);
    deltas.set(key, delta);
    const counter = counterOf(run);
    if (counter !== undefined) delta.counts[counter] += sign;
    if (sign === -1) delta.dirty = true;
    if (late) delta.late += sign;
    const durationMs = countedDurationMs(run);
    if (durationMs === undefined) continue;
    delta.durationN += sign;
    delta.durationSum += sign * durationMs;
    if (sign === -1) continue;
    delta.durationMin = Math.min(delta.durationMin ?? durationMs, durationMs);
    delta.durationMax = Math.max(delta.durationMax ?? durationMs, durationMs);
  }
  return deltas;
}

function emptyDelta(cronJobId: number, day: number): DayDelta {
  return {
    cronJobId,
    day,
    counts: { success: 0, failed: 0, replaced: 0, deleted: 0, unobserved: 0, manual: 0 },
    late: 0,
    durationN: 0,
    durationSum: 0,
    durationMin: undefined,
    durationMax: undefined,
    dirty: false,
  };
}

function toRow(delta: DayDelta): unknown[] {
  return [
    delta.cronJobId,
    delta.day,
    ...counters.map((counter) => delta.counts[counter]),
    delta.late,
    delta.durationN,
    delta.durationSum,
    delta.durationMin,
    delta.durationMax,
    Number(delta.dirty),
  ];
}
