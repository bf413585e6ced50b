import type { PodFacts } from '../objects/pod.ts';

/**
 * The completion indexes named by a text such as `1,4-6`, as Kubernetes writes them in the status of an indexed Job.
 * Ranges stay ranges: a Job may have a hundred thousand indexes. Parts that make no sense are left out.
 */
export function parseIndexRanges(text: string | undefined): { readonly from: number; readonly to: number }[] {
  if (!text) return [];
  return text.split(',').flatMap((part) => {
    const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    if (!match) return [];
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    return from <= to ? [{ from, to }] : [];
  });
}

/** The lowest index named; undefined when there is none. */
export function lowestIndex(text: string | undefined): number | undefined {
  const ranges = parseIndexRanges(text);
  return ranges.length === 0 ? undefined : Math.min(...ranges.map(({ from }) => from));
}

/** Writes indexes, given in rising order, as Kubernetes does: `1,4-6`. */
export function formatIndexes(indexes: readonly number[]): string {
  const parts: { from: number; to: number }[] = [];
  for (const index of indexes) {
    const last = parts.at(-1);
    if (last && index === last.to + 1) last.to = index;
    else parts.push({ from: index, to: index });
  }
  return parts.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/**
 * The indexes with a failed pod and no successful one, in rising order. Only a Job with a limit of retries per index names its failed
 * indexes itself.
 */
export function unmendedIndexes(pods: readonly Pick<PodFacts, 'phase' | 'index'>[]): number[] {
  const mended = new Set(pods.filter(({ phase }) => phase === 'Succeeded').map(({ index }) => index));
  const failed = pods.flatMap(({ phase, index }) =>
    phase === 'Failed' && index !== undefined && !mended.has(index) ? [index] : [],
  );
  return [...new Set(failed)].sort((a, b) => a - b);
}
