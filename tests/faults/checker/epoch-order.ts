import assert from 'node:assert/strict';
import type { Store } from '@cronjob-monitor/shared/store';
import { readRows } from '../../store/rows.ts';

/**
 * No row was written with an epoch lower than the highest one at that time (invariant I6). What a leader changes it also writes down as a
 * numbered change; the numbers are given while the epoch is locked, so in their order no epoch may come after a higher one. Returns how
 * many epochs there were.
 */
export async function assertEpochsInOrder(store: Store): Promise<number> {
  const changes = await readRows(store, 'select id, epoch from changes where epoch is not null order by id');
  let highest = 0;
  for (const { id, epoch } of changes) {
    assert.ok(
      Number(epoch) >= highest,
      `change ${String(id)} was written with epoch ${String(epoch)} after ${highest}`,
    );
    highest = Number(epoch);
  }
  const [leader] = await readRows(store, 'select epoch from leader where id = 1');
  assert.ok(highest <= Number(leader?.['epoch']));
  return new Set(changes.map(({ epoch }) => Number(epoch))).size;
}
