import type { SlaSubject, SlaTargetVerdict } from './vocabulary.ts';
import type { Verdict } from './verdict.ts';
import type { List, Percent, Ref } from './wire.ts';

/** One target: a monitor, a CronJob and a subject. */
export interface SlaTarget {
  readonly cronjob: Ref;
  readonly monitor: Ref;
  readonly subject: SlaSubject;
  readonly verdict: SlaTargetVerdict;
  readonly judged: Verdict;
  /** In `unit`; null for finishBy. */
  readonly target: number | null;
  /** Of `maxDuration` the longest run of the window, the running ones among them. */
  readonly current: number | null;
  readonly unit: 'percent' | 'seconds' | null;
  /** `06:00 Europe/Berlin`. */
  readonly finishBy: string | null;
  readonly windowDays: number;
  readonly success: number | null;
  readonly runs: number | null;
  readonly previous: Percent | null;
  readonly previousSuccess: number | null;
  readonly previousRuns: number | null;
  /** Failed runs until it breaches, 0 = the next one does; null = breached. */
  readonly failuresLeft: number | null;
  readonly alertId: string | null;
}

/** GET /api/v1/sla */
export interface SlaList extends List<SlaTarget> {
  readonly summary: Readonly<Record<SlaTargetVerdict, number>>;
}

export const slaSortKeys = ['verdict', 'name', 'namespace', 'failuresLeft'] as const;
export type SlaSortKey = (typeof slaSortKeys)[number];
