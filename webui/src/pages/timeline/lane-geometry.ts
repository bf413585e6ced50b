import type { Grid, Timeline, TimelineItem } from '@cronjob-monitor/shared/contract';
import { countText, plural } from '../../format/figures.ts';
import { durationText } from '../../format/duration.ts';
import { minuteText, msOf, shortTimeText } from '../../format/time.ts';
import type { Viewer } from '../../format/viewer.ts';

/** From time to pixels. */
export interface Scale {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly widthPx: number;
}

export function toPx({ fromMs, untilMs, widthPx }: Scale, ms: number): number {
  return ((ms - fromMs) / Math.max(1, untilMs - fromMs)) * widthPx;
}

const leastBarPx = 3;

/** A run as a bar; `isUnsure`: how long it takes is not known. */
export interface LaneBar {
  readonly fromPx: number;
  readonly widthPx: number;
}

export interface LaneBars {
  readonly sure: readonly LaneBar[];
  readonly unsure: readonly LaneBar[];
  /** Behind runs that are due inside a maintenance window. */
  readonly maintenance: readonly LaneBar[];
  /** More runs follow the last one that is listed. */
  readonly rest: readonly LaneBar[];
}

/** The bars of one CronJob: as long as its runs usually are. */
export function laneBars({ next, omitted, expectedDurationSeconds }: TimelineItem, scale: Scale): LaneBars {
  const bars = next.map(({ scheduledFor, inMaintenance }) => {
    const fromPx = toPx(scale, msOf(scheduledFor));
    const endPx = toPx(scale, msOf(scheduledFor) + (expectedDurationSeconds ?? 0) * 1000);
    return { fromPx, widthPx: Math.max(leastBarPx, Math.min(scale.widthPx, endPx) - fromPx), inMaintenance };
  });
  const isKnown = expectedDurationSeconds !== null;
  const endPx = Math.max(0, ...bars.map(({ fromPx, widthPx }) => fromPx + widthPx));
  return {
    rest: omitted > 0 && endPx < scale.widthPx ? [{ fromPx: endPx + 1, widthPx: scale.widthPx - endPx - 1 }] : [],
    sure: isKnown ? bars : [],
    unsure: isKnown ? [] : bars.map(({ fromPx }) => ({ fromPx, widthPx: 12 })),
    maintenance: bars.filter(({ inMaintenance }) => inMaintenance),
  };
}

/** How far a lane of the past is not recorded, from its left end. */
export function unrecordedPx({ from, until, items }: Grid, index: number, widthPx: number): number {
  const figuresFrom = items[index]?.figuresFrom ?? null;
  if (figuresFrom === null) return 0;
  const px = toPx({ fromMs: msOf(from), untilMs: msOf(until), widthPx }, msOf(figuresFrom));
  return Math.min(widthPx, Math.max(0, px));
}

/** Slanted lines over a box. */
export function hatchPath(widthPx: number, heightPx: number): string {
  const stepPx = 8;
  let path = '';
  for (let x = -heightPx; x < widthPx; x += stepPx) {
    const fromX = Math.max(0, x);
    const toX = Math.min(widthPx, x + heightPx);
    path += `M${fromX} ${heightPx - (fromX - x)}L${toX} ${heightPx - (toX - x)}`;
  }
  return path;
}

/** What a lane says where it has no bars, or besides them. */
export function laneNote(item: TimelineItem): string | undefined {
  if (item.suspended) return 'Will not run: suspended';
  const skipped = item.skippedDates[0];
  if (skipped !== undefined)
    return `The clock change leaves out the run of ${skipped}${item.skippedDates.length > 1 ? ` and ${item.skippedDates.length - 1} more` : ''}`;
  const repeated = item.next.find(({ dst }) => dst === 'repeated');
  if (repeated) return `The clock change repeats the run of ${repeated.localTime.slice(0, 10)}`;
  return item.next.length === 0 ? 'No run in this time' : undefined;
}

/** A lane, said aloud. */
export function laneText(item: TimelineItem, viewer: Viewer): string {
  const first = item.next[0];
  const runs = plural(item.next.length + item.omitted, 'run');
  const usual =
    item.expectedDurationSeconds === null
      ? 'duration not known yet'
      : `usually ${durationText(item.expectedDurationSeconds)}`;
  const begins = first ? `, first at ${minuteText(first.scheduledFor, viewer.timeZone)}` : '';
  const note = laneNote(item);
  return `${item.namespace}/${item.name}: ${runs}${begins}, ${usual}${note === undefined ? '' : `. ${note}`}`;
}

/** What collides, as the title: `03:00 starts 41 runs; 03:15 starts 2`. */
export function aheadTitle({ buckets, approximate, bucketSeconds }: Timeline, viewer: Viewer): string {
  const busiest = [...buckets].sort((a, b) => b.runs - a.runs)[0];
  if (!busiest || busiest.runs === 0) return 'No run is expected in this time';
  const after = buckets.find(({ start }) => msOf(start) === msOf(busiest.start) + bucketSeconds * 1000);
  const clock = (at: string): string => shortTimeText(at, viewer.timeZone, viewer.nowMs);
  const about = approximate ? 'about ' : '';
  const next = after ? `; ${clock(after.start)} starts ${countText(after.runs)}` : '';
  return `${clock(busiest.start)} starts ${about}${plural(busiest.runs, 'run')} in ${durationText(bucketSeconds)}${next}`;
}
