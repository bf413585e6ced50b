import { healthStates, slaVerdicts, type CronJobSortKey } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { successRate } from '@cronjob-monitor/shared/domain';
import type { CronJobOutline } from '@cronjob-monitor/shared/store';
import type { PageRequest } from '../../middleware/pagination.ts';
import { nextRunOf } from '../../next-run.ts';
import { rateVerdictOf, type CronJobFigures } from './figures.ts';
import { firstOf } from './first-of.ts';

/** Facts that computed keys are made of. */
export interface OrderFacts {
  readonly figuresOf: (id: number) => CronJobFigures | undefined;
  readonly now: Instant;
  readonly defaultTimeZone: string;
}

type Key = string | number | undefined;
type KeyOf = (outline: CronJobOutline, facts: OrderFacts) => Key;

const keys: Readonly<Record<CronJobSortKey, KeyOf>> = {
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
  status: ({ state }) => healthStates.indexOf(state),
  activeAlerts: ({ activeAlerts }) => activeAlerts,
  lastSuccess: ({ lastSuccessAt }) => lastSuccessAt,
  successRate: ({ id }, { figuresOf }) => {
    const figures = figuresOf(id);
    return figures && successRate(figures.current);
  },
  verdict: ({ id, broken }, { figuresOf }) => {
    const figures = figuresOf(id);
    return figures && slaVerdicts.indexOf(rateVerdictOf(figures, broken));
  },
  lastRun: ({ lastRunAt }) => lastRunAt,
  duration: ({ lastDurationMs }) => lastDurationMs,
  nextRun: (outline, { now, defaultTimeZone }) => nextRunOf(outline, now, defaultTimeZone),
};

/** Whether an order is made of figures. */
export function needsFigures(key: CronJobSortKey): boolean {
  return key === 'successRate' || key === 'verdict';
}

/**
 * A page of these outlines, or all of them, in the order of a key: unknown values last both ways, ties as they were given, which is by
 * namespace and name.
 */
export function sortOutlines(
  outlines: readonly CronJobOutline[],
  sort: { readonly key: CronJobSortKey; readonly descending: boolean },
  facts: OrderFacts,
  page: PageRequest = { offset: 0, limit: outlines.length },
): CronJobOutline[] {
  const keyOf = keys[sort.key];
  const keyed = outlines.map((outline) => keyOf(outline, facts));
  const least = sort.descending ? 1 : -1;
  const places = firstOf([...keyed.keys()], page.offset + page.limit, (a, b) => {
    const [keyOfA, keyOfB] = [keyed[a], keyed[b]];
    if (keyOfA === keyOfB) return a - b;
    if (keyOfA === undefined) return 1;
    if (keyOfB === undefined) return -1;
    return keyOfA < keyOfB ? least : -least;
  });
  return places.slice(page.offset).flatMap((place) => outlines[place] ?? []);
}
