import type { StreamData } from '@cronjob-monitor/shared/contract';
import { findChangeBounds, listChanges, type NumberedChange, type Store } from '@cronjob-monitor/shared/store';

/** More are not worth telling one by one. */
const mostReplayed = 1_000;
/** Numbers before a cursor that may have committed after it, and within which time. */
const overlap = 50;
const settledAfterMs = 5_000;

/** What a client missed that comes back: the changes after its cursor, or that it has to read all again. */
export type Replay =
  | { readonly changes: readonly NumberedChange[] }
  | { readonly resync: StreamData['resync']['reason'] };

/** Changes after `lastEventId`, and those just before it that may have committed later: each at least once. */
export async function readReplay(store: Store, lastEventId: string): Promise<Replay> {
  if (!/^[0-9]{1,15}$/.test(lastEventId)) return { resync: 'cursorTooOld' };
  const cursor = Number(lastEventId);
  const bounds = await findChangeBounds(store);
  if (!bounds || cursor > bounds.newest || cursor < bounds.oldest - 1) return { resync: 'cursorTooOld' };
  const changes = await listChanges(store, { id: Math.max(0, cursor - overlap), limit: mostReplayed + overlap + 1 });
  const later = changes.filter(({ id }) => id > cursor);
  if (later.length > mostReplayed) return { resync: 'tooManyChanges' };
  const at = changes.find(({ id }) => id === cursor)?.at;
  const before = changes.filter(
    ({ id, at: writtenAt }) => id < cursor && at !== undefined && writtenAt > at - settledAfterMs,
  );
  return { changes: [...before, ...later] };
}
