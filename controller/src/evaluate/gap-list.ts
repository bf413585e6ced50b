import type { Gap, Instant } from '@cronjob-monitor/shared/domain';

/** A span in which the service did not watch, and what changed in it. */
export interface KeptGap extends Gap {
  /** UIDs of CronJobs whose spec was written in it; undefined: unknown which. */
  readonly edited: readonly string[] | undefined;
}

/** What is kept of them, so that a crash in the middle of catching up forgets none. */
interface KeptGaps {
  readonly gaps: readonly KeptGap[];
  /** Up to then everything was seen, as far as was written down. */
  readonly watchedThroughAt: Instant | undefined;
  /** When the first term of this database had seen everything. */
  readonly bornAt: Instant | undefined;
  /** Of the term that wrote it. */
  readonly epoch: number | undefined;
}

/** More than that are run together: then more is shown as not seen, and nothing as missed that was not. */
const mostGaps = 200;
const mostEdited = 2_000;

/** Oldest first; gaps that touch become one. */
export function addGap(gaps: readonly KeptGap[], gap: KeptGap): KeptGap[] {
  if (gap.toAt <= gap.fromAt) return [...gaps];
  const all = [...gaps, gap].sort((a, b) => a.fromAt - b.fromAt);
  const list: KeptGap[] = [];
  for (const next of all) {
    const last = list.at(-1);
    if (last && next.fromAt <= last.toAt) list[list.length - 1] = together(last, next);
    else list.push(next);
  }
  while (list.length > mostGaps) {
    const [first, second] = list.splice(0, 2);
    if (first && second) list.unshift(together(first, second));
  }
  return list;
}

function together(a: KeptGap, b: KeptGap): KeptGap {
  const edited = a.edited && b.edited ? [...new Set([...a.edited, ...b.edited])] : undefined;
  return {
    fromAt: Math.min(a.fromAt, b.fromAt),
    toAt: Math.max(a.toAt, b.toAt),
    edited: edited && edited.length <= mostEdited ? edited : undefined,
  };
}

/** What was kept by this release or an earlier one; anything else counts as nothing. */
export function toKeptGaps(value: unknown): KeptGaps {
  const { gaps, watchedThroughAt, bornAt, epoch } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as Record<string, unknown>;
  return {
    gaps: (Array.isArray(gaps) ? gaps : []).flatMap((gap) => toKeptGap(gap) ?? []),
    watchedThroughAt: typeof watchedThroughAt === 'number' ? watchedThroughAt : undefined,
    bornAt: typeof bornAt === 'number' ? bornAt : undefined,
    epoch: typeof epoch === 'number' ? epoch : undefined,
  };
}

function toKeptGap(value: unknown): KeptGap | undefined {
  const { fromAt, toAt, edited } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof fromAt !== 'number' || typeof toAt !== 'number') return undefined;
  const uids = Array.isArray(edited) ? edited.filter((uid) => typeof uid === 'string') : undefined;
  return { fromAt, toAt, edited: uids };
}
