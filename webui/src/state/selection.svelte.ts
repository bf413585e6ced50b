import type { Ref } from '@cronjob-monitor/shared/contract';

/** A row that can be chosen for what is done to many at once. */
export interface Choosable {
  /** As the row is marked: `data-row`. */
  readonly key: string;
  readonly ref: Ref;
}

/** As many as one request takes. */
export const mostChosen = 200;

/** The rows of this page that are chosen. A page offers its rows; another page begins with none. */
export class Selection {
  #rows: () => readonly Choosable[] = () => [];
  #chosen = $state.raw<ReadonlyMap<string, Choosable>>(new Map());
  /** Where a range begins. */
  #anchor: string | undefined;

  get rows(): readonly Choosable[] {
    return [...this.#chosen.values()];
  }

  get count(): number {
    return this.#chosen.size;
  }

  has(key: string): boolean {
    return this.#chosen.has(key);
  }

  /** The row of this page; undefined: it cannot be chosen. */
  find(key: string): Choosable | undefined {
    return this.#rows().find((row) => row.key === key);
  }

  /** These rows can be chosen, in this order, until the result is called. Fit for the body of an effect. */
  offer(rows: () => readonly Choosable[]): () => void {
    this.#rows = rows;
    return () => {
      if (this.#rows !== rows) return;
      this.#rows = () => [];
      this.clear();
    };
  }

  /** Chooses a row, or chooses it no more. False: it cannot be chosen. */
  toggle(key: string): boolean {
    const row = this.find(key);
    if (!row) return false;
    this.#anchor = key;
    const chosen = new Map(this.#chosen);
    if (!chosen.delete(key)) chosen.set(key, row);
    this.#keep(chosen);
    return true;
  }

  /** Chooses all rows from the one that was toggled last to this one. False: it cannot be chosen. */
  extendTo(key: string): boolean {
    const rows = this.#rows();
    const to = rows.findIndex((row) => row.key === key);
    if (to < 0) return false;
    const from = rows.findIndex((row) => row.key === this.#anchor);
    const [first, last] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    this.#anchor ??= key;
    this.#keep(new Map([...this.#chosen, ...rows.slice(first, last + 1).map((row) => [row.key, row] as const)]));
    return true;
  }

  /** Only these stay chosen. */
  keep(keys: readonly string[]): void {
    this.#keep(new Map([...this.#chosen].filter(([key]) => keys.includes(key))));
  }

  clear(): void {
    this.#anchor = undefined;
    this.#chosen = new Map();
  }

  #keep(chosen: ReadonlyMap<string, Choosable>): void {
    this.#chosen = new Map([...chosen].slice(0, mostChosen));
  }
}

export const selection = new Selection();
