import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { DailyFigure, DurationPoint } from './daily.ts';
import { drawReferences, drawRuns, type Surface } from './marks.ts';

/** A line across the chart, labelled at the line. */
export interface ReferenceLine {
  readonly seconds: number;
  readonly label: string;
  readonly tone: 'crit' | 'off';
  readonly isDashed: boolean;
}

export interface PlotInput {
  readonly points: readonly DurationPoint[];
  readonly daily: readonly DailyFigure[];
  readonly lines: readonly ReferenceLine[];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isLog: boolean;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly timeZone: string;
  /** Words of an axis. */
  readonly dayText: (ms: number) => string;
  readonly durationText: (seconds: number) => string;
  /** Resolves a token to a colour, as the theme has it now. */
  readonly colour: (token: string) => string;
}

/** Below this width labels stand over their lines. */
const narrowPx = 560;
const labelFont = '12px system-ui, sans-serif';

export interface DrawnDurations {
  /** Takes the drawing away. */
  stop(): void;
  /** Where a run stands, in pixels from the corner of the box. */
  placeOf(point: DurationPoint): { readonly leftPx: number; readonly topPx: number };
}

/** Draws durations into a box. The words and figures beside it are the page's. */
export function drawDurations(box: HTMLElement, input: PlotInput): DrawnDurations {
  const isNarrow = input.widthPx < narrowPx;
  const axis = {
    stroke: input.colour('--text-3'),
    font: labelFont,
    grid: { stroke: input.colour('--border'), width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      width: input.widthPx,
      height: input.heightPx,
      padding: [12, isNarrow ? 8 : 136, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      tzDate: (ms) => uPlot.tzDate(new Date(ms), input.timeZone),
      ms: 1,
      scales: {
        x: { time: true, range: [input.fromMs, input.untilMs] },
        y: {
          // The library declares names for 1 and 3 that are not there when it runs.
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
          distr: input.isLog ? 3 : 1,
          range: (_plot, _least, most) => rangeOf(input, most),
        },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: isNarrow ? 72 : 96,
          values: (_plot, ticks) => ticks.map(input.dayText),
        },
        {
          ...axis,
          size: 64,
          splits: (_plot, _index, least, most) => splitsOf(least, most, input.isLog),
          values: (_plot, ticks) => ticks.map((tick) => (tick === 0 ? '0' : input.durationText(tick))),
        },
      ],
      series: [
        {},
        { stroke: input.colour('--text-3'), width: 1.5, points: { show: false }, spanGaps: true },
        { stroke: input.colour('--text-2'), width: 1.5, points: { show: false }, spanGaps: true },
      ],
      hooks: {
        // Points lie under the lines of the days, which a crowd of runs would hide.
        drawAxes: [(drawn) => drawRuns(surfaceOf(drawn, input), input)],
        draw: [(drawn) => drawReferences(surfaceOf(drawn, input), input)],
      },
    },
    [input.daily.map(({ at }) => at), input.daily.map(({ p50 }) => p50), input.daily.map(({ p95 }) => p95)],
    box,
  );
  return {
    stop: () => plot.destroy(),
    placeOf: ({ at, seconds }) => ({
      leftPx: plot.valToPos(at, 'x') + plot.over.offsetLeft,
      topPx: plot.valToPos(Math.max(input.isLog ? 0.5 : 0, seconds), 'y') + plot.over.offsetTop,
    }),
  };
}

/** Steps that people know: 1, 2, 5, 10, 15, 30 of a unit. */
const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
];

function splitsOf(least: number, most: number, isLog: boolean): number[] {
  if (isLog) return [1, 10, 60, 600, 3_600, 36_000, 86_400].filter((value) => value >= least && value <= most);
  const step = steps.find((size) => most / size <= 5) ?? steps.at(-1) ?? 1;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

function rangeOf({ points, lines, isLog }: PlotInput, ofSeries: number): [number, number] {
  const most = Math.max(
    1,
    ofSeries || 0,
    ...lines.map(({ seconds }) => seconds),
    points.reduce((longest, { seconds }) => Math.max(longest, seconds), 0),
  );
  return isLog
    ? [Math.max(0.5, Math.min(...points.map(({ seconds }) => Math.max(0.5, seconds)))), most * 1.5]
    : [0, most * 1.12];
}

function surfaceOf(plot: uPlot, input: PlotInput): Surface {
  const ratio = devicePixelRatio;
  return {
    ctx: plot.ctx,
    x: (ms) => plot.valToPos(ms, 'x', true),
    y: (seconds) => plot.valToPos(Math.max(input.isLog ? 0.5 : 0, seconds), 'y', true),
    leftPx: plot.bbox.left,
    rightPx: plot.bbox.left + plot.bbox.width,
    ratio,
    font: labelFont.replace('12px', `${12 * ratio}px`),
    isNarrow: input.widthPx < narrowPx,
  };
}
