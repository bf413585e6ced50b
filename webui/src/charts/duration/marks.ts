import type { PlotInput } from './plot.ts';

/** Where is drawn: a canvas, and where instants and durations lie on it, in its own pixels. */
export interface Surface {
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
export function drawRuns({ ctx, x, y, ratio }: Surface, { points, colour }: PlotInput): void {
  const isCrowd = points.length > crowd;
  ctx.save();
  ctx.globalAlpha = isCrowd ? 0.6 : 1;
  ctx.fillStyle = colour('--ok-mark');
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
export function drawReferences(surface: Surface, input: PlotInput): void {
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
