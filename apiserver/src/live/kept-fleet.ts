import type { Clock } from '@cronjob-monitor/shared/process';
import { type CronJobOutline, listOutlines, type NumberedChange, type Store } from '@cronjob-monitor/shared/store';
import { type Ref, refText } from '@cronjob-monitor/shared/contract';
import { joined } from './joined.ts';
import { type ChangeFollower, createChangeFollower } from './change-follower.ts';

/**
 * Outlines of all CronJobs for the pages that tell of the whole fleet at once, kept between two reads: every change that the database told
 * before a read is in it, for what it speaks of is read again. What changes without being told is seen when all is read anew.
 */
export interface KeptFleet {
  /** All that monitors select, by namespace and name. */
  outlines(): Promise<readonly CronJobOutline[]>;
  /**
   * Facts that follow from the ended runs of each CronJob: the function that is given reads them as `read` does, once and again of those of which
   * a change was told. Undefined: `read` found none. All are read anew every 10 minutes.
   */
  keep<T>(read: ReadFacts<T>): ReadFacts<T | undefined>;
  /** Drops all rows that were read before. */
  forget(): void;
}

/** A fleet that is read in less is read anew each time. */
const leastTookMs = 10;
/** All is read anew after so many times as long as that takes, and after 5 s at most. */
const freshTimes = 100;
const mostFreshMs = 5_000;
/** Facts outlive that while changes are followed: nothing changes them without being told. */
const mostFollowedMs = 60_000;
/** More CronJobs than these are not read by their names: all are. */
const mostNamed = 300;

interface Kept {
  outlines: OrderedOutlines;
  readonly follower: ChangeFollower;
  readonly freshUntilMs: number;
}

export function createKeptFleet({ store, clock }: { readonly store: Store; readonly clock: Clock }): KeptFleet {
  const ofCronJobs: Pick<KeptFacts<unknown>, 'forget' | 'forgetAll'>[] = [];
  let kept: Kept | undefined;
  let tookMs = 0;
  let generation = 0;

  /** All outlines. The place among the changes is taken before: what changes while they are read is read again. */
  async function readAll(before: Kept | undefined, names: Names): Promise<Kept> {
    const follower = before?.follower ?? createChangeFollower(store);
    // A small fleet is not kept, and so has no place to take.
    const isFollowed = tookMs >= leastTookMs;
    if (isFollowed && !before) await follower.next();
    if (!before) for (const kind of ofCronJobs) kind.forgetAll();
    const begunMs = clock.monotonicMs();
    const outlines = orderOutlines(await listOutlines(store, {}));
    const endedMs = clock.monotonicMs();
    tookMs = endedMs - begunMs;
    const freshMs = isFollowed && tookMs >= leastTookMs ? Math.min(mostFreshMs, freshTimes * tookMs) : 0;
    forgetEach(outlines.all.filter(({ namespace, name }) => names.get(namespace)?.has(name)));
    return { outlines, follower, freshUntilMs: endedMs + freshMs };
  }

  /** Reads again what changes speak of. */
  async function catchUp(fleet: Kept, names: Names): Promise<void> {
    const sought = [...names].flatMap(([namespace, ofOne]) => [...ofOne].map((name) => ({ namespace, name })));
    if (sought.length === 0) return;
    const found = await listOutlines(store, {}, sought);
    forgetEach(found);
    fleet.outlines = replaceOutlines(fleet.outlines, sought, found);
  }

  function forgetEach(outlines: readonly CronJobOutline[]): void {
    for (const kind of ofCronJobs) kind.forget(outlines.map(({ id }) => id));
  }

  const look = joined(async (): Promise<Kept> => {
    const begunIn = generation;
    const before = kept;
    kept = undefined; // changes that were taken and not followed are lost with it
    const overMs = before ? clock.monotonicMs() - before.freshUntilMs : mostFollowedMs;
    const names = before && overMs < mostFollowedMs ? namesIn(await before.follower.next()) : undefined;
    let fleet = before;
    if (!fleet || !names) fleet = await readAll(undefined, new Map());
    else if (overMs < 0 && sizeOf(names) <= mostNamed) await catchUp(fleet, names);
    else fleet = await readAll(fleet, names);
    if (generation === begunIn) kept = fleet;
    return fleet;
  });

  return {
    outlines: async () => (await look()).outlines.all,
    keep<T>(read: ReadFacts<T>) {
      const facts = createKeptFacts(clock, read);
      ofCronJobs.push(facts);
      return async (ids) => {
        if (ids.length === 0 || tookMs < leastTookMs) return read(ids);
        const { outlines } = await look();
        return facts.read(ids, (id) => outlines.ids.has(id));
      };
    },
    forget() {
      generation++;
      kept = undefined;
    },
  };
}

/** Names of CronJobs by namespace. */
type Names = ReadonlyMap<string, ReadonlySet<string>>;

function sizeOf(names: Names): number {
  return [...names.values()].reduce((sum, { size }) => sum + size, 0);
}

/** The CronJobs that changes speak of; undefined when one may be about any. */
function namesIn(changes: readonly NumberedChange[]): Names | undefined {
  const names = new Map<string, Set<string>>();
  for (const { kind, data } of changes) {
    if (kind === 'monitor') return undefined;
    if (kind !== 'cronjob' && kind !== 'execution') continue;
    const name = kind === 'cronjob' ? data.name : data.cronJobName;
    const ofNamespace = names.get(data.namespace) ?? new Set();
    names.set(data.namespace, ofNamespace.add(name));
  }
  return names;
}

/** Reads something of CronJobs by their ids; one of which nothing is found is missing. */
type ReadFacts<T> = (ids: readonly number[]) => Promise<ReadonlyMap<number, T>>;

/** Facts of CronJobs, read once while nothing changes. */
interface KeptFacts<T> {
  /** Facts of these, no older than what was forgotten before. Only those of CronJobs that are known are kept. */
  read(ids: readonly number[], isKnown: (id: number) => boolean): Promise<ReadonlyMap<number, T | undefined>>;
  /** They are read again before they are given. */
  forget(ids: readonly number[]): void;
  /** The same of all. */
  forgetAll(): void;
}

/** All are read anew every 10 minutes, and so with each UTC day. */
const allEveryMs = 600_000;

export function createKeptFacts<T>(clock: Clock, read: ReadFacts<T>): KeptFacts<T> {
  /** Counted from 1970. */
  let period: number | undefined;
  let known = new Map<number, T | undefined>();
  /** How many times something was forgotten, and of each CronJob the last time. */
  let times = 0;
  let allForgottenAt = 0;
  const forgottenAt = new Map<number, number>();
  let turn: Promise<unknown> = Promise.resolve();

  async function readMissing(ids: readonly number[], isKnown: (id: number) => boolean): Promise<typeof known> {
    const periodNow = Math.floor(clock.now() / allEveryMs);
    if (period !== periodNow) {
      period = periodNow;
      known = new Map();
    }
    const kept = known;
    const missing = ids.filter((id) => !kept.has(id));
    const facts = new Map(ids.map((id) => [id, kept.get(id)]));
    if (missing.length === 0) return facts;
    const begunAt = times;
    const fresh = await read(missing);
    for (const id of missing) {
      const found = fresh.get(id);
      facts.set(id, found);
      // A row that was forgotten meanwhile may have been read before it changed.
      const isCurrent = Math.max(allForgottenAt, forgottenAt.get(id) ?? 0) <= begunAt;
      if (isCurrent && isKnown(id)) kept.set(id, found);
    }
    return facts;
  }

  return {
    read(ids, isKnown) {
      const asked = turn.then(() => readMissing(ids, isKnown));
      turn = asked.catch(() => {}); // the caller meets the error
      return asked;
    },
    forget(ids) {
      times++;
      for (const id of ids) {
        forgottenAt.set(id, times);
        known.delete(id);
      }
    },
    forgetAll() {
      allForgottenAt = ++times;
      forgottenAt.clear();
      known = new Map();
    },
  };
}

/** Outlines in the order of lists, with what finds one of them. Never changed: a newer one takes its place. */
interface OrderedOutlines {
  /** By namespace and name. */
  readonly all: readonly CronJobOutline[];
  readonly ids: ReadonlySet<number>;
  /** Where the one of a name stands. */
  readonly places: ReadonlyMap<string, number>;
}

/** While a CronJob is made anew two may have its name. */
const severalPlaces = -1;

function orderOutlines(outlines: readonly CronJobOutline[]): OrderedOutlines {
  const all = outlines.toSorted(byName);
  const places = new Map<string, number>();
  all.forEach((outline, place) => {
    const key = refText(outline);
    places.set(key, places.has(key) ? severalPlaces : place);
  });
  return { all, ids: new Set(all.map(({ id }) => id)), places };
}

/** A copy in which the rows found for these names replace all earlier rows of the names. */
function replaceOutlines(
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
