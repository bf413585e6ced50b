/**
 * The candidate that was probably meant: the same last part after the dots, or few letters different: two, or a fifth of
 * them in a long text. Undefined when none comes near.
 */
export function findNearest(text: string, candidates: readonly string[]): string | undefined {
  const lower = text.toLowerCase();
  const sameEnd = candidates.filter((candidate) => candidate.endsWith(`.${lower}`));
  if (sameEnd.length === 1) return sameEnd[0];

  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase());
    if (!best || distance < best.distance) best = { candidate, distance };
  }
  const most = Math.max(Math.floor(text.length / 5), Math.min(2, Math.floor((text.length - 1) / 2)));
  return best && best.distance <= most ? best.candidate : undefined;
}

/** Letters to insert, delete, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let cost = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + same);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/** What is said of a field that no schema of ours has, given as a path such as `spec.sla.windowDay`. */
export function unknownFieldMessage({
  path,
  allowed,
}: {
  readonly path: string;
  readonly allowed: readonly string[];
}): string {
  const near = findNearest(path.replace(/^.*\./, ''), allowed);
  return `is no field, and is dropped; ${near === undefined ? `allowed: ${allowed.join(', ')}` : `did you mean ${near}?`}`;
}
