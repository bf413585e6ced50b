import {
  type CronJobKind,
  healthStates,
  type TimelineSortKey,
  type WallSortKey,
} from '@cronjob-monitor/shared/contract';
import { type Instant, isGroupName } from '@cronjob-monitor/shared/domain';
import { type CronJobFilter, type CronJobOutline, listOutlines } from '@cronjob-monitor/shared/store';
import { byName } from '../live/kept-fleet.ts';
import { nextRunOf } from '../next-run.ts';
import type { RouteDeps } from './deps.ts';

/**
 * All CronJobs that a filter lets through, by namespace and name, for pages that tell of the whole fleet at once. What is kept of the fleet
 * serves; the CronJobs of a monitor the database is asked for.
 */
export async function findOutlines(
  { store, fleet }: Pick<RouteDeps, 'store' | 'fleet'>,
  filter: Pick<CronJobFilter, 'namespaces' | 'search' | 'monitor'>,
): Promise<readonly CronJobOutline[]> {
  if (filter.monitor) return (await listOutlines(store, { ...filter, kinds: usualKinds })).toSorted(byName);
  const { namespaces = [], search } = filter;
  const wanted = new Set(namespaces);
  const part = search?.toLowerCase() ?? ''; // names of Kubernetes are lower case
  return (await fleet.outlines()).filter(
    (outline) =>
      kindOf(outline) === 'CronJob' &&
      (wanted.size === 0 || wanted.has(outline.namespace)) &&
      outline.name.includes(part),
  );
}

/** Groups of Jobs are told of only where they are asked for. */
export const usualKinds: readonly CronJobKind[] = ['CronJob'];

export function kindOf({ name }: Pick<CronJobOutline, 'name'>): CronJobKind {
  return isGroupName(name) ? 'Jobs' : 'CronJob';
}

type Key = string | number | undefined;

/** Facts that the next run is computed from. */
interface OrderFacts {
  readonly now: Instant;
  readonly defaultTimeZone: string;
}

const keys: Readonly<Record<TimelineSortKey | WallSortKey, (outline: CronJobOutline, facts: OrderFacts) => Key>> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  status: ({ state }) => healthStates.indexOf(state),
  nextRun: (outline, { now, defaultTimeZone }) => nextRunOf(outline, now, defaultTimeZone),
};

/** These outlines in the order of a key: unknown values last both ways, ties as they were given, which is by namespace and name. */
export function sortOutlines(
  outlines: readonly CronJobOutline[],
  sort: { readonly key: keyof typeof keys; readonly descending: boolean },
  facts: OrderFacts,
): CronJobOutline[] {
  const keyOf = keys[sort.key];
  const keyed = outlines.map((outline) => ({ outline, key: keyOf(outline, facts) }));
  const least = sort.descending ? 1 : -1;
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === b) return 0;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return a < b ? least : -least;
  });
  return keyed.map(({ outline }) => outline);
}
