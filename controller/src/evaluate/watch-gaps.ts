import type { Gap, Instant } from '@cronjob-monitor/shared/domain';
import type { Logger } from '@cronjob-monitor/shared/process';
import {
  findClusterState,
  findOldestWatermark,
  listGenerations,
  listHeartbeats,
  putClusterState,
  type Db,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';

/** What this process has seen of the cluster by itself, when its term begins. */
export interface OwnSight {
  /** Since then it sees everything that happens, and remembers it. */
  readonly sinceAt: Instant;
  /** Spans in which its watches broke so that events may be lost; those of a follower count too. */
  readonly blindSpans: readonly Gap[];
  /** Generation of a CronJob in its cache; undefined: it is not there. */
  readonly generationOf: (cronJobUid: string) => number | undefined;
}

const saveEveryMs = 60_000;

/**
 * Spans in which the service did not watch: between the last leader and us, and where a watch had to list again. They are kept in the
 * database until every CronJob is judged beyond them.
 */
export class WatchGaps {
  readonly #logger: Logger;
  #gaps: readonly KeptGap[];
  #unsaved = true;
  #savedAt = -Infinity;
  readonly #tallies = new Map<string, number>();

  readonly #store: Store;
  readonly #epoch: number;
  readonly #bornAt: Instant | undefined;
  /** Until when a term before this one had seen everything; undefined: there was none. */
  readonly watchedUntilAt: Instant | undefined;

  private constructor(
    of: { readonly store: Store; readonly epoch: number; readonly logger: Logger },
    known: {
      readonly gaps: readonly KeptGap[];
      readonly bornAt: Instant | undefined;
      readonly watchedUntilAt: Instant | undefined;
    },
  ) {
    this.#store = of.store;
    this.#epoch = of.epoch;
    this.#logger = of.logger;
    this.#gaps = known.gaps;
    this.#bornAt = known.bornAt;
    this.watchedUntilAt = known.watchedUntilAt;
  }

  /** Finds the gap before this term, and writes it down before anything is judged. */
  static async open(
    deps: { readonly store: Store; readonly epoch: number; readonly logger: Logger },
    own: OwnSight,
  ): Promise<WatchGaps> {
    const { store, epoch, logger } = deps;
    const kept = toKeptGaps(await findClusterState(store, 'gaps'));
    const watchedUntilAt = latest(kept.watchedThroughAt, await findLastBeat(store, kept.epoch ?? epoch - 1));
    let { gaps } = kept;
    if (watchedUntilAt !== undefined) {
      if (watchedUntilAt < own.sinceAt) {
        const edited = await listEdited(store, own);
        gaps = addGap(gaps, { fromAt: watchedUntilAt, toAt: own.sinceAt, edited });
        logger.warn('the service did not watch the cluster for a while: what can be told of it is told late', {
          fromAt: new Date(watchedUntilAt).toISOString(),
          toAt: new Date(own.sinceAt).toISOString(),
        });
      }
      for (const span of own.blindSpans) {
        const fromAt = Math.max(span.fromAt, watchedUntilAt);
        gaps = addGap(gaps, { fromAt, toAt: span.toAt, edited: undefined });
      }
    }
    const bornAt = watchedUntilAt === undefined ? own.sinceAt : kept.bornAt;
    const opened = new WatchGaps(deps, { gaps, bornAt, watchedUntilAt });
    await store.fenced(epoch, (tx) => opened.#write(tx, kept.watchedThroughAt));
    return opened;
  }

  /** Oldest first. */
  all(): readonly KeptGap[] {
    return this.#gaps;
  }

  /** The time before this database was there; undefined: a release that did not note its beginning made it. */
  beforeBirth(): KeptGap | undefined {
    return this.#bornAt === undefined ? undefined : { fromAt: 0, toAt: this.#bornAt, edited: undefined };
  }

  /** A watch listed again after this span, and events of it may be lost. */
  noteBlind(span: Gap): void {
    this.#gaps = addGap(this.#gaps, { ...span, edited: undefined });
    this.#unsaved = true;
  }

  /** Within a transaction that judges: writes down what is new, and up to when everything was seen; now and then forgets what is settled. */
  async save(tx: Tx, freshThroughAt: Instant, now: Instant): Promise<void> {
    if (!this.#unsaved && now - this.#savedAt < saveEveryMs) return;
    const oldest = this.#gaps.length === 0 ? undefined : await findOldestWatermark(tx);
    if (oldest !== undefined) this.#gaps = this.#gaps.filter(({ toAt }) => toAt > oldest);
    await this.#write(tx, freshThroughAt);
    this.#savedAt = now;
    // Should the transaction be lost, all of it is written again with the next save.
    this.#unsaved = false;
  }

  /** At the end of a term in order: the next leader learns until when all was seen. */
  async handOver(watchedThroughAt: Instant): Promise<void> {
    await this.#store.fenced(this.#epoch, (tx) => this.#write(tx, watchedThroughAt));
  }

  /** Counts what became of expected runs in gaps, for `report`. */
  count(outcome: string, n = 1): void {
    this.#tallies.set(outcome, (this.#tallies.get(outcome) ?? 0) + n);
  }

  /** One line for what was found out about times in which the service did not watch; called when all of it has been looked through. */
  report(): void {
    if (this.#tallies.size === 0) return;
    this.#logger.warn('runs that were due while the service did not watch', Object.fromEntries(this.#tallies));
    this.#tallies.clear();
  }

  async #write(tx: Tx, watchedThroughAt: Instant | undefined): Promise<void> {
    const gaps = this.#gaps.map(({ fromAt, toAt, edited }) => ({ fromAt, toAt, edited: edited ?? null }));
    const marks = { watchedThroughAt: watchedThroughAt ?? null, bornAt: this.#bornAt ?? null };
    await putClusterState(tx, 'gaps', { gaps, ...marks, epoch: this.#epoch });
  }
}

/**
 * The last heartbeat of a leader up to this epoch, less the age of its oldest watch. A later term did not come to write down the gap before
 * it: that it beat proves nothing.
 */
async function findLastBeat(db: Db, throughEpoch: number): Promise<Instant | undefined> {
  const beats = (await listHeartbeats(db)).filter((beat) => beat.leading && (beat.epoch ?? Infinity) <= throughEpoch);
  return beats
    .map(({ beatAt, figures }) => beatAt - oldestWatchMs(figures['watchAgeMs']))
    .reduce<Instant | undefined>(latest, undefined);
}

/** Bookmarks come about every minute: a watch of that age lacks nothing. */
const usualAgeMs = 90_000;

function oldestWatchMs(ages: unknown): number {
  const { Job, CronJob } = (typeof ages === 'object' && ages !== null ? ages : {}) as Record<string, unknown>;
  const oldest = Math.max(typeof Job === 'number' ? Job : 0, typeof CronJob === 'number' ? CronJob : 0);
  return oldest > usualAgeMs ? oldest : 0;
}

/** CronJobs whose spec is not the one that was written down last. */
async function listEdited(db: Db, own: OwnSight): Promise<string[]> {
  const known = await listGenerations(db);
  return known
    .filter(({ uid, generation }) => (own.generationOf(uid) ?? generation) !== generation)
    .map(({ uid }) => uid);
}

function latest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** A span in which the service did not watch, and what changed in it. */
export interface KeptGap extends Gap {
  /** UIDs of CronJobs whose spec was written in it; undefined: unknown which. */
  readonly edited: readonly string[] | undefined;
}

/** What is kept of them, so that a crash in the middle of catching up forgets none. */
interface KeptGaps {
  readonly gaps: readonly KeptGap[];
  /** Up to then everything was seen, as far as was written down. */
  readonly watchedThroughAt: Instant | undefined;
  /** When the first term of this database had seen everything. */
  readonly bornAt: Instant | undefined;
  /** Of the term that wrote it. */
  readonly epoch: number | undefined;
}

/** More than that are run together: then more is shown as not seen, and nothing as missed that was not. */
const mostGaps = 200;
const mostEdited = 2_000;

/** Oldest first; gaps that touch become one. */
export function addGap(gaps: readonly KeptGap[], gap: KeptGap): KeptGap[] {
  if (gap.toAt <= gap.fromAt) return [...gaps];
  const all = [...gaps, gap].sort((a, b) => a.fromAt - b.fromAt);
  const list: KeptGap[] = [];
  for (const next of all) {
    const last = list.at(-1);
    if (last && next.fromAt <= last.toAt) list[list.length - 1] = together(last, next);
    else list.push(next);
  }
  while (list.length > mostGaps) {
    const [first, second] = list.splice(0, 2);
    if (first && second) list.unshift(together(first, second));
  }
  return list;
}

function together(a: KeptGap, b: KeptGap): KeptGap {
  const edited = a.edited && b.edited ? [...new Set([...a.edited, ...b.edited])] : undefined;
  return {
    fromAt: Math.min(a.fromAt, b.fromAt),
    toAt: Math.max(a.toAt, b.toAt),
    edited: edited && edited.length <= mostEdited ? edited : undefined,
  };
}

/** What was kept by this release or an earlier one; anything else counts as nothing. */
export function toKeptGaps(value: unknown): KeptGaps {
  const { gaps, watchedThroughAt, bornAt, epoch } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Record<string, unknown>;
  return {
    gaps: (Array.isArray(gaps) ? gaps : []).flatMap((gap) => toKeptGap(gap) ?? []),
    watchedThroughAt: typeof watchedThroughAt === 'number' ? watchedThroughAt : undefined,
    bornAt: typeof bornAt === 'number' ? bornAt : undefined,
    epoch: typeof epoch === 'number' ? epoch : undefined,
  };
}

function toKeptGap(value: unknown): KeptGap | undefined {
  const { fromAt, toAt, edited } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof fromAt !== 'number' || typeof toAt !== 'number') return undefined;
  const uids = Array.isArray(edited) ? edited.filter((uid) => typeof uid === 'string') : undefined;
  return { fromAt, toAt, edited: uids };
}
