import type { DeliveryState } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { firstRow, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';

/** States of messages that may need a person. */
const openDeliveryStates = ['ready', 'claimed', 'parked', 'dead'] as const satisfies readonly DeliveryState[];
type OpenDeliveryState = (typeof openDeliveryStates)[number];

/** How many messages are in each of these states; a drill is no message about anything. */
export async function countOpenDeliveries(db: Db): Promise<Readonly<Record<OpenDeliveryState, number>>> {
  const found = await rows(
    db,
    "select state, count(*) as n from deliveries where state in ('ready', 'claimed', 'parked', 'dead') and kind <> 'drill' group by state",
  );
  const counts = new Map(found.map((row) => [String(row['state']), Number(row['n'])]));
  const of = (state: OpenDeliveryState): number => counts.get(state) ?? 0;
  return { ready: of('ready'), claimed: of('claimed'), parked: of('parked'), dead: of('dead') };
}

/** When the oldest message was made that is due and not sent, drills left out; undefined: there is none. */
export async function findOldestDue(db: Db, at: Instant): Promise<Instant | undefined> {
  const row = await firstRow(
    db,
    "select min(created_at) as oldest from deliveries where state in ('ready', 'claimed') and next_at <= ? and kind <> 'drill'",
    [at],
  );
  return optionalNumber(row?.['oldest']);
}
