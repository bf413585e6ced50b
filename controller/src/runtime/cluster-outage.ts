import type { Logger } from '@cronjob-monitor/shared/process';

/**
 * An API server that cannot be had is one event, however many kinds and namespaces are watched: it is logged when the first of them
 * notices, and when the last of them has its answer again.
 */
export class ClusterOutage {
  readonly #logger: Logger;
  readonly #without = new Set<object>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** One of those who watch gets no answer; asked again and again. */
  noAnswer(watcher: object, facts: { readonly problem: string; readonly reason: string | undefined }): void {
    if (this.#without.size === 0) this.#logger.warn('the cluster does not answer', facts);
    this.#without.add(watcher);
  }

  /** It has an answer, good or bad. */
  answered(watcher: object): void {
    if (this.#without.delete(watcher) && this.#without.size === 0) this.#logger.info('the cluster answers again');
  }
}
