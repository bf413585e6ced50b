import type { Instant } from '@cronjob-monitor/shared/domain';
import type { CatalogCronJob } from '@cronjob-monitor/shared/store';

/** Runs are recorded as they come since it was first seen; older ones only as far as they were still in the cluster. */
export function figuresFromOf({
  firstSeenAt,
  oldestRunAt,
}: Pick<CatalogCronJob, 'firstSeenAt' | 'oldestRunAt'>): Instant {
  return Math.min(firstSeenAt, oldestRunAt ?? firstSeenAt);
}
