import type { SlaReport, SlaReportTarget, SlaReportVerdict } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { durationText } from './duration.ts';
import { countText, plural } from './figures.ts';
import { burnText } from './sla.ts';
import { msOf } from './time.ts';

/** `November 2026`. */
export function monthText(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** The month so many before or after another, each as `2026-11`. */
export function monthBeside(month: string, step: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + step)).toISOString().slice(0, 7);
}

/** The report is of a month that has not ended. */
export const isGoingOn = ({ to, month }: SlaReport): boolean => new Date(to).toISOString().slice(0, 7) === month;

/** What became of a target in its month. */
export const reportMarks: Readonly<Record<SlaReportVerdict, Mark>> = {
  missed: { word: 'Missed', shape: 'cross', tone: 'crit' },
  kept: { word: 'Kept', shape: 'check', tone: 'ok' },
  noData: { word: 'No data', shape: 'question', tone: 'off' },
};

/** How many of a group were missed. */
export function keptText(targets: readonly SlaReportTarget[]): string {
  const missed = targets.filter(({ verdict }) => verdict === 'missed').length;
  return missed === 0 ? 'none missed' : `${countText(missed)} of ${plural(targets.length, 'target')} missed`;
}

/** What a target burnt of its budget; empty where it has none. */
export function burntText({ subject, budget }: SlaReportTarget): string {
  if (budget === null) return '';
  const of = subject === 'successRate' ? `${plural(budget.burnt, 'failure')}, ` : '';
  return `${of}${burnText(budget)}`;
}

/** How long an incident lasted, to the end of the report at most. */
export const lastedText = ({ since, endedAt }: SlaReport['incidents'][number], { to }: SlaReport): string =>
  durationText((msOf(endedAt ?? to) - msOf(since)) / 1_000);
