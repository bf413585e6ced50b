import type { Tonight, TonightItem } from '@cronjob-monitor/shared/contract';
import { countText, plural } from './figures.ts';
import { printWords } from './print-words.ts';
import { clockText, msOf, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** `Tonight until 06:00: 33 CronJobs run, 6 are at risk`. */
export function tonightTitle({ span, until, cronjobs, atRisk }: Tonight, viewer: Viewer): string {
  const name = { night: 'Tonight', day: 'Today', asked: 'Next' }[span];
  const risk = atRisk === 0 ? 'none is at risk' : `${countText(atRisk)} ${atRisk === 1 ? 'is' : 'are'} at risk`;
  const run = cronjobs === 0 ? 'no CronJob runs' : `${plural(cronjobs, 'CronJob')} ${cronjobs === 1 ? 'runs' : 'run'}`;
  return `${name} until ${clockText(until, viewer.timeZone).slice(0, 5)}: ${run}, ${risk}`;
}

/** From so many runs on they are not told by their times. */
const manyRuns = 24;

/** When the next of its runs is due: `02:00`, `all night`; a dash where none is expected. */
export function tonightWhen({ at, runs }: TonightItem, span: Tonight['span'], viewer: Viewer): string {
  if (runs > manyRuns) return span === 'night' ? 'all night' : 'all day';
  const next = at.find((instant) => msOf(instant) >= viewer.nowMs) ?? at.at(-1);
  return next === undefined ? '–' : clockText(next, viewer.timeZone).slice(0, 5);
}

/** Why it may end badly, and who hears it: each of its risks once, the likely ones first. */
export function tonightReason({ risks, told }: TonightItem, viewer: Viewer): string {
  const sentences = risks.map(({ words }) => printWords(words, viewer));
  // A risk of not being heard says itself who hears, and of what is suspended nothing is to be heard.
  const saysAll = risks.some(({ code, level }) => code === 'deaf' || (code === 'cannot' && level === 'possible'));
  return [...sentences, ...(saysAll ? [] : [told.words])].join('. ');
}

/** How many more there are than have a row; undefined: each has one. */
export function tonightMore({ atRisk }: Tonight, shown: number): string | undefined {
  return atRisk > shown ? `${countText(atRisk - shown)} more at risk` : undefined;
}

/** What stands under the rows: how many of those that run have nothing (what is suspended may be at risk, and does not run), and how well the nights before were foreseen. */
export function tonightFoot({ calm, score }: Tonight): string {
  const now = `${countText(calm)} ${calm === 1 ? 'runs' : 'run'} without a finding`;
  if (score.nights === 0) return now;
  const foreseen =
    score.failures === 0 ? 'nothing failed' : `${countText(score.foreseen)} of ${countText(score.failures)} foreseen`;
  return `${now}. ${plural(score.nights, 'night')}: ${foreseen}, ${countText(score.false)} false`;
}

/** The quarter of an hour in which most start; undefined: none starts. */
export function peakOf(starts: Tonight['starts']): number | undefined {
  const most = Math.max(0, ...starts.map(({ runs }) => runs));
  return most === 0 ? undefined : starts.findIndex(({ runs }) => runs === most);
}

/** `10 start at 02:00`. */
export function startsText(start: Tonight['starts'][number] | undefined, viewer: Viewer): string {
  if (!start) return '';
  const when = shortTimeText(start.at, viewer.timeZone, viewer.nowMs);
  return `${start.runs === 0 ? 'none starts' : `${countText(start.runs)} ${start.runs === 1 ? 'starts' : 'start'}`} at ${when}`;
}
