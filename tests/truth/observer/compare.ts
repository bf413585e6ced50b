import type { Verdict } from './verdicts.ts';

export interface Difference {
  readonly verdict: Verdict;
  readonly says: string;
}

/** What never left and ended is no verdict: a failure that a success undid within the delay, for example. */
const counts = ({ isTold, ended }: Verdict): boolean => isTold || !ended.startsWith('cancelled');

/** What one observer said otherwise than the calm one of what began until then: what began later may not be judged yet. */
export function differencesOf(
  calm: readonly Verdict[],
  disturbed: readonly Verdict[],
  beganUntilAt: number,
): Difference[] {
  const isOld = ({ openedAt }: Verdict): boolean => openedAt <= beganUntilAt;
  const theirs = groups(disturbed.filter(isOld));
  const differences: Difference[] = [];
  for (const [key, expected] of groups(calm.filter(isOld))) {
    const found = theirs.get(key) ?? [];
    theirs.delete(key);
    for (const [index, verdict] of expected.entries()) {
      const other = found[index];
      if (!other) differences.push({ verdict, says: 'is missing' });
      else if (other.isTold !== verdict.isTold)
        differences.push({ verdict, says: other.isTold ? 'is told, and was not' : 'is not told' });
      else if (!isSameEnd(other.ended, verdict.ended)) differences.push({ verdict, says: `ended: ${other.ended}` });
    }
    for (const verdict of found.slice(expected.length)) differences.push({ verdict, says: 'is said once more' });
  }
  for (const found of theirs.values()) for (const verdict of found) differences.push({ verdict, says: 'is too many' });
  return differences;
}

/**
 * Which run ended it is compared where both say it. Kubernetes does not say when an object was deleted: whether the next one of its name was
 * there by then depends on who looked.
 */
function isSameEnd(one: string, other: string): boolean {
  const [[state, by], [otherState, otherBy]] = [one, other].map((end) =>
    end.replaceAll('cronJobRecreated', 'cronJobDeleted').split(' by '),
  ) as [string[], string[]];
  return state === otherState && (by === undefined || otherBy === undefined || by === otherBy);
}

/** What two databases say together, of which the second took the place of the first: what either told was told. */
export function together(before: readonly Verdict[], after: readonly Verdict[]): Verdict[] {
  const earlier = groups(before);
  const merged = after.map((verdict) => {
    const known = earlier.get(keyOf(verdict));
    if (!known) return verdict;
    earlier.delete(keyOf(verdict));
    return { ...verdict, isTold: verdict.isTold || known.some(({ isTold }) => isTold) };
  });
  return [...[...earlier.values()].flat(), ...merged];
}

export function describe({ verdict: { identity, openedAt, ended, isTold }, says }: Difference): string {
  return `${identity} since ${new Date(openedAt).toISOString()} (${ended}, ${isTold ? 'told' : 'not told'}) ${says}`;
}

function groups(verdicts: readonly Verdict[]): Map<string, Verdict[]> {
  return Map.groupBy(verdicts.filter(counts), keyOf);
}

/** Kubernetes does not say when an object was deleted: since when it is missing depends on who looked. */
function keyOf({ identity, openedAt, subject }: Verdict): string {
  return subject === 'disappeared' ? identity : `${identity} ${openedAt}`;
}
