import type { SlaTarget } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { targetMarks } from './marks.ts';
import { countText, percentText, plural, targetText } from './figures.ts';

/** Subjects of targets as words. */
export const subjectWords: Readonly<Record<SlaTarget['subject'], string>> = {
  successRate: 'Success rate',
  maxDuration: 'Longest run',
  minDuration: 'Shortest run',
  finishBy: 'Finished by',
};

/** What is asked for: `95 %`, `at most 45 min`, `by 06:00 Europe/Berlin`. */
export function slaTargetText({ subject, target, unit, finishBy }: SlaTarget): string {
  if (subject === 'finishBy') return finishBy === null ? 'not known' : `by ${finishBy}`;
  if (target === null) return 'not known';
  if (unit === 'percent') return targetText(target);
  return `${subject === 'minDuration' ? 'at least' : 'at most'} ${durationText(target)}`;
}

/** How it stands: `91.2 % (52 of 57)`; null is no data, and never 0. */
export function slaCurrentText({ current, unit, success, runs, subject, verdict }: SlaTarget): string {
  if (subject === 'finishBy') return finishByWords[verdict];
  if (current === null) return 'no data';
  if (unit === 'seconds') return durationText(current);
  const counts = success === null || runs === null ? '' : ` (${countText(success)} of ${countText(runs)})`;
  return `${percentText(current)}${counts}`;
}

const finishByWords: Readonly<Record<SlaTarget['verdict'], string>> = {
  breached: 'not finished in time',
  pending: 'not finished in time',
  atRisk: 'in time',
  noData: 'no data',
  met: 'in time',
};

/** How far from a breach: `1 more failure breaches`. Undefined for what is counted by no runs. */
export function marginText({ subject, verdict, failuresLeft, runs }: SlaTarget): string | undefined {
  if (subject !== 'successRate') return undefined;
  if (verdict === 'noData') return runs === null || runs === 0 ? 'No run yet' : `Too few runs: ${runs}`;
  if (failuresLeft === null) return targetMarks[verdict].word;
  if (failuresLeft === 0) return 'The next failure breaches';
  return `${plural(failuresLeft + 1, 'more failure')} ${failuresLeft === 0 ? 'breaches' : 'breach'}`;
}

/** Against the window before: `+1.2`, `-4.0` percentage points, `as before`; undefined without both. */
export function changeText({ current, previous, subject }: SlaTarget): string | undefined {
  if (subject !== 'successRate' || current === null || previous === null) return undefined;
  const change = Math.round((current - previous) * 10) / 10;
  if (change === 0) return 'as before';
  return `${change > 0 ? '+' : '\u2212'}${Math.abs(change).toFixed(1)} points`;
}
