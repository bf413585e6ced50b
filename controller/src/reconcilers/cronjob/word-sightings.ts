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
  /** Set when the watch had not been heard of since: then it may have changed at any time from there on. */
  readonly unwatchedSinceAt: Instant | undefined;
}

/** Edits of one CronJob that wait to be written down; earlier ones give way, and show as uncertain time. */
const mostOfOne = 50;

/**
 * Specs as they were received, until they are written down. What is due depends on the instant of a change: an edit that waits for a busy
 * worker, or for a database that is away, must not count from when it was written, and one that was taken back meanwhile was one.
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

  /** Up to this one they are written. */
  written(uid: string, last: SpecSighting): void {
    const known = this.#byUid.get(uid) ?? [];
    const left = known.slice(known.indexOf(last) + 1);
    if (left.length === 0) this.#byUid.delete(uid);
    else this.#byUid.set(uid, left);
  }
}

type CronJobs = { valuesIn(namespace: string): Iterable<CronJobFacts> };
type Namespaces = { findByName(namespace: '', name: string): NamespaceFacts | undefined };

/** So many changes of one CronJob are remembered. */
const mostWordsOfOne = 8;

/**
 * What CronJobs and their Namespaces were seen to say before they said something else about how runs are judged. A run is judged by what held
 * when it ended, however late that is: it must not wait until the change is written. Followers keep it too, for they may have to write it.
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

  /** What was said before and is not in a row that shows what was said at `seenAt`, oldest first. */
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
    // Their order is that of their coming.
    const untilAt = Math.max(changedAt, known.at(-1)?.untilAt ?? -Infinity);
    this.#byUid.set(uid, [...known, { untilAt, words }].slice(-mostWordsOfOne));
  }
}

function writesOf(object: Pick<CronJobFacts, 'wordWrites'> | undefined): readonly FieldWrite[] {
  return object?.wordWrites ?? [];
}
