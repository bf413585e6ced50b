import type { Instant } from '../domain/index.ts';
import { change, firstRow } from './ask.ts';
import { optionalNumber, optionalText } from './column.ts';
import type { Db, Store } from './database.ts';

/** Who wrote last as a leader. Epoch 0: none yet. */
interface Leader {
  readonly epoch: number;
  readonly holder: string | undefined;
  readonly sinceAt: Instant | undefined;
}

/**
 * Raises the epoch and takes it: from then on no transaction of an earlier leader can commit (high-availability.md section 3).
 * Waits while one is open, until it ends or is ended by the server. Where the server never ends one, its connection is ended
 * here. Returns the new epoch. Throws `StoreError` `busy` when an earlier leader's transaction stood in the way all the time.
 */
export async function takeEpoch(store: Store, holder: string): Promise<number> {
  await store.dialect.takeover.endOtherConnections(store, holder);
  return store.transaction(async (tx) => {
    await change(tx, `${raiseEpoch} where id = 1`, [holder, store.now()]);
    const row = await firstRow(tx, 'select epoch from leader where id = 1');
    return Number(row?.['epoch']);
  });
}

const raiseEpoch = 'update leader set epoch = epoch + 1, holder = ?, since_at = ?';

/** The same when the epoch is still the one that was seen. Undefined: another process has taken it since. */
export async function takeEpochAfter(store: Store, holder: string, seen: number): Promise<number | undefined> {
  const taken = await change(store, `${raiseEpoch} where id = 1 and epoch = ?`, [holder, store.now(), seen]);
  return taken === 1 ? seen + 1 : undefined;
}

/** The epoch now in force and who took it. */
export async function getLeader(db: Db): Promise<Leader> {
  const row = await firstRow(db, 'select epoch, holder, since_at from leader where id = 1');
  return {
    epoch: Number(row?.['epoch'] ?? 0),
    holder: optionalText(row?.['holder']),
    sinceAt: optionalNumber(row?.['since_at']),
  };
}
