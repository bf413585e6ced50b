import type { SlaBudget, SlaList, SlaTarget } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { countText, percentText, plural, targetText } from './figures.ts';

/** What is asked for: `Success, 95 % in 7 d`, `Takes at most 45 min`, `Finished by 06:00 Europe/Berlin`. */
export function slaTargetText({ subject, target, finishBy, windowDays }: SlaTarget): string {
  if (subject === 'finishBy') return `Finished by ${finishBy ?? 'a time that is not known'}`;
  if (target === null) return 'Not known';
  if (subject === 'successRate') return `Success, ${targetText(target)} in ${windowDays} d`;
  return `Takes ${subject === 'minDuration' ? 'at least' : 'at most'} ${durationText(target)}`;
}

/** How it stands: `91.2 %`, `52 min 54 s`; null is no data, and never 0. */
export function slaCurrentText({ current, unit, subject, verdict }: SlaTarget): string {
  if (subject === 'finishBy') return finishByWords[verdict];
  if (current === null) return 'no data';
  return unit === 'seconds' ? durationText(current) : percentText(current);
}

/** Of how many runs a figure is: `52 of 57`. */
export function runsText({ success, runs, subject, windowDays }: SlaTarget): string {
  if (success !== null && runs !== null) return `${countText(success)} of ${countText(runs)}`;
  return subject === 'maxDuration' ? `longest of ${windowDays} d` : 'last run';
}

const finishByWords: Readonly<Record<SlaTarget['verdict'], string>> = {
  breached: 'not finished in time',
  pending: 'not finished in time',
  atRisk: 'in time',
  noData: 'no data',
  met: 'in time',
};

/** What is left of a target, or over it: `2 failures over`, `the next failure breaches`, `4 min left`. Undefined where it has no budget. */
export function marginText({ subject, verdict, failuresLeft, runs, budget }: SlaTarget): string | undefined {
  if (subject === 'successRate' && verdict === 'noData')
    return runs === null || runs === 0 ? 'No run yet' : `Too few runs: ${runs}`;
  if (budget === null) return undefined;
  if (subject === 'maxDuration') return `${durationText(Math.abs(budget.left))} ${budget.left < 0 ? 'over' : 'left'}`;
  if (failuresLeft === null) return `${plural(Math.ceil(-budget.left), 'failure')} over`;
  return failuresLeft === 0 ? 'The next failure breaches' : `${plural(failuresLeft, 'failure')} left`;
}

/** How long what is left of a rate's budget lasts: `16 d`. Undefined where nothing is counted by days. */
export function lastsText({ subject, budget }: SlaTarget): string | undefined {
  if (subject !== 'successRate' || budget === null) return undefined;
  if (budget.allowed < 1 && budget.burnt === 0) return 'no budget';
  if (budget.left <= 0) return 'spent';
  return budget.daysLeft === null ? 'not burning' : `${Math.floor(budget.daysLeft)} d`;
}

/** How much of a budget is burnt: `46 %`, beyond all of it `5.7 x`. */
export function burnText({ burntPercent }: SlaBudget): string {
  if (burntPercent === null) return 'no budget';
  if (burntPercent <= 100) return `${Math.round(burntPercent)} %`;
  const times = burntPercent / 100;
  return `${times < 9.95 ? times.toFixed(1) : Math.round(times)} x`;
}

/** What a drawing of days shows, for those who do not see it. */
export function daysText({ daily, unit }: SlaTarget): string {
  const known = (daily ?? []).filter((day) => day !== null);
  const broken = known.filter(({ isBroken }) => isBroken).length;
  return `${plural(known.length, 'day')} with runs in 30 days, ${broken} of them ${unit === 'percent' ? 'below' : 'over'} the target`;
}

/** `11 of 35 targets are breached; 4 breach at the next failure`. */
export function slaHeadline(summary: SlaList['summary'] | undefined): string {
  if (!summary) return 'SLA';
  const { breached, pending, atRisk, noData, met } = summary;
  const over = breached + pending;
  const all = over + atRisk + noData + met;
  if (all === 0) return 'No target is set';
  const next = atRisk > 0 ? `${atRisk} ${atRisk === 1 ? 'breaches' : 'breach'} at the next failure` : '';
  if (over > 0)
    return [`${over} of ${plural(all, 'target')} ${over === 1 ? 'is' : 'are'} breached`, next]
      .filter(Boolean)
      .join('; ');
  if (next) return `No target is breached; ${next}`;
  return noData === all
    ? 'No target has runs yet'
    : `${noData > 0 ? `All ${met} targets with runs` : `All ${plural(met, 'target')}`} are met`;
}

/** Under the headline: who is worst, and how the others stand. */
export function slaOverview({ met, noData }: SlaList['summary'], worst: SlaTarget | undefined): string {
  const percent = worst?.budget?.burntPercent ?? 0;
  const times =
    percent > 100 ? `${percent < 995 ? (percent / 100).toFixed(1) : Math.round(percent / 100)} times` : undefined;
  const what = worst?.subject === 'maxDuration' ? 'its limit' : 'its budget';
  return [
    worst && times ? `Worst: ${worst.cronjob.name} has burnt ${times} ${what}.` : undefined,
    met > 0 ? `${plural(met, 'target')} met${noData > 0 ? `, ${noData} without a run yet` : ''}.` : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

/** Against the window before: `+1.2`, `-4.0` percentage points, `as before`; undefined without both. */
export function changeText({ current, previous, subject }: SlaTarget): string | undefined {
  if (subject !== 'successRate' || current === null || previous === null) return undefined;
  const change = Math.round((current - previous) * 10) / 10;
  if (change === 0) return 'as before';
  return `${change > 0 ? '+' : '\u2212'}${Math.abs(change).toFixed(1)} points`;
}

/** Targets by who owns their CronJob, or by its namespace, in the order of the first of each; undefined: all are one group without a name. */
export function inGroups<Target extends Pick<SlaTarget, 'owner' | 'cronjob'>>(
  targets: readonly Target[],
  by: 'owner' | 'namespace' | 'none',
): { readonly name: string | undefined; readonly targets: readonly Target[] }[] {
  const nameOf = ({ owner, cronjob }: Target): string | undefined =>
    by === 'none' ? undefined : by === 'owner' ? (owner ?? 'No owner') : cronjob.namespace;
  const groups = new Map<string | undefined, Target[]>();
  for (const target of targets) groups.set(nameOf(target), [...(groups.get(nameOf(target)) ?? []), target]);
  return [...groups].map(([name, those]) => ({ name, targets: those }));
}
