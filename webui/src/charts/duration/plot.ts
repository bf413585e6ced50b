import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { laneTicks } from '../lanes/lane-axis.ts';
import type { DailyFigure, DurationPoint } from './daily.ts';

/** A line across the chart, labelled at the line. */
export interface ReferenceLine {
  readonly seconds: number;
  readonly label: string;
  readonly tone: 'crit' | 'off';
  readonly isDashed: boolean;
}

interface PlotInput {
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
  readonly durationText: (seconds: number) => string;
  /** Resolves a token to a colour, as the theme has it now. */
  readonly colour: (token: string) => string;
  /** That of the page: a canvas inherits none. */
  readonly fontFamily: string;
}

/** Below this width labels stand over their lines. */
const narrowPx = 560;
/** Room of the axis of durations. */
const axisPx = 64;
const fontPx = 12;

export interface DrawnDurations {
  /** Takes the drawing away. */
  stop(): void;
  /** Where a run stands, in pixels from the corner of the box. */
  placeOf(point: Pick<DurationPoint, 'at' | 'seconds'>): { readonly leftPx: number; readonly topPx: number };
}

/** Draws durations into a box. The words and figures beside it are the page's. */
export function drawDurations(box: HTMLElement, input: PlotInput): DrawnDurations {
  const endPx = input.widthPx < narrowPx ? 8 : 136;
  const ticks = laneTicks({ ...input, widthPx: input.widthPx - axisPx - endPx });
  const axis = {
    stroke: input.colour('--text-3'),
    font: `${fontPx}px ${input.fontFamily}`,
    grid: { stroke: input.colour('--border'), width: 1 },
    ticks: { show: false },
  };
  const plot = new uPlot(
    {
      width: input.widthPx,
      height: input.heightPx,
      padding: [12, endPx, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales: {
        x: { time: false, range: [input.fromMs, input.untilMs] },
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
          splits: () => ticks.map(({ ms }) => ms),
          values: () => ticks.map(({ text }) => text),
        },
        {
          ...axis,
          size: axisPx,
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
    font: `${fontPx * ratio}px ${input.fontFamily}`,
    isNarrow: input.widthPx < narrowPx,
  };
}

/** Where is drawn: a canvas, and where instants and durations lie on it, in its own pixels. */
interface Surface {
  readonly ctx: CanvasRenderingContext2D;
  readonly x: (ms: number) => number;
  readonly y: (seconds: number) => number;
  readonly leftPx: number;
  readonly rightPx: number;
  readonly ratio: number;
  readonly font: string;
  /** Labels stand over their lines, for there is no room beside them. */
  readonly isNarrow: boolean;
}

/** Beyond so many, marks are small and let each other through. */
const crowd = 400;

/** A mark for each run: a dot, or a cross for a failed one. */
function drawRuns({ ctx, x, y, ratio }: Surface, { points, colour }: PlotInput): void {
  const isCrowd = points.length > crowd;
  ctx.save();
  ctx.globalAlpha = isCrowd ? 0.6 : 1;
  ctx.fillStyle = colour('--ok-quiet');
  for (const { at, seconds, isFailed } of points) {
    if (isFailed) continue;
    ctx.beginPath();
    ctx.arc(x(at), y(seconds), (isCrowd ? 1.5 : 3) * ratio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour('--crit-mark');
  ctx.lineWidth = (isCrowd ? 1.5 : 2) * ratio;
  const arm = (isCrowd ? 3 : 4) * ratio;
  ctx.beginPath();
  for (const { at, seconds, isFailed } of points) {
    if (!isFailed) continue;
    const [cx, cy] = [x(at), y(seconds)];
    ctx.moveTo(cx - arm, cy - arm);
    ctx.lineTo(cx + arm, cy + arm);
    ctx.moveTo(cx + arm, cy - arm);
    ctx.lineTo(cx - arm, cy + arm);
  }
  ctx.stroke();
  ctx.restore();
}

/** Limits across the chart, and the names of the lines at their ends. */
function drawReferences(surface: Surface, input: PlotInput): void {
  const { ctx, y, leftPx, rightPx, ratio, isNarrow } = surface;
  ctx.save();
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.font = surface.font;
  for (const line of input.lines) {
    ctx.strokeStyle = input.colour(line.tone === 'crit' ? '--crit-mark' : '--off-mark');
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash(line.isDashed ? [6 * ratio, 4 * ratio] : []);
    ctx.beginPath();
    ctx.moveTo(leftPx, y(line.seconds));
    ctx.lineTo(rightPx, y(line.seconds));
    ctx.stroke();
  }
  const last = input.daily.at(-1);
  const labels = [
    ...input.lines.map(({ seconds, label, tone }) => ({
      at: y(seconds),
      label,
      token: tone === 'crit' ? '--crit-text' : '--text-3',
    })),
    ...(last && input.daily.length > 1
      ? [
          { at: y(last.p95), label: 'p95', token: '--text-2' },
          { at: y(last.p50), label: 'p50', token: '--text-3' },
        ]
      : []),
  ];
  const placed = apart(
    labels.map(({ at }) => at),
    14 * ratio,
  );
  for (const [index, { label, token, at }] of labels.entries()) {
    ctx.fillStyle = input.colour(token);
    if (isNarrow) ctx.fillText(label, leftPx + 6 * ratio, at - 5 * ratio);
    else ctx.fillText(label, rightPx + 8 * ratio, (placed[index] ?? at) + 4 * ratio);
  }
  ctx.restore();
}

/** Moves places apart, so that no label covers another; their order stays. */
export function apart(places: readonly number[], leastPx: number): number[] {
  const order = places.map((place, index) => ({ place, index })).sort((a, b) => a.place - b.place);
  let before = Number.NEGATIVE_INFINITY;
  const moved: number[] = [];
  for (const { place, index } of order) {
    before = Math.max(place, before + leastPx);
    moved[index] = before;
  }
  return moved;
}
