import { ClusterError, type Cluster } from '@cronjob-monitor/shared/kube';
import type { Logger } from '@cronjob-monitor/shared/process';

/** Kubernetes 1.32 is the first release that streams lists without being told to. */
const firstMinor = 32;
/** A slow reader is cut off by a busy server; what it has read by then need not be taken in again, so it comes farther each time. */
const mostCuts = 3;

/** Whether the server is of a release that streams lists (WatchList). It is asked once, for all kinds. */
export class ListOffer {
  readonly #cluster: Pick<Cluster, 'version'>;
  #isMade: Promise<boolean> | undefined;

  constructor(cluster: Pick<Cluster, 'version'>) {
    this.#cluster = cluster;
  }

  /** Throws `ClusterError` when the server gives no answer; the next call asks again. */
  async isMade(signal: AbortSignal): Promise<boolean> {
    this.#isMade ??= this.#ask(signal);
    try {
      return await this.#isMade;
    } catch (error) {
      this.#isMade = undefined;
      throw error;
    }
  }

  async #ask(signal: AbortSignal): Promise<boolean> {
    try {
      const [, major, minor] = /^v(\d+)\.(\d+)/.exec(await this.#cluster.version(signal)) ?? [];
      return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= firstMinor);
    } catch (error) {
      if (error instanceof ClusterError && (error.code === 'forbidden' || error.code === 'notFound')) return false;
      throw error;
    }
  }
}

/** Why a stream was no whole list. `cut`: it ended, or an ERROR event ended it, before its mark. */
export type Unfinished = 'refused' | 'silent' | 'unreadable' | 'cut';

/**
 * How one kind is listed: as the beginning of a watch, where one line is one object and neither side holds a page, or in pages. Where streams
 * do not work (the server refuses them, is silent before the mark of their end, or cuts them off again and again) pages are asked for until
 * the next start.
 */
export class ListForm {
  readonly #offer: ListOffer;
  readonly #logger: Logger;
  #cutsInRow = 0;
  #inPages = false;

  constructor(offer: ListOffer, logger: Logger) {
    this.#offer = offer;
    this.#logger = logger;
  }

  /** Throws `ClusterError` when the server has to be asked and gives no answer. */
  async isStream(signal: AbortSignal): Promise<boolean> {
    return !this.#inPages && (await this.#offer.isMade(signal));
  }

  finished(): void {
    this.#cutsInRow = 0;
  }

  unfinished(why: Unfinished): void {
    if (why === 'cut' && (this.#cutsInRow += 1) < mostCuts) return;
    this.#inPages = true;
    this.#logger.info('the list is asked for in pages, for no stream of it came to its end', { why });
  }
}
