import type { Instant } from '../../domain/index.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { rows } from '../ask.ts';
import type { Tx } from '../database.ts';
import { idOrUndefined } from './delivery-record.ts';

const mostRows = 500;

/**
 * Says in the ledger of each message that is due why it does not go out yet: the process has just started, or has not judged everything
 * once. `untilAt` undefined: unknown. Those in `known` were said before. Returns the ids of those that are said now.
 */
export async function recordHeldByGrace(
  tx: Tx,
  of: { readonly untilAt: Instant | undefined; readonly known: ReadonlySet<string> },
): Promise<string[]> {
  const due = await rows(
    tx,
    "select id, alert_id, channel_uid from deliveries where state = 'ready' and priority <= 2 and next_at <= ? and alert_id is not null " +
      `order by id limit ${mostRows}`,
    [tx.now()],
  );
  const fresh = due.filter((row) => !of.known.has(tx.dialect.id16Text(row['id'])));
  await recordDecisions(
    tx,
    fresh.map((row) => ({
      action: 'held',
      reason: 'startupGrace',
      untilAt: of.untilAt,
      alertId: idOrUndefined(tx, row['alert_id']),
      deliveryId: tx.dialect.id16Text(row['id']),
      channelUid: tx.dialect.id16Text(row['channel_uid']),
    })),
  );
  return fresh.map((row) => tx.dialect.id16Text(row['id']));
}
