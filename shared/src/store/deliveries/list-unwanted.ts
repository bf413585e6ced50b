import type { Db } from '../database.ts';
import { fromJson } from '../column.ts';
import { rowsIn } from '../upsert.ts';
import type { Row } from '../ask.ts';
import { afterCause, firstNoticeCause } from './delivery-record.ts';

/** Why a message is not wanted any more: reasons of the ledger. */
export type UnwantedReason = 'channelDeleted' | 'clearedBeforeSent' | 'alertingDisabled' | 'notTold';

/**
 * Of these messages those that are not wanted any more, with the reason: their channel is gone; their monitor names no channel any more; they
 * would page for what is over, or tell it to a channel whose turn comes after others. What may have reached its receiver is wanted to its end, closings and tests are wanted always. An opening
 * that was claimed when its alert ended goes on its way to every other channel: that ended is no reason to be silent. An update is wanted
 * once the message that it completes was sent.
 */
export async function listUnwanted(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, UnwantedReason>> {
  const found = await rowsIn(
    db,
    ids.map((id) => db.dialect.id16(id)),
    (marks) =>
      'select d.id, d.kind, d.cause, d.maybe_sent, d.alert_id, c.uid as channel, c.type as channel_type, c.spec as channel_spec, ' +
      'c.deleted_at, a.live_key, m.spec, ' +
      '(select count(*) from deliveries e where e.stream_id = d.stream_id and e.channel_uid = d.channel_uid and e.seq > d.seq ' +
      "and e.kind = 'closing' and e.state in ('ready', 'parked', 'claimed')) as closings, " +
      '(select count(*) from deliveries o where o.stream_id = d.stream_id and o.channel_uid = d.channel_uid and o.seq < d.seq ' +
      "and o.notify_no = d.notify_no and o.kind <> 'update' and o.state = 'sent') as openings " +
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
  if (row['kind'] === 'update' && Number(row['openings']) === 0) return 'notTold';
  const isOpening = row['kind'] !== 'closing' && row['kind'] !== 'test';
  const announces = (isOpening || row['cause'] === firstNoticeCause) && row['alert_id'] !== null;
  if (!announces || Number(row['maybe_sent']) === 1) return undefined;
  const spec = fromJson(row['spec']) as { readonly alerting?: { readonly enabled?: unknown } } | null | undefined;
  if (spec?.alerting?.enabled === false) return 'alertingDisabled';
  return isOpening && row['live_key'] === null && isInVain(row) ? 'clearedBeforeSent' : undefined;
}

/** A closing that waits behind it must not arrive without its opening. */
function isInVain(row: Row): boolean {
  if (row['cause'] === afterCause) return Number(row['closings']) === 0;
  const spec = fromJson(row['channel_spec']) as { readonly sendRecovered?: unknown } | null | undefined;
  return row['channel_type'] === 'paging' && spec?.sendRecovered !== true && Number(row['closings']) === 0;
}
