import type { Instant } from '../instant.ts';

/** What decides from when on a monitor judges a CronJob: facts of the cluster, never the clock at which the service looked. */
interface WatchFacts {
  /** Of the first of all monitors of this namespace and name that count as one. */
  readonly monitorCreatedAt: Instant;
  readonly cronJobCreatedAt: Instant;
  /** Since when it is selected without a break; undefined: ever since both of them are there. */
  readonly selectedSinceAt: Instant | undefined;
}

/**
 * A run is news for a monitor when it ended at or after this instant, an expected run when it was due then or later. What was before is
 * history: recorded and counted, and told of to no channel by itself.
 */
export function judgesFromAt({ monitorCreatedAt, cronJobCreatedAt, selectedSinceAt }: WatchFacts): Instant {
  return Math.max(monitorCreatedAt, cronJobCreatedAt, selectedSinceAt ?? -Infinity);
}

/** So long after it was deleted a monitor of the same namespace and name counts as the same one. */
export const madeAnewWithinMs = 600_000;

/**
 * Whether a monitor goes on with what another object of its namespace and name has left. `goneAt`: when that was deleted; undefined: the
 * service did not see it go, so that it may have gone a moment before. A watch that goes on tells of a run without need rather than not at all,
 * and of what is told already not once more.
 */
export function isMadeAnew(createdAt: Instant, goneAt: Instant | undefined): boolean {
  return goneAt === undefined || createdAt - goneAt <= madeAnewWithinMs;
}

/** Who wrote something of an object when: an entry of `metadata.managedFields`. */
export interface FieldWrite {
  readonly at: Instant;
  readonly fields: readonly string[];
  /** Its writer owns nothing else of the object: it wrote these fields then, and not only something beside them. */
  readonly isAlone?: boolean | undefined;
}

/** An object that changed, as its watch tells of it. */
export interface Changed<T> {
  readonly before: T;
  readonly item: T;
}

/** How the news of a change came. */
export interface NewsOfChange {
  readonly receivedAt: Instant;
  /** Undefined: on a live watch. Else it may have changed at any time since. */
  readonly unwatchedSinceAt: Instant | undefined;
}

/** Who wrote an object, as it was before the change and as it is after it. */
interface Writes {
  readonly before: readonly FieldWrite[];
  readonly after: readonly FieldWrite[];
}

/**
 * When fields of an object changed: when the manager that owns one of them wrote it, if that write is new. Else at the receipt on a live
 * watch, and after a gap where the gap begins, since a run that is told of without need is better than one that is not told. The write
 * comes first because the news of it can be late on a watch that lives. In whole seconds, as Kubernetes tells when a run ended: what ended
 * in the same second counts as later.
 */
export function instantOfWrite(
  changed: readonly string[],
  { before, after }: Writes,
  { receivedAt, unwatchedSinceAt }: NewsOfChange,
): Instant {
  const isNew = (write: FieldWrite): boolean =>
    unwatchedSinceAt === undefined
      ? !before.some(({ at, fields }) => at === write.at && isSameList(fields, write.fields))
      : write.at >= wholeSecond(unwatchedSinceAt);
  const owners = after.filter(
    (write) => write.at <= receivedAt && isNew(write) && changed.some((field) => write.fields.includes(field)),
  );
  if (owners.length > 0) return Math.max(...owners.map(({ at }) => at));
  return wholeSecond(unwatchedSinceAt ?? receivedAt);
}

/**
 * When a CronJob got the labels that a selector asks for, where that was after its creation: each manager that owns one of them owns labels
 * alone and wrote them later. Undefined: it may have had them from its creation on, so that it counts from there. It is asked of a CronJob that
 * was not seen before it was selected.
 */
export function labelledSince(
  keys: readonly string[],
  writes: readonly FieldWrite[],
  createdAt: Instant,
): Instant | undefined {
  const instants = keys.flatMap((key) => {
    const owners = writes.filter(({ fields }) => fields.includes(key));
    const isLater = owners.length > 0 && owners.every(({ at, isAlone }) => isAlone === true && at > createdAt);
    return isLater ? [Math.min(...owners.map(({ at }) => at))] : [];
  });
  return instants.length === 0 ? undefined : Math.max(...instants);
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

const wholeSecond = (at: Instant): Instant => Math.floor(at / 1_000) * 1_000;
