import type { SilenceSortKey } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { StoredSilence } from '@cronjob-monitor/shared/store';
import { endOf } from './present.ts';

const keys: Readonly<Record<SilenceSortKey, (silence: StoredSilence) => Instant>> = {
  endsAt: endOf,
  startsAt: ({ startsAt }) => startsAt,
  createdAt: ({ createdAt }) => createdAt,
};

/** In the order asked for; ties by id. */
export function orderSilences(
  silences: readonly StoredSilence[],
  sort: { readonly key: SilenceSortKey; readonly descending: boolean },
): StoredSilence[] {
  const keyOf = keys[sort.key];
  const sign = sort.descending ? -1 : 1;
  return silences.toSorted((a, b) => sign * (keyOf(a) - keyOf(b)) || (a.id < b.id ? -1 : 1));
}
