import { listText } from '../../format/figures.ts';
import { runningMark, stateMarks } from '../../format/marks.ts';
import type { CronJobFilters } from './state.svelte.ts';

const marks = { ...stateMarks, running: runningMark };

/** Names what was looked for and not found: `No CronJob matches critical in prod`. */
export function emptyText({ search, namespaces, states, monitor, isOfJobs }: CronJobFilters): string {
  const what = [states.map((state) => marks[state].word.toLowerCase()).join(' or '), search === '' ? '' : `"${search}"`]
    .filter(Boolean)
    .join(' and ');
  const where = [
    namespaces.length > 0 ? `in ${listText(namespaces)}` : '',
    monitor === '' ? '' : `of monitor ${monitor}`,
  ].filter(Boolean);
  return [isOfJobs ? 'No group of Jobs matches' : 'No CronJob matches', what, ...where]
    .filter(Boolean)
    .join(' ')
    .replace(/matches (in|of)/, 'is $1');
}
