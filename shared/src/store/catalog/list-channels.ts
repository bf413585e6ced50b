import type { ChannelType } from '../../contract/index.ts';
import { rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** An AlertChannel as far as monitors refer to it. */
export interface CatalogChannel {
  readonly name: string;
  readonly type: ChannelType;
  readonly ready: boolean;
  readonly reason: string;
}

/** Every channel that exists, by name. There are hundreds at most. */
export async function listChannels(db: Db): Promise<CatalogChannel[]> {
  const found = await rows(
    db,
    'select name, type, ready, reason from channels where deleted_at is null order by name, uid',
  );
  return found.map((row) => ({
    name: String(row['name']),
    type: String(row['type']) as ChannelType,
    ready: Number(row['ready']) === 1,
    reason: String(row['reason']),
  }));
}
