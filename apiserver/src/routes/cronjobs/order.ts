import { slaVerdicts, type CronJobSortKey } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { successRate } from '@cronjob-monitor/shared/domain';
import { storedCronJobSorts, type CatalogCronJob, type StoredCronJobSort } from '@cronjob-monitor/shared/store';
import { nextRunOf } from '../../next-run.ts';
import { judgeRate } from '../../sla-verdict.ts';
import type { CronJobFigures } from './figures.ts';

/** Keys that are computed, and so sorted here; the database sorts by all others. */
export type ComputedSort = Exclude<CronJobSortKey, StoredCronJobSort>;

export function isStoredSort(key: CronJobSortKey): key is StoredCronJobSort {
  return (storedCronJobSorts as readonly string[]).includes(key);
}

/** Facts that computed keys are made of. */
export interface OrderFacts {
  readonly figuresOf: (id: number) => CronJobFigures | undefined;
  readonly now: Instant;
  readonly defaultTimeZone: string;
}

type KeyOf = (cronJob: CatalogCronJob, facts: OrderFacts) => number | undefined;

const keys: Readonly<Record<ComputedSort, KeyOf>> = {
  successRate: ({ id }, { figuresOf }) => {
    const figures = figuresOf(id);
    return figures && successRate(figures.current);
  },
  verdict: ({ id }, { figuresOf }) => {
    const figures = figuresOf(id);
    return figures && slaVerdicts.indexOf(judgeRate(figures.judged.current, figures.sla));
  },
  lastRun: ({ lastRun }) => lastRun && (lastRun.startedAt ?? lastRun.createdAt),
  duration: ({ lastRun }) => lastRun?.durationMs,
  nextRun: (cronJob, { now, defaultTimeZone }) => nextRunOf(cronJob, now, defaultTimeZone),
};

/** Sorts by a computed key: unknown values last both ways, ties by namespace and name. */
export function sortCronJobs(
  cronJobs: readonly CatalogCronJob[],
  sort: { readonly key: ComputedSort; readonly descending: boolean },
  facts: OrderFacts,
): CatalogCronJob[] {
  const keyOf = keys[sort.key];
  const keyed = cronJobs.map((cronJob) => ({ cronJob, key: keyOf(cronJob, facts) }));
  keyed.sort((a, b) => {
    if (a.key !== b.key) {
      if (a.key === undefined) return 1;
      if (b.key === undefined) return -1;
      return sort.descending ? b.key - a.key : a.key - b.key;
    }
    return byText(a.cronJob.namespace, b.cronJob.namespace) || byText(a.cronJob.name, b.cronJob.name);
  });
  return keyed.map(({ cronJob }) => cronJob);
}

/** Names are ASCII: code units are code points. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
