import { dayText, minuteText, shortDayText, weekdayText } from '../../format/time.ts';

/** An axis of time. */
interface LaneAxis {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly widthPx: number;
  readonly timeZone: string;
  /** Where the word `now` ends, of an axis that has it. */
  readonly nowPx?: number | undefined;
}

/** A mark of an axis of time. */
interface LaneTick {
  readonly ms: number;
  readonly px: number;
  readonly text: string;
  /** A day begins here. */
  readonly isDay: boolean;
}

const minuteMs = 60_000;
const dayMinutes = 1_440;
/** Minutes from one mark to the next. */
const steps = [5, 15, 30, 60, 120, 180, 360, 720, ...[1, 3, 7, 14, 28, 56, 112, 224].map((days) => days * dayMinutes)];
/** Longer axes have days alone: a clock would come once a day. */
const mostDaysOfClocks = 3;
/** The least room from one label to the next, of clocks with a weekday and of days; half of what a letter takes. */
const [clocksApartPx, daysApartPx] = [72, 52];
const halfLetterPx = 3.5;
/** Room of the word `now`, with what keeps labels off it. */
const nowWordPx = 40;

/** Marks at round times of the zone: no two labels are alike, and none touches another one, an edge or the word `now`. */
export function laneTicks({ fromMs, untilMs, widthPx, timeZone, nowPx = -Infinity }: LaneAxis): LaneTick[] {
  const minutes = (untilMs - fromMs) / minuteMs;
  const least = minutes > mostDaysOfClocks * dayMinutes ? dayMinutes : 0;
  const most = Math.max(2, Math.floor(widthPx / (least > 0 ? daysApartPx : clocksApartPx)));
  const step = steps.find((size) => size >= least && minutes / size <= most) ?? Infinity;
  const texts = new Set<string>();
  return roundTimes(fromMs, untilMs, step, timeZone)
    .filter((_, index) => step <= dayMinutes || index % (step / dayMinutes) === 0)
    .map(({ ms, clock, isDay }) => {
      const short = isDay ? shortDayText(ms, timeZone) : clock;
      const text = texts.has(short) ? weekdayText(ms, timeZone) : short;
      texts.add(text);
      return { ms, px: ((ms - fromMs) / Math.max(1, untilMs - fromMs)) * widthPx, text, isDay };
    })
    .filter(({ px, text }) => {
      const [left, right] = [px - text.length * halfLetterPx, px + text.length * halfLetterPx];
      return left >= 0 && right <= widthPx && (right <= nowPx - nowWordPx || left >= nowPx);
    });
}

/** Begins of days, and what is a whole number of steps after them by the clock. A time that comes twice counts once. */
// oxlint-disable-next-line max-params -- an axis
function roundTimes(fromMs: number, untilMs: number, step: number, timeZone: string) {
  // Zones differ by quarters of an hour.
  const gridMs = Math.min(15, step) * minuteMs;
  const found = new Map<string, { readonly ms: number; readonly clock: string; readonly isDay: boolean }>();
  const beginMs = Math.ceil(fromMs / gridMs) * gridMs;
  let before = dayText(beginMs - gridMs, timeZone);
  for (let ms = beginMs; ms <= untilMs; ms += gridMs) {
    const local = minuteText(ms, timeZone);
    const [day = '', clock = ''] = local.split(' ');
    const [hour = 0, minute = 0] = clock.split(':').map(Number);
    const [isDay, ofDay] = [day !== before, 60 * hour + minute];
    before = day;
    if (found.has(local) || (!isDay && (ofDay === 0 || ofDay % step !== 0))) continue;
    found.set(local, { ms, clock, isDay });
    // The next one is a step away, or an hour less where clocks are changed.
    ms += Math.max(0, (Math.min(step, dayMinutes) - 60) * minuteMs - gridMs);
  }
  return [...found.values()];
}

/** Runs of a lane as one path: a bar as long as the run usually is, and never too thin to be seen. */
export function barsPath(
  runs: readonly { readonly fromPx: number; readonly widthPx: number }[],
  yPx: number,
  heightPx: number,
): string {
  return runs.map(({ fromPx, widthPx }) => `M${r(fromPx)} ${yPx}h${r(widthPx)}v${heightPx}h${r(-widthPx)}z`).join('');
}

function r(px: number): number {
  return Math.round(px * 10) / 10;
}
