import { dayText, shortDayText, shortTimeText } from '../../format/time.ts';

/** A label under the bars of a strip. */
interface StripDay {
  /** The bar that it stands under. */
  readonly index: number;
  readonly text: string;
  /** Where the label begins. */
  readonly px: number;
  /** A day begins at this bar, and runs of the day before stand left of it. */
  readonly isBoundary: boolean;
}

/** The room of `23 Nov`, and the least from the begin of a label to the next. */
const [dayPx, apartPx] = [44, 60];
/** The room of `23 Nov 11:34`. */
const clockPx = 84;

/**
 * The days of a strip, each at its first run, oldest first. The newest day has its label always, older ones as far as there is room.
 * Runs of one day alone have the time of the first and of the last.
 */
export function stripDays(
  runs: readonly { readonly at: string }[],
  { pitchPx, timeZone }: { readonly pitchPx: number; readonly timeZone: string },
): StripDay[] {
  const days = runs.map(({ at }) => dayText(at, timeZone));
  const begins = days.flatMap((day, index) => (day === days[index - 1] ? [] : [index]));
  const widthPx = runs.length * pitchPx;
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return [];
  if (begins.length === 1) {
    const text = `${shortDayText(first.at, timeZone)} ${clockOf(first.at, timeZone)}`;
    const one = { index: 0, text, px: 0, isBoundary: false };
    const lastPx = widthPx - dayPx;
    if (lastPx < clockPx) return [one];
    return [one, { index: runs.length - 1, text: clockOf(last.at, timeZone), px: lastPx, isBoundary: false }];
  }
  const found: StripDay[] = [];
  for (const index of begins.toReversed()) {
    const px = Math.max(0, Math.min(index * pitchPx, widthPx - dayPx));
    const next = found[0];
    if (next && next.px - px < apartPx) continue;
    found.unshift({ index, text: shortDayText(runs[index]?.at ?? '', timeZone), px, isBoundary: index > 0 });
  }
  return found;
}

function clockOf(at: string, timeZone: string): string {
  return shortTimeText(at, timeZone, Date.parse(at));
}
