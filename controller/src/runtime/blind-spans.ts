import type { BlindSpan } from './watch-progress.ts';

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
