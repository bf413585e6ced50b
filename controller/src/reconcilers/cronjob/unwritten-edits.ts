import {
  type Changed,
  changedWords,
  type CronJobFacts,
  type EarlierWords,
  type FieldWrite,
  type Instant,
  instantOfWrite,
  type JudgingWords,
  judgingWordsOf,
  type NamespaceFacts,
  type NewsOfChange,
  sameSpec,
  unwrittenWords,
} from '@cronjob-monitor/shared/domain';

/** A CronJob whose schedule, zone, suspend, policy or deadline was seen to change. */
export interface SpecSighting {
  readonly before: CronJobFacts;
  readonly facts: CronJobFacts;
  /** When the news came. */
  readonly at: Instant;
  /** The watch was silent since then, so the edit may have been made at any time from there on; undefined: it was not. */
  readonly unwatchedSinceAt: Instant | undefined;
}

/** Edits of one CronJob that may wait to be written; beyond them the oldest give way, and their time becomes uncertain. */
const mostOfOne = 50;

/**
 * Keeps specs as they were received until they are written. Due runs depend on the instant of an edit: one that waits for a busy worker or a
 * database must count from its own instant, and one that was taken back in between counts too.
 */
export class SpecSightings {
  readonly #byUid = new Map<string, SpecSighting[]>();

  note(sighting: SpecSighting): void {
    const { uid } = sighting.facts;
    if (sameSpec(sighting.before, sighting.facts)) return;
    const known = this.#byUid.get(uid) ?? [];
    known.push(sighting);
    if (known.length > mostOfOne) known.splice(0, known.length - mostOfOne);
    this.#byUid.set(uid, known);
  }

  /** Oldest first. */
  listOf(uid: string): readonly SpecSighting[] {
    return [...(this.#byUid.get(uid) ?? [])];
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** Told that edits up to this one are written. */
  written(uid: string, last: SpecSighting): void {
    const known = this.#byUid.get(uid) ?? [];
    const left = known.slice(known.indexOf(last) + 1);
    if (left.length === 0) this.#byUid.delete(uid);
    else this.#byUid.set(uid, left);
  }
}

type CronJobs = { valuesIn(namespace: string): Iterable<CronJobFacts> };
type Namespaces = { findByName(namespace: '', name: string): NamespaceFacts | undefined };

/** Remembered changes of one CronJob. */
const mostWordsOfOne = 8;

/**
 * Remembers the annotations of CronJobs and Namespaces from before an edit changed how runs are judged. The annotations in force when a run ended
 * judge it, however late that is, also while the edit is not written. Followers remember them too, since they may have to write them.
 */
export class WordSightings {
  readonly #cronJobs: CronJobs;
  readonly #namespaces: Namespaces;
  readonly #byUid = new Map<string, readonly EarlierWords[]>();

  constructor(caches: { readonly cronJobs: CronJobs; readonly namespaces: Namespaces }) {
    this.#cronJobs = caches.cronJobs;
    this.#namespaces = caches.namespaces;
  }

  /** Oldest first. */
  listOf(uid: string): readonly EarlierWords[] {
    return this.#byUid.get(uid) ?? [];
  }

  /** Earlier annotations that a row which shows those of `seenAt` does not hold, oldest first. */
  listSince(
    cronJob: CronJobFacts,
    row: { readonly words: JudgingWords; readonly earlier: readonly EarlierWords[]; readonly seenAt: Instant },
    now: Instant,
  ): readonly EarlierWords[] {
    const namespace = this.#namespaces.findByName('', cronJob.namespace);
    const writes = [...writesOf(cronJob), ...writesOf(namespace)];
    return unwrittenWords(row, this.listOf(cronJob.uid), { words: judgingWordsOf(cronJob, namespace), writes, now });
  }

  cronJobChanged({ before, item }: Changed<CronJobFacts>, news: NewsOfChange): void {
    const namespace = this.#namespaces.findByName('', item.namespace);
    const words = [judgingWordsOf(before, namespace), judgingWordsOf(item, namespace)] as const;
    this.#note(item.uid, words, { before, item }, news);
  }

  namespaceChanged({ before, item }: Changed<NamespaceFacts>, news: NewsOfChange): void {
    if (changedWords(judgingWordsOf({}, before), judgingWordsOf({}, item)).length === 0) return;
    for (const cronJob of this.#cronJobs.valuesIn(item.name)) {
      const words = [judgingWordsOf(cronJob, before), judgingWordsOf(cronJob, item)] as const;
      this.#note(cronJob.uid, words, { before, item }, news);
    }
  }

  cronJobGone(uid: string): void {
    this.#byUid.delete(uid);
  }

  #note(
    uid: string,
    [words, later]: readonly [JudgingWords, JudgingWords],
    { before, item }: Changed<Pick<CronJobFacts, 'wordWrites'>>,
    news: NewsOfChange,
  ): void {
    const changed = changedWords(words, later);
    if (changed.length === 0) return;
    const known = this.listOf(uid);
    const changedAt = instantOfWrite(changed, { before: writesOf(before), after: writesOf(item) }, news);
    // In the order of arrival.
    const untilAt = Math.max(changedAt, known.at(-1)?.untilAt ?? -Infinity);
    this.#byUid.set(uid, [...known, { untilAt, words }].slice(-mostWordsOfOne));
  }
}

function writesOf(object: Pick<CronJobFacts, 'wordWrites'> | undefined): readonly FieldWrite[] {
  return object?.wordWrites ?? [];
}
