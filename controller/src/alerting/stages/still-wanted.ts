import { listUnwanted, type ClaimedDelivery, type Store, type UnwantedReason } from '@cronjob-monitor/shared/store';
import { pass, type StageAnswer } from './stage.ts';

/** Asked once for all messages of a claim. */
export function findUnwanted(
  store: Store,
  claimed: readonly ClaimedDelivery[],
): Promise<ReadonlyMap<string, UnwantedReason>> {
  return listUnwanted(
    store,
    claimed.map(({ id }) => id),
  );
}

/** What was cleared, or whose channel or monitor has gone silent, does not go out. */
export function stillWanted(
  delivery: ClaimedDelivery,
  unwanted: ReadonlyMap<string, UnwantedReason>,
): StageAnswer<ClaimedDelivery> {
  const reason = unwanted.get(delivery.id);
  return reason === undefined ? pass(delivery) : { kind: 'cancel', reason };
}
