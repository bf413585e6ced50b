import { clockText } from '../../format/time.ts';

/** Marks of an axis of hours: round instants of a zone, eight or so. */
interface LaneTick {
  readonly ms: number;
  /** A day begins here. */
  readonly isDay: boolean;
}

const hourMs = 3_600_000;
const stepsHours = [1, 2, 3, 6, 12, 24];

/** At full hours of the zone, `most` of them. */
// oxlint-disable-next-line max-params -- an axis
export function laneTicks(fromMs: number, untilMs: number, most: number, timeZone: string): LaneTick[] {
  const spanHours = (untilMs - fromMs) / hourMs;
  const step = stepsHours.find((hours) => spanHours / hours <= most) ?? 24 * Math.ceil(spanHours / 24 / most);
  const ticks: LaneTick[] = [];
  // Zones differ by quarters of an hour: an hour begins at one of these instants in each of them.
  const quarterMs = hourMs / 4;
  for (let ms = Math.ceil(fromMs / quarterMs) * quarterMs; ms <= untilMs; ms += quarterMs) {
    const [hour = 0, minute] = clockText(ms, timeZone).split(':').map(Number);
    if (minute === 0 && hour % Math.min(step, 24) === 0) ticks.push({ ms, isDay: hour === 0 });
  }
  // A step of several days: every so many-th of the days.
  return step <= 24 ? ticks : ticks.filter((_, index) => index % (step / 24) === 0);
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
