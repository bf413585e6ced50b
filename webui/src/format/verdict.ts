import type { CronJob, LastExecution, WorstAlert } from '@cronjob-monitor/shared/contract';
import { besideLimit, durationText, inUnit, unitOf } from './duration.ts';
import { ordinal, percentText, plural, targetText } from './figures.ts';
import { causeText } from './runs.ts';
import { whyNotJudged } from './schedule.ts';
import { ageText, msOf, relativeText, shortTimeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** What a verdict is told from: an item of the list of CronJobs, or what its page knows besides. */
export type Judged = Pick<
  CronJob,
  | 'worstAlert'
  | 'lastExecution'
  | 'lastSuccess'
  | 'sla'
  | 'suspended'
  | 'schedule'
  | 'timezone'
  | 'scheduleProblem'
  | 'nextRun'
  | 'deletedAt'
  | 'recentRuns'
>;

/** What only some pages know. */
export interface VerdictDetails {
  readonly p99Seconds?: number | null;
  /** `06:00 Europe/Zurich`, of the target that was missed. */
  readonly finishBy?: string | null;
}

/** What is wrong with a CronJob, how much, against which limit; or how its last run went. One sentence without a full stop. */
export function verdictText(cronJob: Judged, viewer: Viewer, details: VerdictDetails = {}): string {
  const { worstAlert } = cronJob;
  if (worstAlert) return alertVerdict(worstAlert, cronJob, viewer, details);
  if (cronJob.scheduleProblem && cronJob.deletedAt === null) return `Not evaluated: ${whyNotJudged(cronJob)}`;
  return withoutAlert(cronJob, viewer);
}

type Teller = (alert: WorstAlert, cronJob: Judged, viewer: Viewer, details: VerdictDetails) => string;

/** The verdict of one alert of a CronJob. */
export const alertVerdict: Teller = (alert, ...rest) => tellers[alert.type](alert, ...rest);

const tellers: Readonly<Record<WorstAlert['type'], Teller>> = {
  jobFailed: (alert, { lastExecution }, { nowMs }) => {
    const failed = lastExecution?.status === 'failed' ? lastExecution : null;
    const at = endOf(failed) ?? alert.since;
    const cause = causeText({
      exitCode: alert.exitCode ?? failed?.exitCode ?? null,
      reason: alert.reason ?? failed?.reason ?? null,
    });
    const count = alert.occurrences > 1 ? ` (${ordinal(alert.occurrences)} failure in a row)` : '';
    return `${failed ? 'Last run' : 'A run'} failed ${relativeText(at, nowMs)}${cause ? `: ${cause}` : ''}${count}`;
  },

  missedSchedule: (alert, { recentRuns = [] }, { nowMs, timeZone }) => {
    const missed = recentRuns.filter(({ outcome, at }) => outcome === 'missed' && msOf(at) <= nowMs);
    const last = missed.at(-1)?.at ?? alert.since;
    const first = missed.at(-alert.occurrences)?.at ?? alert.since;
    const others =
      alert.occurrences > 1 ? `, ${alert.occurrences} missed since ${shortTimeText(first, timeZone, nowMs)}` : '';
    return `Run of ${shortTimeText(last, timeZone, nowMs)} did not start (${ageText(last, nowMs)} late${others})`;
  },

  deadManTriggered: (alert, { lastSuccess }, { nowMs }) => {
    const seconds = lastSuccess === null ? alert.measured : (nowMs - msOf(lastSuccess)) / 1000;
    if (seconds === null) return 'No success for too long';
    if (alert.limit === null) return `No success for ${durationText(seconds)}`;
    const told = besideLimit(seconds, alert.limit);
    return `No success for ${told.measured} (limit ${told.limit})`;
  },

  slaBreached: (alert, cronJob, viewer, details) => {
    const teller = alert.subject === null ? undefined : targetTellers[alert.subject];
    return teller ? teller(alert, cronJob, viewer, details) : 'A target is missed';
  },

  durationRegression: (alert) => {
    const { measured, limit, unit } = alert;
    if (measured === null) return 'Runs take longer than they did';
    const tell = (value: number): string => (unit === 'percent' ? targetText(value) : durationText(value));
    const told = unit === 'percent' ? `${tell(measured)} above its baseline` : tell(measured);
    return `p95 is ${told}${limit === null ? '' : ` (limit ${tell(limit)})`}`;
  },

  jobSuspended: (alert, _cronJob, { nowMs }) => {
    if (alert.limit === null) return `Suspended since ${ageText(alert.since, nowMs)}`;
    // The alert began when the limit was passed.
    const seconds = alert.limit + (nowMs - msOf(alert.since)) / 1000;
    return `Suspended for ${inWords(seconds, alert.limit)} (limit ${inWords(alert.limit, alert.limit)})`;
  },

  jobStuck: (alert, _cronJob, { nowMs }, { p99Seconds }) => {
    const seconds = (alert.limit ?? 0) + (nowMs - msOf(alert.since)) / 1000;
    const age = ageText(nowMs - seconds * 1000, nowMs);
    if (alert.subject === 'notStarted') return `Not started for ${age}${alert.reason ? `: ${alert.reason}` : ''}`;
    if (alert.subject === 'terminating') return `Ending for ${age}`;
    const usual = p99Seconds ? ` (p99 ${durationText(p99Seconds)})` : limitOf(alert);
    return `Running for ${age}${usual}`;
  },
};

const targetTellers: Readonly<Record<string, Teller>> = {
  successRate: (alert, { sla }) => {
    const rate = sla.runs > 0 ? (100 * sla.success) / sla.runs : alert.measured;
    const target = sla.minSuccessRate ?? alert.limit;
    const runs = sla.runs > 0 ? ` of ${plural(sla.runs, 'run')}` : '';
    const told = `${percentText(rate)}${runs} succeeded in ${plural(sla.windowDays, 'day')}`;
    return target === null ? told : `${told} (target ${targetText(target)})`;
  },
  maxDuration: (alert, { lastExecution }) => {
    const seconds = alert.measured ?? lastExecution?.durationSeconds ?? null;
    return seconds === null ? 'A run took too long' : `Last run took ${durationText(seconds)}${limitOf(alert)}`;
  },
  minDuration: (alert, { lastExecution }) => {
    const seconds = alert.measured ?? lastExecution?.durationSeconds ?? null;
    const least = alert.limit === null ? '' : ` (at least ${durationText(alert.limit)} expected)`;
    return seconds === null ? 'A run was too short' : `Last run took ${durationText(seconds)}${least}`;
  },
  finishBy: (_alert, _cronJob, _viewer, { finishBy }) =>
    finishBy ? `Not finished by ${finishBy}` : 'Not finished by its time of day',
};

function limitOf({ limit }: WorstAlert): string {
  return limit === null ? '' : ` (limit ${durationText(limit)})`;
}

/** Days as a word, since they count in a sentence; anything else in its unit. */
function inWords(seconds: number, limitSeconds: number): string {
  const unit = unitOf(limitSeconds);
  if (unit !== 'd') return inUnit(seconds, unit);
  return plural(Math.floor(seconds / 86_400), 'day');
}

function withoutAlert(cronJob: Judged, viewer: Viewer): string {
  const { lastExecution, suspended, deletedAt } = cronJob;
  const { nowMs, timeZone } = viewer;
  if (deletedAt !== null) return `Deleted ${relativeText(deletedAt, nowMs)}`;
  if (!lastExecution) {
    if (suspended) return 'Suspended; no run seen yet';
    const first = cronJob.nextRun === null ? '' : `, first at ${shortTimeText(cronJob.nextRun, timeZone, nowMs)}`;
    return `No run seen yet${first}`;
  }
  const last = lastRunText(lastExecution, nowMs);
  return suspended ? `Suspended; ${last.charAt(0).toLowerCase()}${last.slice(1)}` : last;
}

/** How the last run ended: `Last run succeeded 4 h ago in 3 min`. */
export function lastRunText(run: LastExecution, nowMs: number): string {
  const at = endOf(run);
  const ago = at === null ? '' : ` ${relativeText(at, nowMs)}`;
  switch (run.status) {
    case 'success':
      return `Last run succeeded${ago}${run.durationSeconds === null ? '' : ` in ${durationText(run.durationSeconds)}`}`;
    case 'failed': {
      const cause = causeText(run);
      return `Last run failed${ago}${cause ? `: ${cause}` : ''}`;
    }
    case 'replaced':
      return `Last run was replaced${ago} by the next one`;
    case 'deleted':
      return `Last run was deleted${ago}, before it ended`;
    default:
      return `Last run ended${ago}; its outcome could not be seen`;
  }
}

function endOf(run: LastExecution | null): string | null {
  return run?.completionTime ?? run?.startTime ?? null;
}
