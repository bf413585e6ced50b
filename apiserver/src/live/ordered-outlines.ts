import { type Ref, refText } from '@cronjob-monitor/shared/contract';
import type { CronJobOutline } from '@cronjob-monitor/shared/store';

/** Outlines in the order of lists, with what finds one of them. Never changed: a newer one takes its place. */
export interface OrderedOutlines {
  /** By namespace and name. */
  readonly all: readonly CronJobOutline[];
  readonly ids: ReadonlySet<number>;
  /** Where the one of a name stands. */
  readonly places: ReadonlyMap<string, number>;
}

/** While a CronJob is made anew two may have its name. */
const severalPlaces = -1;

export function orderOutlines(outlines: readonly CronJobOutline[]): OrderedOutlines {
  const all = outlines.toSorted(byName);
  const places = new Map<string, number>();
  all.forEach((outline, place) => {
    const key = refText(outline);
    places.set(key, places.has(key) ? severalPlaces : place);
  });
  return { all, ids: new Set(all.map(({ id }) => id)), places };
}

/** The same with what was found of these names in the place of all that had them before. */
export function replaceOutlines(
  before: OrderedOutlines,
  sought: readonly Ref[],
  found: readonly CronJobOutline[],
): OrderedOutlines {
  const names = new Set(sought.map(refText));
  const foundOf = Map.groupBy(found, refText);
  const all = [...before.all];
  for (const name of names) {
    const place = before.places.get(name);
    const [outline, namesake] = foundOf.get(name) ?? [];
    if (place === undefined && outline === undefined) continue; // no monitor selects it, before and now
    const isSame = place !== undefined && outline !== undefined && !namesake && all[place]?.id === outline.id;
    if (!isSame) return orderOutlines([...before.all.filter((other) => !names.has(refText(other))), ...found]);
    all[place] = outline;
  }
  return { ...before, all };
}

/** The order of lists. */
export function byName(a: CronJobOutline, b: CronJobOutline): number {
  return byText(a.namespace, b.namespace) || byText(a.name, b.name) || a.id - b.id;
}

/** Names are ASCII: code units are code points. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
