import {
  type Cluster,
  ClusterError,
  type ListPage,
  type ListRequest,
  type RawObject,
  type WatchedKind,
} from '@cronjob-monitor/shared/kube';
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

  /** A stream was no whole list. `cut`: it ended, or an ERROR event ended it, before its mark. */
  unfinished(why: 'refused' | 'silent' | 'unreadable' | 'cut'): void {
    if (why === 'cut' && (this.#cutsInRow += 1) < mostCuts) return;
    this.#inPages = true;
    this.#logger.info('the list is asked for in pages, for no stream of it came to its end', { why });
  }
}

/** Objects asked for, and worked on, in one go: a page of Jobs is 2 MB of JSON and keeps the event loop some 20 ms. */
const pageSize = 500;

interface ListDeps {
  readonly cluster: Pick<Cluster, 'listPage'>;
  readonly kind: WatchedKind;
  readonly namespace: string | undefined;
  /** The list begins, for the first time or again: what came before does not belong to it. */
  readonly onBegin: () => void;
  /** Takes in at most `pageSize` objects; they are not kept after it. */
  readonly onItems: (items: readonly RawObject[]) => Promise<void>;
}

/**
 * Lists all objects of a kind in pages, without a resourceVersion, so that the answer is never older than what was seen before.
 * A `continue` token that expired starts the list again, the third time in a row without a limit, which cannot expire.
 * Returns the version from which a watch goes on. Throws `ClusterError`.
 */
export async function listAll(deps: ListDeps, signal: AbortSignal): Promise<string> {
  for (let expired = 0; ; expired += 1) {
    deps.onBegin();
    const version = await listOnce(deps, expired < 3 ? pageSize : undefined, signal);
    if (version !== undefined) return version;
  }
}

/** Undefined: a token expired under way. */
async function listOnce(deps: ListDeps, limit: number | undefined, signal: AbortSignal): Promise<string | undefined> {
  const { kind, namespace } = deps;
  let page = await deps.cluster.listPage({ kind, namespace, limit }, signal);
  // The pages of one list are of one version: the first names it.
  const version = page.resourceVersion;
  for (;;) {
    await takeIn(page.items, deps, signal);
    if (!page.continueToken) return version;
    await nextTurn();
    const next = await findNextPage(deps, { kind, namespace, limit, continueToken: page.continueToken }, signal);
    if (!next) return undefined;
    page = next;
  }
}

async function takeIn(items: readonly RawObject[], deps: ListDeps, signal: AbortSignal): Promise<void> {
  for (let from = 0; from < items.length; from += pageSize) {
    if (from > 0) await nextTurn();
    signal.throwIfAborted();
    await deps.onItems(from === 0 && items.length <= pageSize ? items : items.slice(from, from + pageSize));
  }
}

async function findNextPage(deps: ListDeps, request: ListRequest, signal: AbortSignal): Promise<ListPage | undefined> {
  try {
    return await deps.cluster.listPage(request, signal);
  } catch (error) {
    if (error instanceof ClusterError && error.code === 'gone') return undefined;
    throw error;
  }
}

/**
 * Resolves in the next turn of the event loop, after waiting I/O had its chance: long work in pieces awaits it between the
 * pieces. No time is measured, so it needs no clock.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
