import type { Carried, WallStep } from '@cronjob-monitor/shared/contract';
import { untrack } from 'svelte';
import { ApiError, type Answer } from '../api/client.ts';
import type { Hint } from '../api/stream.ts';
import { live, type Member } from './live.svelte.ts';
import { now } from './now.svelte.ts';

/** How a part of a page stands with its data. */
export type Phase =
  /** Nothing yet. */
  | 'loading'
  | 'ready'
  /** What was there is kept, and the last try failed. */
  | 'failed';

/** After so long without an answer what is shown counts as old. */
const staleAfterMs = 30_000;
const shortestRetryMs = 1_000;
const longestRetryMs = 30_000;
/** Changes are merged into an answer for so long. */
const wholeEveryMs = 300_000;

interface ResourceOptions<T> {
  /** Which changes call for another look. Without it the part is read once and at each request to check. */
  readonly concerns?: (hint: Hint) => boolean;
  /** What is shown after a change that says all of it; undefined: it has to be asked for. */
  readonly merge?: (value: T, hint: Hint) => T | undefined;
  /** It tells of many CronJobs: however much happens, changes make it ask so often at most, after a few soon. */
  readonly fleetPauseMs?: number;
  /** Rows in it that the stream is to carry, `namespace/name`. */
  readonly refs?: (value: T) => readonly string[];
  /** What the stream is to carry for it: beside counts and rows, or of its CronJobs in place of their rows. */
  readonly carries?: Carried;
  /** Columns of the wall that is carried. */
  readonly step?: WallStep;
  /** False: not read again by itself, such as a configuration that cannot change. */
  readonly isLive?: boolean;
}

/** Data as a part of a page shows them: a resource, or a piece of one. */
export type Shown<T> = Pick<
  Resource<T>,
  'value' | 'error' | 'answeredAt' | 'retryAt' | 'phase' | 'isStale' | 'start' | 'refresh'
>;

/** A piece that comes with the rest of an answer, and is asked for with it. */
export function pieceOf<Whole, T>(whole: Resource<Whole>, pick: (value: Whole) => T | undefined): Shown<T> {
  return {
    get value() {
      return whole.value === undefined ? undefined : pick(whole.value);
    },
    get error() {
      return whole.error;
    },
    get answeredAt() {
      return whole.answeredAt;
    },
    get retryAt() {
      return whole.retryAt;
    },
    get phase() {
      return whole.phase === 'ready' && this.value === undefined ? 'loading' : whole.phase;
    },
    get isStale() {
      return whole.isStale;
    },
    start: () => () => undefined,
    refresh: () => whole.refresh(),
  };
}

/**
 * What one part of a page shows: loads, keeps what it has while it asks again, one request at a time, and tries again by itself after a
 * failure. It knows no DOM. `load` is called with a signal that aborts when the part goes away or the question changes.
 */
export class Resource<T> implements Member {
  readonly #load: (signal: AbortSignal) => Promise<Answer<T>>;
  readonly #options: ResourceOptions<T>;
  #value = $state.raw<T | undefined>();
  #error = $state.raw<ApiError | undefined>();
  #answeredAt = $state<number | undefined>();
  #retryAt = $state<number | undefined>();
  #isLoading = $state(false);
  #failures = 0;
  #abort: AbortController | undefined;
  #again = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(load: (signal: AbortSignal) => Promise<Answer<T>>, options: ResourceOptions<T> = {}) {
    this.#load = load;
    this.#options = options;
  }

  get value(): T | undefined {
    return this.#value;
  }

  get error(): ApiError | undefined {
    return this.#error;
  }

  /** When the server answered last, by its own clock. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  /** When the next try after a failure is due. */
  get retryAt(): number | undefined {
    return this.#retryAt;
  }

  get isLoading(): boolean {
    return this.#isLoading;
  }

  readonly phase: Phase = $derived.by(() => {
    if (this.#error) return 'failed';
    return this.#value === undefined ? 'loading' : 'ready';
  });

  /** Shown values are old: say so. While a stream tells of every change, what is shown is as old as the stream's last word. */
  readonly isStale: boolean = $derived.by(() => {
    if (this.#answeredAt === undefined || this.#options.isLive === false) return false;
    const trueUntil = this.#error ? this.#answeredAt : Math.max(this.#answeredAt, live.streamedAt ?? 0);
    return now.ms - trueUntil > staleAfterMs;
  });

  /**
   * The part becomes visible: asks, and asks again as things change. Returns what ends both. Fit to be the body of an effect: nothing that
   * is read here is followed, or each answer would begin it anew.
   */
  start(): () => void {
    return untrack(() => {
      const leave = this.#options.isLive === false ? undefined : live.join(this);
      void this.refresh();
      return () => {
        leave?.();
        this.stop();
      };
    });
  }

  get fleetPauseMs(): number {
    return this.#options.fleetPauseMs ?? 0;
  }

  get carries(): Carried | undefined {
    return this.#options.carries;
  }

  get step(): WallStep | undefined {
    return this.#options.step;
  }

  get refs(): readonly string[] {
    return this.#value === undefined ? [] : (this.#options.refs?.(this.#value) ?? []);
  }

  concerns(hint: Hint): boolean {
    return this.#options.concerns?.(hint) ?? false;
  }

  /** A request under way may have been answered before the change, and what no change tells is asked for now and then. */
  takes(hint: Hint): boolean {
    if (this.#value === undefined || this.#error || this.#abort) return false;
    // What the stream carries of the whole is whole.
    if (hint.kind !== 'overview' && now.ms - (this.#answeredAt ?? 0) > wholeEveryMs) return false;
    const merged = this.#options.merge?.(this.#value, hint);
    if (merged === undefined) return false;
    this.#value = merged;
    return true;
  }

  /** As `refresh`, unless the server refused for good. */
  async reload(): Promise<void> {
    if (!this.#isRefused()) await this.refresh();
  }

  /** Asks now; a request under way is waited for and then repeated once. */
  async refresh(): Promise<void> {
    if (this.#abort) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    const abort = new AbortController();
    this.#abort = abort;
    this.#isLoading = true;
    try {
      const answer = await this.#load(abort.signal);
      if (!abort.signal.aborted) this.#answered(answer);
    } catch (error) {
      if (!abort.signal.aborted) this.#failed(error);
    } finally {
      if (this.#abort === abort) {
        this.#abort = undefined;
        this.#isLoading = false;
      }
    }
    if (this.#again && !abort.signal.aborted) {
      this.#again = false;
      await this.refresh();
    }
  }

  /** The question changed: what is shown answers another one. */
  async restart(): Promise<void> {
    this.clear();
    await this.refresh();
  }

  /** Nothing is known any more. */
  clear(): void {
    this.stop();
    this.#value = undefined;
    this.#error = undefined;
    this.#answeredAt = undefined;
  }

  /** Another answer has just told the value of this one. */
  give(value: T): void {
    this.#value = value;
    this.#error = undefined;
    this.#retryAt = undefined;
    this.#answeredAt = now.ms;
  }

  /** The part goes away. */
  stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#again = false;
    this.#isLoading = false;
    clearTimeout(this.#timer);
  }

  #answered({ value, changed, servedAt }: Answer<T>): void {
    if (changed || this.#value === undefined) this.#value = value;
    this.#error = undefined;
    this.#retryAt = undefined;
    this.#failures = 0;
    if (servedAt !== undefined) now.sync(servedAt);
    this.#answeredAt = now.ms;
    live.answered();
    live.refsChanged();
  }

  #failed(error: unknown): void {
    this.#error =
      error instanceof ApiError
        ? error
        : new ApiError({ message: 'The answer could not be read', code: 'BAD_ANSWER', status: 0, requestId: null });
    this.#retryAt = undefined;
    if (this.#isRefused()) return;
    const wait = Math.min(longestRetryMs, shortestRetryMs * 2 ** this.#failures++);
    const waitMs = Math.max(wait * (0.5 + Math.random() / 2), (this.#error.retryAfterSeconds ?? 0) * 1000);
    this.#retryAt = now.preciseMs + waitMs;
    if (this.#error.status === 0) live.lost(this.#retryAt);
    // A page that rests asks for everything again when it wakes.
    this.#timer = setTimeout(() => (live.isResting ? undefined : void this.refresh()), waitMs);
  }

  /** What the server refuses for good it refuses again. */
  #isRefused(): boolean {
    const status = this.#error?.status ?? 0;
    return status >= 400 && status < 500 && status !== 429;
  }
}
