/** Work that is cheaper together: what arrives while one batch is being worked on is in the next. */
export class Batches<T> {
  readonly #most: number;
  readonly #work: (batch: readonly T[]) => Promise<void>;
  readonly #pause: () => Promise<void>;
  #waiting: { readonly item: T; readonly ended: PromiseWithResolvers<void> }[] = [];
  #isWorking = false;

  /** `most`: of one batch. `pause` lies between two: more gathers meanwhile. */
  constructor(most: number, work: (batch: readonly T[]) => Promise<void>, pause?: () => Promise<void>) {
    this.#most = most;
    this.#work = work;
    this.#pause = pause ?? (() => Promise.resolve());
  }

  /** Resolves when the batch that holds it is done, and rejects as that does. */
  async add(item: T): Promise<void> {
    const ended = Promise.withResolvers<void>();
    this.#waiting.push({ item, ended });
    if (!this.#isWorking) void this.#workOff();
    return ended.promise;
  }

  async #workOff(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#most);
      try {
        await this.#work(batch.map(({ item }) => item));
        for (const { ended } of batch) ended.resolve();
      } catch (error) {
        for (const { ended } of batch) ended.reject(error);
      }
      await this.#pause();
    }
    this.#isWorking = false;
  }
}
