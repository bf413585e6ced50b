/** Entries ordered by instant; entries of one instant leave in the order in which they came. */
export class DueHeap<T> {
  readonly #entries: { at: number; order: number; value: T }[] = [];
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** Instant of the earliest entry, epoch milliseconds; undefined when empty. */
  get nextAt(): number | undefined {
    return this.#entries[0]?.at;
  }

  push(at: number, value: T): void {
    const entries = this.#entries;
    const entry = { at, order: this.#order++, value };
    let index = entries.length;
    entries.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = entries[above];
      if (parent === undefined || !before(entry, parent)) break;
      entries[index] = parent;
      index = above;
    }
    entries[index] = entry;
  }

  /** Takes the earliest entry out; undefined when empty. */
  pop(): T | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (top === undefined || last === undefined) return undefined;
    if (entries.length > 0) this.#sink(last);
    return top.value;
  }

  #sink(entry: { at: number; order: number; value: T }): void {
    const entries = this.#entries;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const first = entries[left];
      if (first === undefined) break;
      const second = entries[left + 1];
      const child = second !== undefined && before(second, first) ? left + 1 : left;
      const smaller = child === left ? first : second;
      if (smaller === undefined || !before(smaller, entry)) break;
      entries[index] = smaller;
      index = child;
    }
    entries[index] = entry;
  }
}

function before(a: { at: number; order: number }, b: { at: number; order: number }): boolean {
  return a.at !== b.at ? a.at < b.at : a.order < b.order;
}
