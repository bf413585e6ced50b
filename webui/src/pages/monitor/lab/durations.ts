import type { PreviewHistogram } from '@cronjob-monitor/shared/contract';
import { secondsOfGo } from '../../../format/duration.ts';

/** Seconds of a duration as people or resources write it: `1 h 50 min`, `90m`, `2 d`. Undefined for anything else. */
export function secondsOfText(text: string): number | undefined {
  const go = text.trim().toLowerCase().replaceAll(/\s+/g, '').replaceAll('min', 'm');
  const seconds = go === '' ? undefined : secondsOfGo(go);
  return seconds !== undefined && seconds > 0 ? seconds : undefined;
}

const goUnits = [
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** Whole seconds as resources write them: `1h50m`. */
export function goText(seconds: number): string {
  let left = Math.round(seconds);
  return goUnits
    .map(([unit, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return count > 0 ? `${count}${unit}` : '';
    })
    .join('');
}

/** Round durations, seconds, rising: `[step, until]`. */
const steps: readonly (readonly [number, number])[] = [
  [1, 10],
  [5, 60],
  [30, 600],
  [60, 3_600],
  [300, 10_800],
  [1_800, 86_400],
  [3_600, 259_200],
  [21_600, 1_209_600],
  [86_400, 34_560_000],
];

/** The stops of a slider over what a limit judges, rising: round durations around these, from one below the least to half as much again as the largest; percents are the same for all. */
export function stopsOf(unit: PreviewHistogram['unit'], seconds: readonly number[]): readonly number[] {
  if (unit === 'percent') return percentStops;
  const most = Math.max(...seconds, 1) * 1.5;
  const least = Math.min(...seconds, most);
  const stops: number[] = [];
  for (const [step, until] of steps)
    for (let at = (stops.at(-1) ?? 0) + step; at <= until && (stops.at(-1) ?? 0) < most; at += step) stops.push(at);
  const from = Math.max(
    0,
    stops.findLastIndex((stop) => stop < least),
  );
  return stops.slice(from);
}

/** Percents for a slider: every half from 90 on, every tenth from 99 on. */
const percentStops: readonly number[] = [
  ...Array.from({ length: 40 }, (_, index) => 50 + index),
  ...Array.from({ length: 18 }, (_, index) => 90 + index / 2),
  ...Array.from({ length: 11 }, (_, index) => Math.round((99 + index / 10) * 10) / 10),
];

/** Where a value stands among rising stops, 0 to 1. */
export function shareOf(value: number, stops: readonly number[]): number {
  const last = stops.length - 1;
  const after = stops.findIndex((stop) => stop >= value);
  if (after === -1) return 1;
  const [to = 0, from = 0] = [stops[after], stops[after - 1]];
  return after === 0 || last === 0 ? 0 : (after - 1 + (value - from) / (to - from)) / last;
}
