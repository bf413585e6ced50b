import { readFileSync } from 'node:fs';

const goldenDirectory = new URL('../../../tests/golden/', import.meta.url);

/** The text of a recorded truth, by its path below `tests/golden`. Throws when there is no such file. */
export function readGolden(path: string): string {
  return readFileSync(new URL(path, goldenDirectory), 'utf8');
}

/** What robfig/cron answered for one schedule text. */
export interface ScheduleVector {
  /** As it stands in the file: the title of a failure. */
  readonly line: string;
  readonly spec: string;
  readonly zone: string;
  /** Epoch milliseconds; undefined when the text is rejected. */
  readonly from: number | undefined;
  /** The slots chained from `from`, epoch milliseconds; null ends them: there is none. Empty when the text is rejected. */
  readonly slots: readonly (number | null)[];
}

/** The vectors of the given file below `tests/golden`; the README beside it tells the form of its lines. */
export function listScheduleVectors(path: string): ScheduleVector[] {
  const lines = readGolden(path)
    .split('\n')
    .filter((line) => line !== '');
  return lines.map(path.endsWith('.jsonl') ? fromJsonLine : fromTextLine);
}

/** `EXPRESSION [ZONE from INSTANT] NEXT1 NEXT2 NEXT3` or `EXPRESSION [ZONE] ERR reason`. */
function fromTextLine(line: string): ScheduleVector {
  const match = /^(.*) \[(\S*)(?: from (\S+))?\] (.*)$/.exec(line);
  const [, spec, zone, from, answer] = match ?? [];
  if (spec === undefined || zone === undefined || answer === undefined) throw new Error(`no schedule vector: ${line}`);
  if (from === undefined) return { line, spec, zone, from: undefined, slots: [] };
  return { line, spec, zone, from: toInstant(from), slots: answer.trim().split(/\s+/).map(toSlot) };
}

/** `["spec", "zone", "from", "slot" …]` or `["spec", "zone", null]`. */
function fromJsonLine(line: string): ScheduleVector {
  const [spec, zone, from, ...slots] = JSON.parse(line) as [string, string, string | null, ...string[]];
  return { line, spec, zone, from: from === null ? undefined : toInstant(from), slots: slots.map(toSlot) };
}

function toSlot(text: string): number | null {
  return text === 'none' ? null : toInstant(text);
}

function toInstant(text: string): number {
  const instant = Date.parse(text);
  if (Number.isNaN(instant)) throw new Error(`no instant: ${text}`);
  return instant;
}
