import type { Db } from '../database.ts';
import { fromJson } from '../column.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import type { Row } from '../ask.ts';

/** Why a message is not wanted any more: reasons of the ledger. */
export type UnwantedReason = 'channelDeleted' | 'clearedBeforeSent' | 'alertingDisabled';

/**
 * Of these messages those that nobody wants any more, with the reason: their channel is gone; what they announce is over and nobody
 * was told, not even of its end; their monitor tells nobody any more. What may have reached its receiver is wanted to its end, closings
 * and tests are wanted always.
 */
export async function listUnwanted(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, UnwantedReason>> {
  const found = await rowsIn(
    db,
    ids.map((id) => db.dialect.id16(toId16(id))),
    (marks) =>
      'select d.id, d.kind, d.maybe_sent, d.alert_id, c.uid as channel, c.deleted_at, a.live_key, m.spec, ' +
      '(select count(*) from deliveries e where e.stream_id = d.stream_id and e.channel_uid = d.channel_uid and e.seq > d.seq ' +
      "and e.kind = 'closing' and e.state in ('ready', 'parked', 'claimed')) as closings " +
      'from deliveries d left join channels c on c.uid = d.channel_uid left join alerts a on a.id = d.alert_id ' +
      `left join monitors m on m.id = a.monitor_id where d.id in (${marks})`,
  );
  const unwanted = new Map<string, UnwantedReason>();
  for (const row of found) {
    const reason = whyUnwanted(row);
    if (reason !== undefined) unwanted.set(db.dialect.id16Text(row['id']), reason);
  }
  return unwanted;
}

function whyUnwanted(row: Row): UnwantedReason | undefined {
  if (row['channel'] === null || row['deleted_at'] !== null) return 'channelDeleted';
  const announces = row['kind'] !== 'closing' && row['kind'] !== 'test' && row['alert_id'] !== null;
  if (!announces || Number(row['maybe_sent']) === 1) return undefined;
  // A closing that waits behind it must not arrive without its opening.
  if (row['live_key'] === null) return Number(row['closings']) > 0 ? undefined : 'clearedBeforeSent';
  const spec = fromJson(row['spec']) as { readonly alerting?: { readonly enabled?: unknown } } | null | undefined;
  return spec?.alerting?.enabled === false ? 'alertingDisabled' : undefined;
}
