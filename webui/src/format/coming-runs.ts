import type { Ref, Timeline } from '@cronjob-monitor/shared/contract';
import { msOf } from './time.ts';

/** What starts at one instant. */
export interface ComingInstant {
  readonly at: string;
  readonly cronJobs: readonly Ref[];
  /** All of them are due inside a maintenance window. */
  readonly inMaintenance: boolean;
}

/** The first instants at which something starts, each with everything that starts then. */
export function comingRuns({ items }: Timeline, nowMs: number, most: number): ComingInstant[] {
  const runs = items.flatMap(({ namespace, name, next }) =>
    next
      .filter(({ scheduledFor }) => msOf(scheduledFor) >= nowMs)
      .map(({ scheduledFor, inMaintenance }) => ({ at: scheduledFor, cronJob: { namespace, name }, inMaintenance })),
  );
  return [...Map.groupBy(runs, ({ at }) => at)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, most)
    .map(([at, due]) => ({
      at,
      cronJobs: due.map(({ cronJob }) => cronJob),
      inMaintenance: due.every(({ inMaintenance }) => inMaintenance),
    }));
}
