import { isEdge, type Instant, type Judged, type Part } from '@cronjob-monitor/shared/domain';
import type { DueWish } from '@cronjob-monitor/shared/store';
import { typesAskedBy } from './part.ts';

/** Kinds of rows of `due` that verdicts ask for; that of slots belongs to the ledger. */
const dueKinds = { 'dead-man-switch': 'presence', 'stuck-job-check': 'finishBy' } as const;

/**
 * When each monitor's verdicts may change by time alone. Runs that go on are no rows here: they are in memory, few, and looked through
 * at each tick. `forgetAt`: when what is open about a group of Jobs is let go.
 */
export function dueWishesOf(
  of: { readonly cronJobId: number; readonly monitorId: number },
  judged: readonly Judged[],
  parts: ReadonlySet<Part>,
  forgetAt?: Instant,
): DueWish[] {
  const wishes: DueWish[] = [];
  if (parts.has('deadMan')) {
    const changesAt = earliest(judged.filter(({ type }) => ofPresence.includes(type)));
    const at = Math.min(changesAt ?? Infinity, forgetAt ?? Infinity);
    wishes.push({ ...of, kind: dueKinds['dead-man-switch'], at: at === Infinity ? undefined : at });
  }
  if (parts.has('finishBy')) {
    wishes.push({
      ...of,
      kind: dueKinds['stuck-job-check'],
      at: earliest(judged.filter(({ subject }) => subject === 'finishBy')),
    });
  }
  return wishes;
}

/** What did not come is counted by the ledger; all else that the tick asks about is a matter of time. */
const ofPresence = typesAskedBy('dead-man-switch').filter((type) => !isEdge(type));

function earliest(judged: readonly Judged[]): Instant | undefined {
  const instants = judged.flatMap(({ verdict }) => (verdict.kind === 'holds' ? [] : (verdict.dueAt ?? [])));
  return instants.length === 0 ? undefined : Math.min(...instants);
}
