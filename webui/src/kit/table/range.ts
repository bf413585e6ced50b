/** Rows of a long list that are drawn. */
export interface Range {
  /** First row, from 0. */
  readonly first: number;
  /** One after the last. */
  readonly end: number;
}

interface Sight {
  /** Where the first row of the list stands, in pixels from the top of the window; negative: scrolled past. */
  readonly topPx: number;
  readonly windowPx: number;
  readonly rowPx: number;
  readonly count: number;
}

/** Of a long list no more rows than this are ever in the document, however high the window. */
export const mostRows = 60;
/** Rows out of sight, before and after. */
const mostAround = 8;
/** So many rows come and go at once: a frame in which one does costs as much as one in which two do. */
const step = 2;
/** A list up to this length is drawn whole. */
export const longFrom = 121;

/** The rows in sight and some around them, so that a quick scroll meets no empty place. */
export function rangeOf({ topPx, windowPx, rowPx, count }: Sight): Range {
  if (count < longFrom) return { first: 0, end: count };
  const visible = Math.min(mostRows, Math.ceil(windowPx / rowPx) + 1);
  const around = Math.min(mostAround, Math.floor((mostRows - visible) / 2));
  const firstVisible = Math.floor(Math.max(0, -topPx) / rowPx);
  const inSteps = firstVisible - (firstVisible % Math.min(step, around + 1));
  const first = Math.max(0, Math.min(inSteps - around, count - visible - around));
  return { first, end: Math.min(count, first + visible + 2 * around) };
}
