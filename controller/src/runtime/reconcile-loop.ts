import { ClusterError } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

import type { Circuit } from './circuit.ts';
import type { WorkQueue } from './work-queue.ts';

/** When to look at the key again, epoch milliseconds; undefined: when something happens to it. */
export type ComeBack = number | undefined;

/** Trying again cannot help: a person, or a change of the object, has to come first. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

type ReconcileResult = 'success' | 'error' | 'requeue';

export interface ReconcileMetrics {
  reconciled(result: ReconcileResult, seconds: number): void;
}

export interface ReconcileLoopDeps<K> {
  readonly queue: WorkQueue<K>;
  /** Shared by all loops. */
  readonly circuit: Circuit;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ReconcileMetrics;
  /** How many keys are worked on at once. */
  readonly workers: number;
  readonly reconcile: (key: K, signal: AbortSignal) => Promise<ComeBack>;
  /**
   * For a deep queue: many keys in one go, such as one transaction. Answers for the keys it has seen to; those it leaves out,
   * and all of them when it throws, are reconciled one by one.
   */
  readonly batch?: {
    readonly max: number;
    readonly reconcile: (keys: readonly K[], signal: AbortSignal) => Promise<ReadonlyMap<K, ComeBack>>;
  };
  /** The key as people know it, for the log; undefined: it is gone, or it is called what it is. */
  readonly nameOf?: (key: K) => string | undefined;
  /** The database is away: nothing is wrong with the key. */
  readonly isDatabaseAway: (error: unknown) => boolean;
  /** The database has another leader: the term is over. */
  readonly isFenced: (error: unknown) => boolean;
  readonly onFenced: (error: unknown) => void;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** A conflict means that a newer object is on its way: about the time it needs to arrive. */
const conflictAgainMs = 100;
/** Over this time keys come back that the database had turned away. */
const releaseWithinMs = 2_000;
/** What is begun shortly before the time is over has to end as well. */
const mostWhenDraining = 10;
/** Five seconds are allowed for the whole end of a process: the rest is for what comes after. */
const drainWithinMs = 2_000;

/**
 * Workers that take keys and reconcile them, and what becomes of a key afterwards:
 *
 * | the reconciler | the key |
 * |---|---|
 * | returned nothing | is forgotten until something happens to it |
 * | returned an instant | comes back then |
 * | threw | comes back with back-off, counted |
 * | threw `TerminalError` | does not come back |
 * | met a conflict | comes back soon, not counted |
 * | found the database away | is held until the circuit closes, not counted, then comes back with jitter |
 * | was fenced, or the term was over | is dropped: the next leader finds it again |
 */
export class ReconcileLoop<K> {
  readonly #deps: ReconcileLoopDeps<K>;
  readonly #random: () => number;
  readonly #held = new Set<K>();
  /** Time is over: what is in work is left where it stands. */
  readonly #over = new AbortController();
  #workers: Promise<unknown> = Promise.resolve();

  constructor(deps: ReconcileLoopDeps<K>) {
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
  }

  /** The leader begins: the queue opens, first for the keys of `seed`. Ends with the signal, or by `stop`. */
  start(seed: Iterable<K>, signal: AbortSignal): void {
    const { queue, circuit, workers } = this.#deps;
    queue.open();
    for (const key of seed) queue.add(key);
    const stopListening = circuit.onChange((isOpen) => {
      if (!isOpen) this.#releaseHeld();
    });
    const ending = AbortSignal.any([signal, this.#over.signal]);
    this.#workers = Promise.all(Array.from({ length: workers }, () => this.#work(ending))).finally(stopListening);
  }

  /** No new keys; what waits is worked off within 2 s, and the rest is for the next leader. True when nothing is left. */
  async stop(): Promise<boolean> {
    const drained = (await this.#deps.queue.drain(drainWithinMs)) && this.#held.size === 0;
    if (!drained) this.#over.abort(new Error('the process stops'));
    else await this.#workers;
    return drained;
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { queue, circuit, batch } = this.#deps;
    for (;;) {
      await circuit.whenClosed(signal);
      const max = batch?.max ?? 1;
      const keys = await queue.take(queue.isDraining ? Math.min(max, mostWhenDraining) : max, signal);
      if (keys.length === 0) return;
      await this.#reconcile(keys, signal);
    }
  }

  async #reconcile(keys: readonly K[], signal: AbortSignal): Promise<void> {
    const { batch } = this.#deps;
    const left = batch && keys.length > 1 ? await this.#reconcileBatch(keys, batch.reconcile, signal) : keys;
    for (const key of left) {
      // None of them runs against a database that has just gone away.
      await this.#deps.circuit.whenClosed(signal);
      if (signal.aborted) this.#deps.queue.done(key);
      else await this.#reconcileOne(key, signal);
    }
  }

  /** The keys that must be reconciled one by one. */
  async #reconcileBatch(
    keys: readonly K[],
    reconcile: NonNullable<ReconcileLoopDeps<K>['batch']>['reconcile'],
    signal: AbortSignal,
  ): Promise<readonly K[]> {
    const { clock, logger } = this.#deps;
    const startedAtMs = clock.monotonicMs();
    try {
      const seenTo = await reconcile(keys, signal);
      const seconds = this.#secondsSince(startedAtMs) / Math.max(1, seenTo.size);
      for (const [key, comeBackAt] of seenTo) this.#succeeded(key, comeBackAt, seconds);
      return keys.filter((key) => !seenTo.has(key));
    } catch (error) {
      const isForAll = signal.aborted || this.#deps.isFenced(error) || this.#deps.isDatabaseAway(error);
      if (!isForAll) {
        logger.warn('a batch failed, its keys are reconciled one by one', { keys: keys.length, error });
        return keys;
      }
      const seconds = this.#secondsSince(startedAtMs) / keys.length;
      for (const key of keys) this.#failed(key, error, seconds, signal);
      return [];
    }
  }

  async #reconcileOne(key: K, signal: AbortSignal): Promise<void> {
    const startedAtMs = this.#deps.clock.monotonicMs();
    try {
      const comeBackAt = await this.#deps.reconcile(key, signal);
      this.#succeeded(key, comeBackAt, this.#secondsSince(startedAtMs));
    } catch (error) {
      this.#failed(key, error, this.#secondsSince(startedAtMs), signal);
    }
  }

  #succeeded(key: K, comeBackAt: ComeBack, seconds: number): void {
    const { queue, metrics } = this.#deps;
    queue.forget(key);
    if (comeBackAt !== undefined) queue.addAt(key, comeBackAt);
    queue.done(key);
    metrics.reconciled('success', seconds);
  }

  #failed(key: K, error: unknown, seconds: number, signal: AbortSignal): void {
    const { queue, metrics, circuit, isFenced, isDatabaseAway, onFenced } = this.#deps;
    const isFence = isFenced(error);
    if (signal.aborted || isFence) {
      queue.done(key);
      if (isFence) onFenced(error);
      return;
    }
    metrics.reconciled(this.#settleFailure(key, error), seconds);
    queue.done(key);
    if (isDatabaseAway(error)) circuit.trip(error);
  }

  #settleFailure(key: K, error: unknown): ReconcileResult {
    const { queue, logger, isDatabaseAway } = this.#deps;
    if (isDatabaseAway(error)) {
      this.#held.add(key);
      return 'error';
    }
    if (error instanceof ClusterError && error.code === 'conflict') {
      queue.addAfter(key, conflictAgainMs * (0.5 + this.#random()));
      return 'requeue';
    }
    if (error instanceof TerminalError) {
      queue.forget(key);
      logger.error('a key cannot be reconciled', { key: this.#deps.nameOf?.(key) ?? key, error });
      return 'error';
    }
    queue.retry(key);
    const failures = queue.failuresOf(key);
    logger.warn('a key could not be reconciled and is tried again', {
      key: this.#deps.nameOf?.(key) ?? key,
      failures,
      error,
    });
    return 'error';
  }

  #releaseHeld(): void {
    for (const key of this.#held) this.#deps.queue.addAfter(key, this.#random() * releaseWithinMs);
    this.#held.clear();
  }

  #secondsSince(startedAtMs: number): number {
    return (this.#deps.clock.monotonicMs() - startedAtMs) / 1000;
  }
}
