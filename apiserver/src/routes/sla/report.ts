import {
  slaReportVerdicts,
  type Ref,
  type SlaIncident,
  type SlaReport,
  type SlaReportTarget,
  type SlaReportVerdict,
  type SlaSubject,
  closedAlertStates,
} from '@cronjob-monitor/shared/contract';
import {
  alertWords,
  budgetOf,
  counted,
  dayOf,
  durationInWords,
  judgeDay,
  limitInWords,
  rateBudget,
  rateWords,
  type Instant,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import {
  listAlerts,
  listDaysOfEach,
  listOpenAlerts,
  measureLongestRuns,
  type DayOfCronJob,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import { invalidRequest } from '../../errors.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { toWordedAlert } from '../verdicts/of-alert.ts';
import { presentTold } from '../alerts/told.ts';
import { gatherWhy } from '../verdicts/why.ts';
import { toBudget, type PairFacts } from './present.ts';

const mostIncidents = 500;

interface Span {
  readonly month: string;
  readonly from: Instant;
  /** The end of the month, or now. */
  readonly to: Instant;
}

/** A month of UTC days; the present one unless it is named. Throws INVALID_REQUEST for one that does not exist or has not begun. */
export function monthOf(asked: string | undefined, now: Instant): Span {
  const month = asked ?? new Date(now).toISOString().slice(0, 7);
  const [year = 0, number = 0] = month.split('-').map(Number);
  const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
  const [from, end] = [Date.UTC(year, number - 1), Date.UTC(year, number)];
  if (!isMonth || from > now)
    throw invalidRequest([
      { in: 'query', field: 'month', message: isMonth ? 'has not begun' : 'is no month', allowed: 'such as 2026-11' },
    ]);
  return { month, from, to: Math.min(end, now) };
}

/** What these targets came to in a month, and the incidents of their CronJobs in it. */
export async function readReport(
  deps: RouteDeps,
  pairs: readonly PairFacts[],
  { month, from, to }: Span,
): Promise<SlaReport> {
  const { store } = deps;
  const ids = [...new Set(pairs.map(({ cronJob }) => cronJob.id))];
  const [days, longest, alerts] = await Promise.all([
    listDaysOfEach(store, ids, { from: dayOf(from), to: dayOf(to - 1) }),
    measureLongestRuns(store, ids, { from, to }),
    listAlertsWithin(deps, ids, { from, to }),
  ]);
  const targets = pairs
    .flatMap((pair) =>
      judgeMonth(pair, {
        days: days.get(pair.cronJob.id) ?? [],
        longestMs: longest.get(pair.cronJob.id)?.durationMs,
        alerts,
        dayCount: Math.max(1, Math.ceil((to - from) / dayMs)),
      }),
    )
    .sort(
      (a, b) =>
        slaReportVerdicts.indexOf(a.verdict) - slaReportVerdicts.indexOf(b.verdict) ||
        (b.budget?.burntPercent ?? 0) - (a.budget?.burntPercent ?? 0),
    );
  const count = (verdict: SlaReportVerdict): number => targets.filter((one) => one.verdict === verdict).length;
  const summary = { missed: count('missed'), kept: count('kept'), noData: count('noData') };
  const judged = summary.missed + summary.kept;
  return {
    month,
    from: toWireInstant(from),
    to: toWireInstant(to),
    words:
      judged === 0
        ? 'No target could be judged'
        : `${summary.missed} of ${counted(judged, 'target')} ${summary.missed === 1 ? 'was' : 'were'} missed`,
    summary,
    targets,
    longestOutage: longestOutage(alerts, { from, to }),
    incidents: await presentIncidents(deps, alerts.slice(0, mostIncidents)),
    incidentsOmitted: Math.max(0, alerts.length - mostIncidents),
  };
}

/** Those that were active at some time of the month, the oldest first. */
async function listAlertsWithin(
  { store }: RouteDeps,
  ids: readonly number[],
  { from, to }: Pick<Span, 'from' | 'to'>,
): Promise<readonly StoredAlert[]> {
  const wanted = new Set(ids);
  const sort = { key: 'since', descending: false } as const;
  const [ended, open] = await Promise.all([
    listAlerts(store, { states: closedAlertStates, endedSince: from }, { sort }),
    listOpenAlerts(store, ids),
  ]);
  return [...ended, ...open]
    .filter(({ cronJobId, sinceAt, state }) => wanted.has(cronJobId) && sinceAt < to && state !== 'pending')
    .sort((a, b) => a.sinceAt - b.sinceAt);
}

type Judged = Pick<SlaReportTarget, 'verdict' | 'words'> & { readonly budget?: SlaReportTarget['budget'] };

interface FactsOfMonth {
  readonly days: readonly DayOfCronJob[];
  /** Of the runs that are kept, failed ones among them: the figures of days, which live longer, hold those of successes alone. */
  readonly longestMs: number | undefined;
  readonly alerts: readonly StoredAlert[];
  readonly dayCount: number;
}

function judgeMonth(
  { cronJob, monitor, monitorId, targets }: PairFacts,
  { days, longestMs, alerts, dayCount }: FactsOfMonth,
): SlaReportTarget[] {
  const { rate, maxDurationMs, minDurationMs, finishBy } = targets;
  const toTarget = (subject: SlaSubject, { verdict, words, budget = null }: Judged): SlaReportTarget => ({
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    owner: orNull(cronJob.notes.owner),
    monitor,
    subject,
    verdict,
    words,
    budget,
  });
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const success = days.reduce((sum, day) => sum + day.success, 0);
  // A monitor may count what never started as failed.
  const missed = rate.countMissed ? days.reduce((sum, day) => sum + day.missed, 0) : 0;
  const breaches = (subject: SlaSubject): number =>
    alerts.filter(
      (alert) =>
        alert.cronJobId === cronJob.id &&
        alert.monitorId === monitorId &&
        alert.type === 'slaBreached' &&
        alert.subject === subject,
    ).length;
  const byAlerts = (subject: SlaSubject, promise: string): Judged => {
    const count = breaches(subject);
    if (count > 0) return { verdict: 'missed', words: `${promise}: missed ${count === 1 ? 'once' : `${count} times`}` };
    return {
      verdict: success + failed === 0 ? 'noData' : 'kept',
      words: success + failed === 0 ? `${promise}: no run` : `${promise}: never missed`,
    };
  };
  const longest = (limitMs: number): Judged => {
    const ms = Math.max(longestMs ?? -1, ...days.map((day) => day.longestMs ?? -1));
    return ms <= limitMs && breaches('maxDuration') > 0
      ? byAlerts('maxDuration', `At most ${limitInWords(limitMs / 1_000)}`)
      : judgeLongest(ms < 0 ? undefined : ms, limitMs);
  };
  return [
    ...(rate.minSuccessRate === undefined || rate.minSuccessRate === 0
      ? []
      : [toTarget('successRate', judgeRateOf({ success, failed: failed + missed }, rate.minSuccessRate, dayCount))]),
    ...(maxDurationMs === undefined ? [] : [toTarget('maxDuration', longest(maxDurationMs))]),
    ...(minDurationMs === undefined
      ? []
      : [toTarget('minDuration', byAlerts('minDuration', `At least ${limitInWords(minDurationMs / 1_000)}`))]),
    ...(finishBy === undefined ? [] : [toTarget('finishBy', byAlerts('finishBy', `Finished by ${finishBy.time}`))]),
  ];
}

function judgeRateOf(
  counts: Pick<DayOfCronJob, 'success' | 'failed'>,
  minSuccessRate: number,
  windowDays: number,
): Judged {
  const runs = counts.success + counts.failed;
  const day = judgeDay(counts, minSuccessRate);
  const percent = runs === 0 ? undefined : (100 * counts.success) / runs;
  return {
    verdict: day === 'noRun' ? 'noData' : day === 'belowTarget' || day === 'failed' ? 'missed' : 'kept',
    words: runs === 0 ? 'No run' : rateWords({ percent, runs, windowDays: undefined, target: minSuccessRate }),
    budget: toBudget(rateBudget(counts, { minSuccessRate, windowDays })),
  };
}

function judgeLongest(longestMs: number | undefined, limitMs: number): Judged {
  const limit = limitInWords(limitMs / 1_000);
  if (longestMs === undefined) return { verdict: 'noData', words: `No run (limit ${limit})` };
  return {
    verdict: longestMs > limitMs ? 'missed' : 'kept',
    words: `Longest run took ${durationInWords(longestMs / 1_000)} (limit ${limit})`,
    budget: toBudget(budgetOf(limitMs / 1_000, longestMs / 1_000)),
  };
}

/** Alerts of a CronJob that overlap or touch are one outage; what lies outside the month does not count. */
function longestOutage(
  alerts: readonly StoredAlert[],
  { from, to }: Pick<Span, 'from' | 'to'>,
): SlaReport['longestOutage'] {
  let longest: { readonly cronjob: Ref; readonly ms: number } | undefined;
  for (const ofOne of Map.groupBy(alerts, ({ cronJobId }) => cronJobId).values()) {
    let [beganAt, endsAt] = [-Infinity, -Infinity];
    for (const { sinceAt, endedAt = to, cronJob } of ofOne) {
      const since = Math.max(sinceAt, from);
      if (since > endsAt) beganAt = since;
      endsAt = Math.max(endsAt, Math.min(endedAt, to));
      if (endsAt - beganAt > (longest?.ms ?? 0)) longest = { cronjob: cronJob, ms: endsAt - beganAt };
    }
  }
  return longest
    ? {
        cronjob: { namespace: longest.cronjob.namespace, name: longest.cronjob.name },
        seconds: Math.round(longest.ms / 1_000),
      }
    : null;
}

async function presentIncidents(deps: RouteDeps, alerts: readonly StoredAlert[]): Promise<SlaIncident[]> {
  const now = deps.store.now();
  const why = await gatherWhy(deps, { alerts }, { now });
  return alerts.map((alert) => ({
    id: alert.id,
    cronjob: alert.cronJob,
    severity: alert.severity,
    words: alertWords(toWordedAlert(alert)),
    since: toWireInstant(alert.sinceAt),
    endedAt: toWireInstantOrNull(alert.endedAt),
    cause: orNull(why.ofAlert(alert, presentTold(alert, undefined, now)).cause),
  }));
}
