import { barsPath } from '../../charts/lanes/lane-axis.ts';
import type { WallCell } from '@cronjob-monitor/shared/contract';

/** Looks of marks: each has a colour and a form of its own, so that the colour is never alone. */
export const laneLooks = [
  'ok',
  'failed',
  'cross',
  'late',
  'hole',
  'missed',
  'skipped',
  'unseen',
  'running',
  'due',
  'risk',
  'dot',
  'dueBand',
  'riskBand',
] as const;
type LaneLook = (typeof laneLooks)[number];

interface LaneSize {
  /** From one column to the next. */
  readonly pitchPx: number;
  readonly heightPx: number;
}

const cellPx = 11;
const bandPx = 7;
const leastFailedPx = 4;
const footPx = 2;

/** The marks of a lane, joined to one path for each look. */
export function laneMarks(
  cells: readonly WallCell[],
  isTexture: boolean,
  size: LaneSize,
): Partial<Record<LaneLook, string>> {
  const paths: Partial<Record<LaneLook, string>> = {};
  const draw: Draw = (look, d) => {
    paths[look] = (paths[look] ?? '') + d;
  };
  for (const cell of cells) {
    if (isTexture) drawBand(cell, size, draw);
    else drawCell(cell, size, draw);
  }
  return paths;
}

type Draw = (look: LaneLook, d: string) => void;

function drawCell(cell: WallCell, { pitchPx, heightPx }: LaneSize, draw: Draw): void {
  const x = cell.c * pitchPx + 1;
  const w = Math.max(3, pitchPx - 2);
  const y = (heightPx - cellPx) / 2;
  const runs = cell.ok + cell.late + cell.failed;
  if (cell.failed > 0 && cell.failed === runs) {
    draw('failed', bar(x, y, w, cellPx));
    draw('cross', cross(x + w / 2, y + cellPx / 2));
  } else if (runs > 0) {
    const failedPx = cell.failed === 0 ? 0 : Math.max(leastFailedPx, Math.round((cell.failed / runs) * cellPx));
    // A gap of one pixel tells both apart without a colour.
    draw('ok', bar(x, y, w, failedPx === 0 ? cellPx : cellPx - failedPx - 1));
    if (failedPx > 0) draw('failed', bar(x, y + cellPx - failedPx, w, failedPx));
  }
  if (cell.late > 0) {
    draw('late', frame(x, y, w, cellPx));
    draw('hole', dot(x + w / 2, y + (cell.failed > 0 ? 3 : cellPx / 2)));
  }
  if (cell.missed > 0) draw('missed', frame(x, y, w, cellPx));
  if (cell.running > 0) draw('running', triangle(x + w / 2, y + cellPx / 2));
  if (cell.skipped > 0 && runs === 0) draw('skipped', bar(x, y + cellPx - footPx, w, footPx));
  if (cell.unseen > 0 && runs === 0) draw('unseen', strokes(x, y, w, cellPx));
  if (cell.due > 0 && runs + cell.missed + cell.running === 0) {
    draw(cell.risk === null ? 'due' : 'risk', frame(x, y, w, cellPx));
    if (cell.risk !== null) draw('dot', dot(x + w / 2, y + cellPx / 2));
  }
}

/** Cells of a texture touch each other; the share that failed is a strip of its own at the foot. */
function drawBand(cell: WallCell, { pitchPx, heightPx }: LaneSize, draw: Draw): void {
  const x = cell.c * pitchPx;
  const y = (heightPx - bandPx) / 2;
  const runs = cell.ok + cell.late + cell.failed;
  if (runs > 0) {
    const failedPx = cell.failed === 0 ? 0 : Math.max(footPx, Math.round((cell.failed / runs) * (bandPx - 1)));
    const okPx = failedPx === 0 ? bandPx : bandPx - failedPx - 1;
    if (okPx > 0) draw('ok', bar(x, y, pitchPx, okPx));
    if (failedPx > 0) draw('failed', bar(x, y + bandPx - failedPx, pitchPx, failedPx));
    if (cell.failed === runs) draw('cross', cross(x + pitchPx / 2, y + bandPx / 2));
  } else if (cell.missed > 0) draw('missed', frame(x + 1, y, pitchPx - 2, bandPx));
  else if (cell.skipped > 0) draw('skipped', bar(x, y + bandPx - footPx, pitchPx, footPx));
  else if (cell.unseen > 0) draw('unseen', strokes(x, y, pitchPx, bandPx));
  else if (cell.due > 0) {
    draw(
      cell.risk === null ? 'dueBand' : 'riskBand',
      `M${r(x)} ${r(y + 0.5)}h${r(pitchPx)}m${r(-pitchPx)} ${bandPx - 1}h${r(pitchPx)}`,
    );
  }
}

const bar = (x: number, y: number, w: number, h: number): string => barsPath([{ fromPx: x, widthPx: w }], y, h);

/** An outline whose stroke lies inside the box. */
function frame(x: number, y: number, w: number, h: number): string {
  return bar(x + 0.75, y + 0.75, w - 1.5, h - 1.5);
}

function cross(x: number, y: number): string {
  return `M${r(x - 2.5)} ${r(y - 2.5)}l5 5m0 -5l-5 5`;
}

function dot(x: number, y: number): string {
  return `M${r(x - 1.75)} ${r(y)}a1.75 1.75 0 1 0 3.5 0a1.75 1.75 0 1 0 -3.5 0z`;
}

function triangle(x: number, y: number): string {
  return `M${r(x - 2.5)} ${r(y - 4)}l6 4l-6 4z`;
}

function strokes(x: number, y: number, w: number, h: number): string {
  let d = '';
  for (let at = 1; at < w; at += 3) d += `M${r(x + at)} ${r(y + h)}l${r(Math.min(3, w - at))} ${-h}`;
  return d;
}

function r(px: number): number {
  return Math.round(px * 100) / 100;
}
