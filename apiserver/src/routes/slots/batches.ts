import type { Slot } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { listSlots, type KnownSlot, type SlotFilter, type Store } from '@cronjob-monitor/shared/store';
import { presentDue, presentSlot } from './present.ts';

const dayMs = 86_400_000;
/** Slots of one batch; a schedule has one a minute at most, so that as many never share an instant. */
const batchSize = 500;
/** A span that gives less than this is followed by one twice as long. */
const fewSlots = batchSize / 2;

/** All slots of a filter, in order, with those due and not judged at the newer end. */
export async function* readInBatches(
  store: Store,
  filter: SlotFilter,
  due: readonly Instant[],
  descending: boolean,
): AsyncGenerator<readonly Slot[], void, undefined> {
  const waiting = descending ? due : due.toReversed();
  if (descending) yield waiting.map(presentDue);
  for await (const batch of readKnown(store, filter, descending)) yield batch.map(presentSlot);
  if (!descending) yield waiting.map(presentDue);
}

/** From one end of the window to the other, span by span: what is written meanwhile moves nothing. */
async function* readKnown(store: Store, filter: SlotFilter, descending: boolean): AsyncGenerator<readonly KnownSlot[]> {
  let { since, until } = filter;
  let spanMs = dayMs;
  while (since < until) {
    const span = descending
      ? { since: Math.max(since, until - spanMs), until }
      : { since, until: Math.min(until, since + spanMs) };
    const found = await listSlots(store, { ...filter, ...span }, { descending, page: { limit: batchSize, offset: 0 } });
    const last = found.at(-1);
    const whole = last && found.length === batchSize ? found.filter(({ at }) => at !== last.at) : [];
    if (last && whole.length > 0) {
      // Others may be due at the same instant as the last one: it is read again with them.
      yield whole;
      if (descending) until = last.at + 1;
      else since = last.at;
      continue;
    }
    yield found;
    if (descending) until = span.since;
    else since = span.until;
    if (found.length < fewSlots) spanMs *= 2;
  }
}
