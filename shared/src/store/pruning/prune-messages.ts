import type { Instant } from '../../domain/index.ts';
import { change, firstRow, marks, rows } from '../ask.ts';
import { leastId, instantOfId } from '../id16.ts';
import type { Store } from '../database.ts';
import type { Batches } from './batches.ts';
import { openDeliveryStates } from './prune-alerts.ts';

const dayMs = 86_400_000;
const isOver = `state not in ${openDeliveryStates}`;

/**
 * Drops the payloads of messages that ended before `endedBefore`, and removes channel tests of that age. Messages of a live alert keep
 * theirs: later ones name it in their threads. Nothing before `from` is looked at. Ids begin with the instant they were made, so days are
 * ranges of the key.
 */
export async function pruneMessages(
  store: Store,
  batches: Batches,
  wanted: { readonly from: Instant; readonly endedBefore: Instant },
): Promise<{ payloads: number; tests: number }> {
  const { endedBefore } = wanted;
  const removed = { payloads: 0, tests: 0 };
  const oldest = await firstRow(store, 'select id from deliveries order by id limit 1');
  if (!oldest) return removed;
  const begin = Math.max(wanted.from, instantOfId(store.dialect.id16Text(oldest['id'])));
  for (let dayAt = begin; dayAt < endedBefore; dayAt += dayMs) {
    const range = [dayAt, Math.min(dayAt + dayMs, endedBefore)].map((at) => store.dialect.id16(leastId(at)));
    const where = `id >= ? and id < ? and ended_at < ? and ${isOver}`;
    const bindings = [...range, endedBefore];
    removed.tests += await batches.repeat(async (tx, limit) =>
      change(tx, tx.dialect.deleteBatch({ table: 'deliveries', where: `${where} and kind = 'test'`, limit }), bindings),
    );
    removed.payloads += await batches.repeat(
      async (tx, limit) => {
        const found = await rows(
          tx,
          `select id from deliveries where ${where} and payload is not null and not exists (select 1 from alerts a
             where a.id = deliveries.alert_id and a.ended_at is null) limit ${limit}`,
          bindings,
        );
        const ids = found.map((row) => row['id']);
        if (ids.length === 0) return 0;
        await change(tx, `update deliveries set payload = null where id in (${marks(ids)}) and ${isOver}`, ids);
        return ids.length;
      },
      { most: 500 },
    );
    if (!batches.completed) return removed;
  }
  return removed;
}

/** Removes ended messages that belong to no alert, such as digests, and decisions whose alert is gone, of before `before`. */
export async function pruneLooseEnds(
  store: Store,
  batches: Batches,
  before: Instant,
): Promise<{ deliveries: number; decisions: number }> {
  const deliveries = await batches.repeat(async (tx, limit) => {
    const where = `id < ? and ended_at < ? and ${isOver} and not exists (select 1 from alerts where alerts.id = deliveries.alert_id)`;
    return change(tx, tx.dialect.deleteBatch({ table: 'deliveries', where, limit }), [
      store.dialect.id16(leastId(before)),
      before,
    ]);
  });
  const decisions = await batches.repeat(async (tx, limit) => {
    const where =
      'at < ? and last_at < ? and not exists (select 1 from alerts where alerts.id = alert_decisions.alert_id)';
    return change(tx, tx.dialect.deleteBatch({ table: 'alert_decisions', where, limit }), [before, before]);
  });
  return { deliveries, decisions };
}

/** Removes silences that ended before `before`, at their end or earlier by somebody. */
export async function pruneSilences(batches: Batches, before: Instant): Promise<number> {
  return batches.repeat(async (tx, limit) =>
    change(tx, tx.dialect.deleteBatch({ table: 'silences', where: 'ends_at < ? or ended_at < ?', limit }), [
      before,
      before,
    ]),
  );
}
