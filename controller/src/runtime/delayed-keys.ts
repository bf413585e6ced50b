interface Due<K> {
  readonly key: K;
  readonly at: number;
}

/**
 * Keys that wait for their instant, the earliest first. A key waits once: of two instants the earlier one counts. What an
 * instant is (wall clock or monotonic) is the caller's, who must not mix the two.
 */
export class DelayedKeys<K> {
  readonly #at = new Map<K, number>();
  /** Binary heap. An entry whose instant is not that of the map is outdated, and is dropped when it comes up. */
  readonly #heap: Due<K>[] = [];

  get size(): number {
    return this.#at.size;
  }

  set(key: K, at: number): void {
    const earlier = this.#at.get(key);
    if (earlier !== undefined && earlier <= at) return;
    this.#at.set(key, at);
    this.#heap.push({ key, at });
    this.#rise(this.#heap.length - 1);
  }

  /** The key need not come any more: it is being seen to. */
  delete(key: K): void {
    this.#at.delete(key);
    if (this.#at.size === 0) this.#heap.length = 0;
  }

  /** Undefined when nothing waits. */
  nextAt(): number | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (!first || this.#at.get(first.key) === first.at) return first?.at;
      this.#pop();
    }
  }

  /** Takes out the keys whose instant has come. */
  takeDue(now: number): K[] {
    const due: K[] = [];
    for (let at = this.nextAt(); at !== undefined && at <= now; at = this.nextAt()) {
      const first = this.#pop();
      if (!first) break;
      this.#at.delete(first.key);
      due.push(first.key);
    }
    return due;
  }

  clear(): void {
    this.#at.clear();
    this.#heap.length = 0;
  }

  #pop(): Due<K> | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first && last && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(from: number): void {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfEarlier(child, parent)) return;
      child = parent;
    }
  }

  #sink(): void {
    for (let parent = 0; ;) {
      const left = parent * 2 + 1;
      const right = left + 1;
      const child = (this.#heap[right]?.at ?? Infinity) < (this.#heap[left]?.at ?? Infinity) ? right : left;
      if (!this.#swapIfEarlier(child, parent)) return;
      parent = child;
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const below = this.#heap[child];
    const above = this.#heap[parent];
    if (!below || !above || below.at >= above.at) return false;
    this.#heap[child] = above;
    this.#heap[parent] = below;
    return true;
  }
}
