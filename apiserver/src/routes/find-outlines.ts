import type { CronJobKind } from '@cronjob-monitor/shared/contract';
import { isGroupName } from '@cronjob-monitor/shared/domain';
import { listOutlines, type CronJobFilter, type CronJobOutline } from '@cronjob-monitor/shared/store';
import { byName } from '../live/ordered-outlines.ts';
import type { RouteDeps } from './deps.ts';
import { isSimilar } from './similar-names.ts';

/**
 * All CronJobs that a filter lets through, by namespace and name; groups of Jobs only where it names their kind. What is kept of the fleet serves; what that does not tell of a CronJob,
 * its monitors and its history, the database is asked for. `similar`: the search finds names that are nearly so as well, of CronJobs that are there.
 */
export async function findOutlines(
  { store, fleet }: Pick<RouteDeps, 'store' | 'fleet'>,
  given: CronJobFilter,
  similar = false,
): Promise<readonly CronJobOutline[]> {
  const filter = { ...given, kinds: given.kinds?.length ? given.kinds : usualKinds };
  if (filter.monitor !== undefined) return (await listOutlines(store, filter)).toSorted(byName);
  const selected = select(await fleet.outlines(), filter, similar);
  if (!filter.includeRemoved) return selected;
  const ids = new Set(selected.map(({ id }) => id));
  const removed = await listOutlines(store, { ...filter, onlyRemoved: true });
  // What was removed between the two questions is in both.
  return [...selected, ...removed.filter(({ id }) => !ids.has(id))].toSorted(byName);
}

const usualKinds: readonly CronJobKind[] = ['CronJob'];

export function kindOf({ name }: Pick<CronJobOutline, 'name'>): CronJobKind {
  return isGroupName(name) ? 'Jobs' : 'CronJob';
}

function select(
  all: readonly CronJobOutline[],
  { namespaces = [], search, kinds = usualKinds }: CronJobFilter,
  similar: boolean,
): readonly CronJobOutline[] {
  const outlines = all.filter((outline) => kinds.includes(kindOf(outline)));
  if (namespaces.length === 0 && search === undefined) return outlines;
  const wanted = new Set(namespaces);
  const part = search?.toLowerCase() ?? ''; // names of Kubernetes are lower case
  const isFound = (outline: CronJobOutline): boolean =>
    similar ? isSimilar(part, outline) : outline.name.includes(part);
  return outlines.filter((outline) => (wanted.size === 0 || wanted.has(outline.namespace)) && isFound(outline));
}
