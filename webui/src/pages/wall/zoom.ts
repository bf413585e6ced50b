import { wallSteps, type Wall, type WallStep } from '@cronjob-monitor/shared/contract';
import { msOf } from '../../format/time.ts';
import type { WallLine } from './lines.ts';
import type { WallPlace } from './moves.ts';

/** Drawn over the wall from one place to another, by the pointer or by the arrow keys with Shift. */
export interface WallSelection {
  readonly anchor: WallPlace;
  readonly end: WallPlace;
}

/** A part of the wall that is shown alone. */
export interface WallZoom {
  readonly from: string;
  readonly until: string;
  readonly step: WallStep;
  /** `namespace/name` of its rows; none: all. */
  readonly rows: readonly string[];
}

/** Lines and columns that a selection covers, both ends among them. */
interface Covered {
  readonly top: number;
  readonly bottom: number;
  readonly first: number;
  readonly last: number;
}

/** As many columns as a window shows beside each other. */
const mostColumns = 72;
const minuteMs = 60_000;

/** Undefined: it is one cell, or lies on the names. */
export function coveredBy({ anchor, end }: WallSelection): Covered | undefined {
  const [top, bottom] = [Math.min(anchor.line, end.line), Math.max(anchor.line, end.line)];
  const [first, last] = [Math.min(anchor.column, end.column), Math.max(anchor.column, end.column)];
  return first < 0 || (top === bottom && first === last) ? undefined : { top, bottom, first, last };
}

/**
 * The range of the columns in the finest steps that fit, and the rows of the lines: of several lines, for one alone says when and not which. The
 * head of a group that is folded stands for its rows.
 */
export function zoomInto(
  { from, stepSeconds, rows }: Pick<Wall, 'from' | 'stepSeconds' | 'rows'>,
  lines: readonly WallLine[],
  { top, bottom, first, last }: Covered,
): WallZoom {
  const beginMs = msOf(from) + first * stepSeconds * 1_000;
  const rangeMs = (last - first + 1) * stepSeconds * 1_000;
  const step = wallSteps.find((one) => rangeMs / stepMsOf(one) <= mostColumns) ?? '24h';
  const meant = lines.slice(top, bottom + 1).flatMap((line) => {
    if (line.kind === 'row') return [line.row];
    return line.isFolded ? line.rows : [];
  });
  const isPart = top !== bottom && meant.length > 0 && meant.length < rows.length;
  return {
    from: new Date(beginMs).toISOString(),
    until: new Date(beginMs + rangeMs).toISOString(),
    step,
    rows: isPart ? meant.map(({ cronjob: { namespace, name } }) => `${namespace}/${name}`) : [],
  };
}

function stepMsOf(step: WallStep): number {
  return Number.parseInt(step, 10) * (step.endsWith('h') ? 60 * minuteMs : minuteMs);
}
