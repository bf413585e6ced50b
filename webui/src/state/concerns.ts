import { healthStates, type CronJob, type StateCounts } from '@cronjob-monitor/shared/contract';
import type { Hint } from '../api/stream.ts';

/** Kinds of changes that may change a row about a CronJob: its runs, its alerts, and what holds messages back; `overview` stands for those of all. */
export const rowKinds: ReadonlySet<Hint['kind']> = new Set(['cronjob', 'alert', 'execution', 'silence', 'overview']);
/**
 * A list after a row that the stream carries, in its place; a row that is older than what is shown changes nothing. Undefined: it is of no row
 * of the list.
 */
export function withRow<List extends { readonly items: readonly CronJob[] }>(list: List, hint: Hint): List | undefined {
  if (hint.kind !== 'row') return undefined;
  const { row } = hint.data;
  const at = list.items.findIndex(({ namespace, name }) => namespace === row.namespace && name === row.name);
  const before = list.items[at];
  if (!before) return undefined;
  return Number(row.verdict.revision) < Number(before.verdict.revision)
    ? list
    : { ...list, items: list.items.with(at, row) };
}

/** Those that the stream is to carry: of a list. */
export function refsOf({ items }: { readonly items: readonly CronJob[] }): readonly string[] {
  return items.map(({ namespace, name }) => `${namespace}/${name}`);
}

/** Runs that begin and end make no CronJob better or worse. */
export function hasSameStates(a: StateCounts, b: StateCounts): boolean {
  return healthStates.every((state) => a[state] === b[state]);
}
