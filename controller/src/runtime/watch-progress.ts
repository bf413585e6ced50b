import type { Clock } from '@cronjob-monitor/shared/process';

/** After a lost event: soon enough for "within 10 s", late enough that a burst of unreadable lines costs one list. */
const relistAfterMs = 5_000;

/** Events of this span may be lost for good: what came and went in it was not seen. Epoch milliseconds. */
export interface BlindSpan {
  readonly fromAt: number;
  readonly toAt: number;
}

/** How far a reflector has come: where the next watch begins, whether a list is needed, and how fresh the cache is. */
export class WatchProgress {
  readonly #clock: Clock;
  #version: string | undefined;
  #broughtNews = false;
  #listDueAtMs: number | undefined;
  #isSynced = false;
  #freshThroughAt: number | undefined;
  #freshAtMs: number;
  /** An event was lost after this; undefined: none since the last list. */
  #lostAfterAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#freshAtMs = clock.monotonicMs();
  }

  /** Of the last list, event or bookmark; undefined: a list is needed. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Something arrived since the last list. */
  get broughtNews(): boolean {
    return this.#broughtNews;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get freshThroughAt(): number | undefined {
    return this.#freshThroughAt;
  }

  /** Since the last sign of life; counted from the start while there was none. */
  get ageMs(): number {
    return this.#clock.monotonicMs() - this.#freshAtMs;
  }

  get listIsDue(): boolean {
    return this.#version === undefined || this.listDueInMs === 0;
  }

  /** When an event was lost: how long until the list that brings it. */
  get listDueInMs(): number | undefined {
    if (this.#listDueAtMs === undefined) return undefined;
    return Math.max(0, this.#listDueAtMs - this.#clock.monotonicMs());
  }

  /** Where the clocks stand: what a list that begins now is fresh through. */
  mark(): { readonly at: number; readonly atMs: number } {
    return { at: this.#clock.now(), atMs: this.#clock.monotonicMs() };
  }

  /**
   * A full list was delivered. Returns the span that it cannot tell everything of: a list shows what is there, and not what came and went
   * since the watch before it was last heard of. Undefined for the first one.
   */
  listed(version: string, begun: { readonly at: number; readonly atMs: number }): BlindSpan | undefined {
    const fromAt = this.#lostAfterAt ?? this.#freshThroughAt;
    this.#version = version;
    this.#broughtNews = false;
    this.#listDueAtMs = undefined;
    this.#lostAfterAt = undefined;
    this.#isSynced = true;
    this.#freshThroughAt = begun.at;
    this.#freshAtMs = begun.atMs;
    return fromAt === undefined || fromAt >= begun.at ? undefined : { fromAt, toAt: begun.at };
  }

  /** An event or bookmark was delivered that had been received at that moment. */
  reached(version: string, received: { readonly at: number; readonly atMs: number } = this.mark()): void {
    this.#version = version;
    this.#broughtNews = true;
    this.#freshThroughAt = received.at;
    this.#freshAtMs = received.atMs;
  }

  /** The next thing is a list, not a watch. */
  forgetVersion(): void {
    this.#version = undefined;
  }

  /** True when this is the first one since the last list. */
  lostEvent(): boolean {
    if (this.#listDueAtMs !== undefined) return false;
    this.#lostAfterAt = this.#freshThroughAt;
    this.#listDueAtMs = this.#clock.monotonicMs() + relistAfterMs;
    return true;
  }
}

/** The oldest give way: a follower needs those since its leader was last heard of. */
const mostSpans = 1_000;

/** Spans in which watches were broken, kept for judging what did not come: also those from before this replica led. */
export class BlindSpans {
  readonly #spans: BlindSpan[] = [];
  readonly #listeners = new Set<(span: BlindSpan) => void>();

  add(span: BlindSpan): void {
    this.#spans.push(span);
    if (this.#spans.length > mostSpans) this.#spans.shift();
    for (const listener of this.#listeners) listener(span);
  }

  /** In the order in which they were noticed. */
  list(): readonly BlindSpan[] {
    return [...this.#spans];
  }

  /** Returns what ends the telling. */
  listen(listener: (span: BlindSpan) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
