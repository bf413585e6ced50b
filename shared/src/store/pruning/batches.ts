import { firstRow } from '../ask.ts';
import type { Store, Tx } from '../database.ts';

export interface BatchLimits {
  /** No batch begins after so long. */
  readonly budgetMs: number;
  /** The leader's: batches are fenced, and after each there is a pause as long as it took, so that recordings come between. */
  readonly epoch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Deletions in batches, each a transaction of its own, until there is nothing more or the time is over. */
export class Batches {
  readonly #store: Store;
  readonly #limits: BatchLimits;
  readonly #deadlineMs: number;
  #completed = true;

  constructor(store: Store, limits: BatchLimits) {
    this.#store = store;
    this.#limits = limits;
    this.#deadlineMs = store.clock.monotonicMs() + limits.budgetMs;
  }

  /** False once something was left for the next time. */
  get completed(): boolean {
    return this.#completed;
  }

  /** What is left of the time, for a part that counts its own. */
  get leftMs(): number {
    return this.#deadlineMs - this.#store.clock.monotonicMs();
  }

  async inTransaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    const { epoch } = this.#limits;
    return epoch === undefined ? this.#store.transaction(fn) : this.#store.fenced(epoch, fn);
  }

  /**
   * Repeats `batch` until it takes fewer rows than it may, and returns how many rows it took in all. With `cronJobId` each batch holds
   * the lock of that CronJob's row, as a recording does.
   */
  async repeat(
    batch: (tx: Tx, limit: number) => Promise<number>,
    of: { readonly cronJobId?: number | undefined; readonly most?: number | undefined } = {},
  ): Promise<number> {
    const { cronJobId, most = Infinity } = of;
    const limit = Math.min(this.#store.dialect.deleteBatchRows, most);
    for (let taken = 0; ;) {
      if (this.leftMs < 0 || this.#limits.signal?.aborted === true) {
        this.#completed = false;
        return taken;
      }
      const begunMs = this.#store.clock.monotonicMs();
      const ofBatch = await this.inTransaction(async (tx) => {
        if (cronJobId !== undefined) {
          await firstRow(tx, `select id from cronjobs where id = ?${tx.dialect.lock.update}`, [cronJobId]);
        }
        return batch(tx, limit);
      });
      taken += ofBatch;
      if (ofBatch > 0 && this.#limits.epoch !== undefined) {
        await this.#pause(this.#store.clock.monotonicMs() - begunMs);
      }
      if (ofBatch < limit) return taken;
    }
  }

  async #pause(ms: number): Promise<void> {
    // An abort shows in the next round.
    await this.#store.clock.sleep(Math.max(1, ms), this.#limits.signal).catch(() => {});
  }
}
