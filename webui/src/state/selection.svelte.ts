import type { Ref } from '@cronjob-monitor/shared/contract';

/** A row that can be chosen for what is done to many at once. */
export interface Choosable {
  /** As the row is marked: `data-row`. */
  readonly key: string;
  readonly ref: Ref;
  /** Key of the row under which it is folded with others: what is done there is done to all of them. */
  readonly group?: string;
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

  /** The row of this page, or all that it stands for; none: it cannot be chosen. */
  meantBy(key: string): readonly Choosable[] {
    return this.#rows().filter((row) => isMeant(row, key));
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
    const rows = this.meantBy(key);
    if (rows.length === 0) return false;
    this.#anchor = key;
    const chosen = new Map(this.#chosen);
    const areAllChosen = rows.every((row) => chosen.has(row.key));
    for (const row of rows) {
      if (areAllChosen) chosen.delete(row.key);
      else chosen.set(row.key, row);
    }
    this.#keep(chosen);
    return true;
  }

  /** Chooses all rows from the one that was toggled last to this one. False: it cannot be chosen. */
  extendTo(key: string): boolean {
    const rows = this.#rows();
    const ends = [key, this.#anchor ?? key].flatMap((end) => [
      rows.findIndex((row) => isMeant(row, end)),
      rows.findLastIndex((row) => isMeant(row, end)),
    ]);
    if (ends[0] === -1) return false;
    const places = ends.filter((place) => place >= 0);
    this.#anchor ??= key;
    const range = rows.slice(Math.min(...places), Math.max(...places) + 1);
    this.#keep(new Map([...this.#chosen, ...range.map((row) => [row.key, row] as const)]));
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

function isMeant({ key, group }: Choosable, wanted: string): boolean {
  return key === wanted || group === wanted;
}

export const selection = new Selection();
