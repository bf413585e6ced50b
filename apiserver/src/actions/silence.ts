import type { Instant, SilenceMatcher } from '@cronjob-monitor/shared/domain';
import {
  findSilence,
  lockSilence,
  newId,
  putSilence,
  updateSilenceEnd,
  type Store,
  type StoredSilence,
} from '@cronjob-monitor/shared/store';
import { conflict, notFound } from '../errors.ts';

/** The wished silence; its first author stays its author. */
export interface SilenceDraft {
  readonly matcher: SilenceMatcher;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly untilResolved: boolean;
  readonly comment: string;
  readonly by: string;
}

/** A draft of a silence that is not stored: `id` belongs to no row. */
export function draftSilence(draft: SilenceDraft, now: Instant, id = newId(now)): StoredSilence {
  const { matcher, startsAt, endsAt, untilResolved, comment, by } = draft;
  return {
    id,
    matcher,
    startsAt,
    endsAt,
    untilResolved,
    comment,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
    endedAt: undefined,
  };
}

/** A silence of an id that is there is the same one again. */
export async function createSilence(store: Store, draft: SilenceDraft, id?: string): Promise<StoredSilence> {
  const silence = draftSilence(draft, store.now(), id);
  await store.transaction((tx) => putSilence(tx, silence));
  return silence;
}

/** Gives a silence that is not over another matcher, span and comment. Throws NOT_FOUND, and CONFLICT for one that is over. */
export async function changeSilence(store: Store, id: string, draft: SilenceDraft): Promise<StoredSilence> {
  return store.transaction(async (tx) => {
    const before = await lockSilence(tx, id);
    if (!before) throw notFound('Silence', id, 'neverSeen');
    const now = tx.now();
    if ((before.endedAt ?? before.endsAt) <= now) throw conflict('The silence is over; make a new one');
    const { createdBy, createdAt } = before;
    const after = { ...draftSilence(draft, now, before.id), createdBy, createdAt };
    await putSilence(tx, after);
    return after;
  });
}

/** Ends a silence now. One that is over stays as it is. Throws NOT_FOUND. */
export async function endSilence(store: Store, id: string): Promise<StoredSilence> {
  await store.transaction((tx) => updateSilenceEnd(tx, id, tx.now()));
  const silence = await findSilence(store, id);
  if (!silence) throw notFound('Silence', id, 'neverSeen');
  return silence;
}
