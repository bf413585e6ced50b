import { untrack } from 'svelte';
import type { Pagination } from '@cronjob-monitor/shared/contract';
import type { ApiError, Answer } from '../api/client.ts';
import type { Hint } from '../api/stream.ts';
import { Resource } from './resource.svelte.ts';

/** A page of a list as the API answers it. */
export interface WindowAnswer<Item> {
  readonly items: readonly Item[];
  readonly pagination?: Pagination;
}

interface WindowsOptions<Item, Page extends WindowAnswer<Item>> {
  readonly load: (range: { limit: number; offset: number }, signal: AbortSignal) => Promise<Answer<Page>>;
  readonly keyOf: (item: Item) => string;
  readonly concerns?: (hint: Hint) => boolean;
  /** As of a resource. */
  readonly merge?: (page: Page, hint: Hint) => Page | undefined;
  readonly refs?: (page: Page) => readonly string[];
  /** Rows of one window. */
  readonly size?: number;
}

/**
 * A long list, sorted and filtered by the server, read in windows as they scroll in. Only the windows in sight are kept fresh. While
 * `isHeld` an answer changes the rows in place and never their order: the new order waits until `apply`.
 */
export class Windows<Item, Page extends WindowAnswer<Item>> {
  readonly #options: WindowsOptions<Item, Page>;
  readonly size: number;
  #windows = $state.raw<ReadonlyMap<number, Resource<Page>>>(new Map());
  #orders = $state.raw<ReadonlyMap<number, readonly string[]>>(new Map());
  readonly #stops = new Map<number, () => void>();
  /** Pointer or focus is inside: rows must not move away under it. */
  isHeld = $state(false);

  constructor(options: WindowsOptions<Item, Page>) {
    this.#options = options;
    this.size = options.size ?? 100;
  }

  /** The newest answer of any window: it has the total and the summary of the whole list. */
  readonly newest: Page | undefined = $derived.by(() => {
    const answered = [...this.#windows.values()].filter(({ value }) => value !== undefined);
    return answered.sort((a, b) => (b.answeredAt ?? 0) - (a.answeredAt ?? 0))[0]?.value;
  });

  readonly total: number | undefined = $derived(this.newest?.pagination?.total ?? this.newest?.items.length);

  /** What went wrong, window by window. */
  readonly failures: readonly {
    readonly first: number;
    readonly error: ApiError;
    readonly resource: Resource<Page>;
  }[] = $derived(
    [...this.#windows].flatMap(([index, resource]) =>
      resource.error ? [{ first: index * this.size, error: resource.error, resource }] : [],
    ),
  );

  readonly isStale: boolean = $derived([...this.#windows.values()].some(({ isStale }) => isStale));

  /** When the oldest of what is in sight was answered. */
  readonly answeredAt: number | undefined = $derived.by(() => {
    const instants = [...this.#windows.values()].flatMap(({ answeredAt }) =>
      answeredAt === undefined ? [] : [answeredAt],
    );
    return instants.length === 0 ? undefined : Math.min(...instants);
  });

  /** Rows stand in another order than the server would give now. */
  readonly orderWaits: boolean = $derived(
    this.isHeld && [...this.#windows].some(([index, { value }]) => value !== undefined && this.#differs(index, value)),
  );

  /** The row at a place of the list; undefined while its window is on its way. */
  rowAt(index: number): Item | undefined {
    const which = Math.floor(index / this.size);
    const items = this.#windows.get(which)?.value?.items;
    if (!items) return undefined;
    const order = this.isHeld ? this.#orders.get(which) : undefined;
    const place = index % this.size;
    if (!order) return items[place];
    // The newest facts of the row that stood here; the one that is there now, when that one left the window.
    const key = order[place];
    return items.find((item) => this.#options.keyOf(item) === key) ?? items[place];
  }

  /** All rows that were read, in the order of the list. */
  get items(): readonly Item[] {
    return [...this.#windows].toSorted(([a], [b]) => a - b).flatMap(([, { value }]) => value?.items ?? []);
  }

  /** These rows are in sight: their windows are read and kept fresh, the others rest and keep what they had. */
  show(firstRow: number, lastRow: number): void {
    untrack(() => this.#show(firstRow, lastRow));
  }

  #show(firstRow: number, lastRow: number): void {
    const first = Math.max(0, Math.floor(firstRow / this.size));
    const last = Math.max(first, Math.floor(lastRow / this.size));
    for (const [index, stop] of this.#stops) {
      if (index >= first && index <= last) continue;
      stop();
      this.#stops.delete(index);
    }
    for (let index = first; index <= last; index++) {
      if (this.#stops.has(index)) continue;
      const resource = this.#windows.get(index) ?? this.#add(index);
      this.#stops.set(index, resource.start());
    }
  }

  /** From now on rows stay where they are. */
  hold(): void {
    if (this.isHeld) return;
    this.#remember();
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
  }

  /** Takes the order that waits. */
  apply(): void {
    this.#remember();
  }

  async refresh(): Promise<void> {
    const inSight = [...this.#stops.keys()].flatMap((index) => this.#windows.get(index) ?? []);
    await Promise.all(inSight.map((window) => window.refresh()));
  }

  stop(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }

  #add(index: number): Resource<Page> {
    const { load, concerns, merge, refs } = this.#options;
    const range = { limit: this.size, offset: index * this.size };
    const resource = new Resource((signal) => load(range, signal), {
      ...(concerns ? { concerns } : {}),
      ...(merge ? { merge } : {}),
      ...(refs ? { refs } : {}),
      fleetPauseMs: 60_000,
    });
    this.#windows = new Map([...this.#windows, [index, resource]]);
    return resource;
  }

  #remember(): void {
    this.#orders = new Map(
      [...this.#windows].map(([index, { value }]) => [index, (value?.items ?? []).map(this.#options.keyOf)]),
    );
  }

  #differs(index: number, value: Page): boolean {
    const order = this.#orders.get(index);
    return (
      order !== undefined &&
      order.length > 0 &&
      value.items.some((item, place) => order[place] !== undefined && order[place] !== this.#options.keyOf(item))
    );
  }
}
