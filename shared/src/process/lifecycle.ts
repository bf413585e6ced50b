import type { Clock } from './clock.ts';
import { TimeLimitError, withinLimit } from './time-limit.ts';
import type { Logger } from './logger.ts';

/** Ends what was started. The signal aborts when its time is over; its caller does not wait any longer then. */
type Stop = (signal: AbortSignal) => void | Promise<void>;

interface LifecycleDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time of each stop unless it says otherwise. */
  readonly stopMs?: number;
  /** Called once when work in the background ends by an error, which it never should: the process has to end. */
  readonly onFailure?: (name: string, error: unknown) => void;
}

/** What was started, so that it can be ended: everything a process runs is registered here by name. */
export interface Lifecycle {
  /** Aborts when the stop begins: what waits for something takes it. */
  readonly stopping: AbortSignal;
  /** Registers the stop of what was just started. Once stopping, it is stopped at once. */
  onStop(name: string, stop: Stop, limits?: { readonly stopMs: number }): void;
  /** Follows work that no caller awaits. It ends by itself, by an abort while stopping, or by an error that ends the process. */
  background(name: string, work: Promise<unknown>): void;
  /** Runs a start; when it fails, what was registered until then is stopped before the error comes out. */
  start<T>(start: () => Promise<T>): Promise<T>;
  /**
   * Stops everything, the last started first, one after the other, then waits for the work in the background. True when
   * all of it ended in its time and without an error. A second call waits for the first.
   */
  stop(): Promise<boolean>;
}

interface Registered {
  readonly name: string;
  readonly stop: Stop;
  readonly stopMs: number;
}

const defaultStopMs = 5_000;

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  return new ProcessLifecycle(deps);
}

class ProcessLifecycle implements Lifecycle {
  readonly #deps: LifecycleDeps;
  readonly #stopMs: number;
  readonly #controller = new AbortController();
  readonly #registered: Registered[] = [];
  readonly #background = new Map<Promise<void>, string>();
  #late: Promise<boolean>[] = [];
  #stopped: Promise<boolean> | undefined;
  #hasFailed = false;

  constructor(deps: LifecycleDeps) {
    this.#deps = deps;
    this.#stopMs = deps.stopMs ?? defaultStopMs;
  }

  get stopping(): AbortSignal {
    return this.#controller.signal;
  }

  onStop(name: string, stop: Stop, limits?: { readonly stopMs: number }): void {
    const registered = { name, stop, stopMs: limits?.stopMs ?? this.#stopMs };
    if (this.stopping.aborted) this.#late.push(this.#stopOne(registered));
    else this.#registered.push(registered);
  }

  background(name: string, work: Promise<unknown>): void {
    const followed = work.then(
      () => undefined,
      (error: unknown) => this.#failed(name, error),
    );
    this.#background.set(followed, name);
    followed.finally(() => this.#background.delete(followed)).catch(() => {}); // It cannot fail: both ends are taken above.
  }

  async start<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  stop(): Promise<boolean> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<boolean> {
    this.#controller.abort(new Error('the process stops'));
    let good = true;
    for (let next = this.#registered.pop(); next; next = this.#registered.pop()) {
      good = (await this.#stopOne(next)) && good; // In turn: the later ones may need the earlier ones to the end.
    }
    good = (await this.#awaitBackground()) && good;
    for (const ended of this.#late) good = (await ended) && good;
    return good && !this.#hasFailed;
  }

  async #awaitBackground(): Promise<boolean> {
    const work = [...this.#background];
    const ends = work.map(([followed, name]) => this.#stopOne({ name, stop: () => followed, stopMs: this.#stopMs }));
    return (await Promise.all(ends)).every(Boolean);
  }

  async #stopOne({ name, stop, stopMs }: Registered): Promise<boolean> {
    const { clock, logger } = this.#deps;
    try {
      await withinLimit({ clock, ms: stopMs }, async (signal) => stop(signal));
      return true;
    } catch (error) {
      if (error instanceof TimeLimitError) logger.error('a stop takes too long and is given up', { name, stopMs });
      else logger.error('a stop failed', { name, error });
      return false;
    }
  }

  /** An abort is how work is told to end; every other error means that something is not done any more. */
  #failed(name: string, error: unknown): void {
    const { logger } = this.#deps;
    if (this.stopping.aborted && isAbort(error, this.stopping)) return logger.debug('work was told to end', { name });
    logger.error('work in the background failed', { name, error });
    if (this.#hasFailed || this.stopping.aborted) return;
    this.#hasFailed = true;
    this.#deps.onFailure?.(name, error);
  }
}

/** Whether an error only says that its work was told to end by this signal. */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}
