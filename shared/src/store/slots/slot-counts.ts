import { dayOf, type Instant } from '../../domain/index.ts';
import { insertRows } from '../ask.ts';
import type { Tx } from '../database.ts';
import type { StoredSlot } from './stored-slot.ts';

/** Column of the day's figures that a slot without a run moves. */
const counterOfOutcome = {
  missed: 'missed',
  skippedForbid: 'skipped',
  skippedDeadline: 'skipped',
  suspended: 'suspended',
  unobserved: 'unseen',
  indeterminate: 'unseen',
} as const satisfies Record<StoredSlot['outcome'], string>;

const columns = ['missed', 'skipped', 'suspended', 'unseen'] as const;

/**
 * Moves the counts of the UTC days of these slots, in the transaction that wrote or removed their rows. A missed one in a maintenance window
 * that leaves runs out of the SLA is not counted, as its run would not have been.
 */
export async function countSlots(
  tx: Tx,
  slots: readonly { readonly slot: CountedSlot; readonly sign: 1 | -1 }[],
): Promise<void> {
  const deltas = new Map<string, { readonly cronJobId: number; readonly day: number; readonly counts: number[] }>();
  for (const { slot, sign } of slots) {
    if (slot.outcome === 'missed' && slot.inMaintenance) continue;
    const day = dayOf(slot.at);
    const key = `${slot.cronJobId} ${day}`;
    const delta = deltas.get(key) ?? { cronJobId: slot.cronJobId, day, counts: columns.map(() => 0) };
    deltas.set(key, delta);
    const position = columns.indexOf(counterOfOutcome[slot.outcome]);
    delta.counts[position] = (delta.counts[position] ?? 0) + sign;
  }
  const sums = columns.map((column) => `"${column}" = rollups."${column}" + ${tx.dialect.proposed(column)}`);
  await insertRows(tx, {
    table: 'rollups',
    columns: ['cronjob_id', 'day', ...columns],
    rows: [...deltas.values()]
      .sort((a, b) => a.cronJobId - b.cronJobId || a.day - b.day)
      .map(({ cronJobId, day, counts }) => [cronJobId, day, ...counts]),
    tail: `${tx.dialect.orUpdate(['cronjob_id', 'day'])}${sums.join(', ')}`,
  });
}

type CountedSlot = Pick<StoredSlot, 'cronJobId' | 'outcome' | 'inMaintenance'> & { readonly at: Instant };
