import type { CronJobStatusFilter } from '@cronjob-monitor/shared/contract';
import { listText } from '../../format/figures.ts';
import type { CronJobFilters } from './state.svelte.ts';

const words: Readonly<Record<CronJobStatusFilter, string>> = {
  healthy: 'healthy',
  warning: 'warning',
  critical: 'critical',
  suspended: 'suspended',
  running: 'running',
  unknown: 'not known yet',
};

/** Names what was looked for and not found: `No CronJob matches critical in prod`. */
export function emptyText({ search, namespaces, statuses, monitor }: CronJobFilters): string {
  const what = [statuses.map((status) => words[status]).join(' or '), search === '' ? '' : `"${search}"`]
    .filter(Boolean)
    .join(' and ');
  const where = [
    namespaces.length > 0 ? `in ${listText(namespaces)}` : '',
    monitor === '' ? '' : `of monitor ${monitor}`,
  ].filter(Boolean);
  return ['No CronJob matches', what, ...where]
    .filter(Boolean)
    .join(' ')
    .replace(/matches (in|of)/, 'is $1');
}
