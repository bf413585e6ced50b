import type { Hint } from '../api/stream.ts';

/** Kinds of changes that may change a row about a CronJob: its runs, its alerts, and what holds messages back. */
export const rowKinds: ReadonlySet<Hint['kind']> = new Set(['cronjob', 'alert', 'execution', 'silence']);
/** Kinds that may change a row about an alert. */
export const alertRowKinds: ReadonlySet<Hint['kind']> = new Set(['alert', 'delivery', 'silence']);
