import type { Evidence } from '@cronjob-monitor/shared/domain';

/** Holds the evidence of runs in memory until suggestions were looked for in it and the alerts of the run have it. */
export interface EvidenceBook {
  /** Notes a piece; the last one of its kind and name counts. */
  add(jobUid: string, piece: Evidence): void;
  /** Counts the work as under way for this run until the work ends or fails. */
  during(jobUid: string, work: Promise<void>): Promise<void>;
  /** Resolves when no work is under way for the run. */
  whenQuiet(jobUid: string): Promise<void>;
  /** All pieces of the run, oldest first, which are then forgotten. */
  take(jobUid: string): readonly Evidence[];
  forget(jobUid: string): void;
}

interface Page {
  readonly pieces: Map<string, Evidence>;
  readonly underWay: Set<Promise<void>>;
}

/** Many failures at once must not fill the memory: characters of all texts together. */
const mostCharacters = 32 * 1024 * 1024;

/** A full book drops the texts of the run that was noted first. */
export function createEvidenceBook(limit: number = mostCharacters): EvidenceBook {
  const pages = new Map<string, Page>();
  let held = 0;

  const pageOf = (jobUid: string): Page => {
    let page = pages.get(jobUid);
    if (!page) pages.set(jobUid, (page = { pieces: new Map(), underWay: new Set() }));
    return page;
  };
  const letGo = (page: Page): void => {
    for (const piece of page.pieces.values()) held -= sizeOf(piece);
    page.pieces.clear();
  };

  return {
    add(jobUid, piece) {
      const { pieces } = pageOf(jobUid);
      const key = `${piece.kind} ${piece.name}`;
      held += sizeOf(piece) - sizeOf(pieces.get(key));
      pieces.delete(key);
      pieces.set(key, piece);
      for (const [other, page] of pages) {
        if (held <= limit) break;
        if (other !== jobUid) letGo(page);
      }
    },
    async during(jobUid, work) {
      const { underWay } = pageOf(jobUid);
      underWay.add(work);
      try {
        await work;
      } finally {
        underWay.delete(work);
      }
    },
    async whenQuiet(jobUid) {
      // Work that ends may begin more work.
      for (let page = pages.get(jobUid); page && page.underWay.size > 0; page = pages.get(jobUid)) {
        await Promise.allSettled(page.underWay);
      }
    },
    take(jobUid) {
      const page = pages.get(jobUid);
      if (!page) return [];
      const pieces = [...page.pieces.values()];
      letGo(page);
      if (page.underWay.size === 0) pages.delete(jobUid);
      return pieces;
    },
    forget(jobUid) {
      const page = pages.get(jobUid);
      if (page) letGo(page);
      pages.delete(jobUid);
    },
  };
}

function sizeOf(piece: Evidence | undefined): number {
  return piece?.body?.length ?? 0;
}
