import { factText, plural } from '../../format/figures.ts';

interface FactPoint {
  readonly at: number;
  readonly value: number;
}

/** A fact over time, drawn in a box of 400 by 36. */
interface FactLine {
  readonly path: string;
  readonly least: number;
  readonly median: number;
  readonly most: number;
  readonly last: number;
  readonly runs: number;
}

const widthPx = 400;
const heightPx = 36;
const edgePx = 3;

/** `points`: oldest first, at least one. Zero is on the scale. */
export function factLine(
  points: readonly FactPoint[],
  span: { readonly fromMs: number; readonly untilMs: number },
): FactLine {
  const rising = points.map(({ value }) => value).sort((a, b) => a - b);
  const [least = 0] = rising;
  const most = rising.at(-1) ?? least;
  const bottom = Math.min(0, least);
  const top = Math.max(0, most);
  const height = top - bottom === 0 ? 1 : top - bottom;
  const length = Math.max(1, span.untilMs - span.fromMs);
  const places = points.map(({ at, value }) => {
    const x = (widthPx * (at - span.fromMs)) / length;
    const y = heightPx - edgePx - ((heightPx - 2 * edgePx) * (value - bottom)) / height;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  // A single run is a dot: a line of no length with a round end.
  const path = `M${places.join('L')}${places.length === 1 ? 'h0' : ''}`;
  const median = rising[Math.ceil(rising.length / 2) - 1] ?? least;
  return { path, least, median, most, last: points.at(-1)?.value ?? least, runs: points.length };
}

/** What the drawing shows, for those who do not see it. */
export function factSentence(name: string, { least, most, last, runs }: FactLine): string {
  return `${name} of ${plural(runs, 'run')}: from ${factText(least)} to ${factText(most)}, last ${factText(last)}`;
}
