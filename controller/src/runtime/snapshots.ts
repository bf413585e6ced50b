import type { Clock } from '@cronjob-monitor/shared/process';

/** The newest state of one object that has not been committed yet. */
export interface Snapshot<S> {
  readonly state: S;
  /** When this state was seen: epoch milliseconds. */
  readonly seenAt: number;
}

interface SnapshotDeps<S> {
  readonly clock: Clock;
  readonly uidOf: (state: S) => string;
  /** What is to be kept when one more arrives; the very `known` when it says nothing new. */
  readonly next: (known: S | undefined, arrived: S) => S;
  /** The object needs no more watching: it has ended, or is gone. */
  readonly isEnded: (state: S) => boolean;
  /** What ended objects are found by besides, `listEndedOf`: the CronJob of a Job. */
  readonly groupOf?: (state: S) => string;
  /** An ended snapshot was given up because the bound was reached. */
  readonly onDropped: () => void;
  readonly bound?: number;
}

/** Told about ended snapshots: what the spool has to keep, and what it need not keep any more. */
interface SnapshotListener<S> {
  ended(uid: string, snapshot: Snapshot<S>): void;
  forgotten(uid: string): void;
}

/**
 * What is known of each object until it is committed, since the cache may be empty by the time a worker runs: a Job with
 * `ttlSecondsAfterFinished: 0` is gone a moment after its end.
 *
 * What replaces what is the kind's own rule, `next`. An entry leaves after its
 * commit only. At the bound live states go first, for those are still in the cluster; then the oldest ended one, of which
 * only the key remains, and that is counted.
 */
export class Snapshots<S> {
  readonly #deps: SnapshotDeps<S>;
  readonly #bound: number;
  readonly #live = new Map<string, Snapshot<S>>();
  readonly #ended = new Map<string, Snapshot<S>>();
  readonly #endedOf = new Map<string, Set<string>>();
  readonly #listeners = new Set<SnapshotListener<S>>();

  constructor(deps: SnapshotDeps<S>) {
    this.#deps = deps;
    this.#bound = deps.bound ?? 50_000;
  }

  get size(): number {
    return this.#live.size + this.#ended.size;
  }

  /** Ended objects that wait for their commit. */
  get endedCount(): number {
    return this.#ended.size;
  }

  uids(): string[] {
    return [...this.#ended.keys(), ...this.#live.keys()];
  }

  listEnded(): [uid: string, snapshot: Snapshot<S>][] {
    return [...this.#ended];
  }

  /** UIDs of the ended ones of a group, in the order in which they ended first. */
  listEndedOf(group: string): string[] {
    return [...(this.#endedOf.get(group) ?? [])];
  }

  find(uid: string): Snapshot<S> | undefined {
    return this.#ended.get(uid) ?? this.#live.get(uid);
  }

  /** Returns what ends the telling. */
  listen(listener: SnapshotListener<S>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** `seenAt` is given only for what was seen in an earlier life of the process. */
  put(arrived: S, seenAt: number = this.#deps.clock.now()): void {
    const uid = this.#deps.uidOf(arrived);
    const known = this.find(uid);
    const state = this.#deps.next(known?.state, arrived);
    if (known && state === known.state) return;
    const next = { state, seenAt };
    if (!this.#deps.isEnded(state)) {
      if (known || this.#hasRoom()) this.#live.set(uid, next);
      return;
    }
    this.#live.delete(uid);
    if (!this.#ended.has(uid)) this.#makeRoom();
    this.#ended.set(uid, next);
    this.#join(uid, state);
    for (const listener of this.#listeners) listener.ended(uid, next);
  }

  /** After the commit of that very snapshot. False: a newer one came meanwhile, and stays. */
  forget(uid: string, committed: Snapshot<S>): boolean {
    if (this.find(uid) !== committed) return false;
    this.#live.delete(uid);
    this.#dropEnded(uid);
    return true;
  }

  /** A follower lets go of what the leader has had the time to record. */
  forgetSeenBefore(at: number): void {
    for (const [uid, { seenAt }] of this.#ended) if (seenAt < at) this.#dropEnded(uid);
    for (const [uid, { seenAt }] of this.#live) if (seenAt < at) this.#live.delete(uid);
  }

  #hasRoom(): boolean {
    return this.size < this.#bound;
  }

  #makeRoom(): void {
    if (this.#hasRoom()) return;
    const [live] = this.#live.keys();
    if (live !== undefined) {
      this.#live.delete(live);
      return;
    }
    const [oldest] = this.#ended.keys();
    if (oldest === undefined) return;
    // It stays in the spool, if it is there: that is what the spool is for.
    this.#takeOut(oldest);
    this.#deps.onDropped();
  }

  #dropEnded(uid: string): void {
    if (!this.#takeOut(uid)) return;
    for (const listener of this.#listeners) listener.forgotten(uid);
  }

  #join(uid: string, state: S): void {
    const group = this.#deps.groupOf?.(state);
    if (group === undefined) return;
    const members = this.#endedOf.get(group);
    if (members) members.add(uid);
    else this.#endedOf.set(group, new Set([uid]));
  }

  #takeOut(uid: string): boolean {
    const ended = this.#ended.get(uid);
    if (!ended) return false;
    this.#ended.delete(uid);
    const group = this.#deps.groupOf?.(ended.state);
    const members = group === undefined ? undefined : this.#endedOf.get(group);
    members?.delete(uid);
    if (group !== undefined && members?.size === 0) this.#endedOf.delete(group);
    return true;
  }
}
