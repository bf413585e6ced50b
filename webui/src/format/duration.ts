import { durationInWords, durationUnits as units } from '@cronjob-monitor/shared/contract';

type Unit = (typeof units)[number]['word'];

/** A duration in words: `1 d 2 h`, `3 min 4 s`, `340 ms`. Null: there is none. */
export function durationText(seconds: number | null): string {
  return seconds === null ? 'no data' : durationInWords(seconds);
}

/** The largest unit that divides the limit evenly, so that measured and limit are told alike: `26 h (limit 25 h)`. */
export function unitOf(seconds: number): Unit {
  for (const { word, seconds: size } of units)
    if (seconds >= size && seconds % size === 0 && (word !== 'd' || seconds >= 2 * size)) return word;
  return 's';
}

/** A duration in one given unit, cut: what passed the limit by a moment is told as the limit and not above. */
export function inUnit(seconds: number, unit: Unit): string {
  const size = units.find(({ word }) => word === unit)?.seconds ?? 1;
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** Beside a limit: the limit in its own unit, what was measured in the same one; below one of it, in its own. */
export function besideLimit(measured: number, limit: number): { readonly measured: string; readonly limit: string } {
  const unit = unitOf(limit);
  const inLimitUnit = inUnit(measured, unit);
  return {
    measured: inLimitUnit.startsWith('0 ') ? durationText(measured) : inLimitUnit,
    limit: inUnit(limit, unit),
  };
}

const goUnits: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};

/** Seconds of a duration as resources and configuration write it, `1h30m`, `2d`; undefined for anything else. */
export function secondsOfGo(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w)/g))
    seconds += Number(count) * (goUnits[unit ?? 's'] ?? 1);
  return seconds;
}

/** A limit as people say it: in its own unit where it is whole, `25 h`, `45 min`, else two units. */
export function limitText(text: string): string {
  const seconds = secondsOfGo(text);
  if (seconds === undefined) return text;
  if (seconds < 1 || seconds % 1 !== 0) return durationText(seconds);
  const unit = unitOf(seconds);
  const inOne = inUnit(seconds, unit);
  return inOne.length > 5 ? durationText(seconds) : inOne;
}

/** A sentence of the service with its durations as people say them: `no answer within 15 s`. What stands in quotes is a quotation and stays. */
export function spelledOut(sentence: string): string {
  return sentence.replaceAll(/(?<![\w."'`=/-])(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+(?![\w"'`=/-])/g, (text) =>
    limitText(text),
  );
}
