import { whyNotJudged, type ActiveJob, type CronJob } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { isStartless } from './runs.ts';
import { clockText, dayText, minuteText, msOf, relativeText } from './time.ts';
import type { Viewer } from './viewer.ts';

export type Coming = Pick<
  CronJob,
  'nextRun' | 'suspended' | 'schedule' | 'timezone' | 'scheduleProblem' | 'deletedAt' | 'concurrencyPolicy'
>;

/** What the page of a CronJob knows besides. */
export interface ComingDetails {
  readonly activeJobs?: readonly ActiveJob[];
  readonly usualSeconds?: number | null;
  /** The next run is due inside a maintenance window. */
  readonly inMaintenance?: boolean;
}

/** Will it run, and when: `Runs at 02:00 UTC (in 6 h 12 min)`. */
export function nextRunText(cronJob: Coming, viewer: Viewer, details: ComingDetails = {}): string {
  const { nextRun } = cronJob;
  if (cronJob.deletedAt !== null) return 'Will not run: deleted';
  const { schedule, timezone: timeZone, scheduleProblem: problem } = cronJob;
  if (problem)
    return `${problem === 'neverRuns' ? 'Never runs' : 'Not known'}: ${whyNotJudged({ schedule, timeZone, problem })}`;
  if (cronJob.suspended) return 'Will not run: suspended';
  if (nextRun === null) return 'Not known yet';
  const due = dueText(nextRun, viewer);
  if (cronJob.concurrencyPolicy === 'Forbid' && details.activeJobs?.some((job) => !job.finishing && isStartless(job)))
    return `May be skipped: Forbid, and a run that has not started covers ${due}`;
  const covering = coveringSeconds(cronJob, msOf(nextRun), details, viewer.nowMs);
  if (covering !== undefined)
    return `May be skipped: Forbid, and a run of ${durationText(covering)} usually covers ${due}`;
  if (details.inMaintenance) return `Runs at ${due} inside a maintenance window: alerts wait`;
  return `Runs at ${due} ${zoneName(cronJob, viewer)} (${relativeText(nextRun, viewer.nowMs)})`;
}

/** `02:00` within a day, else with its date. */
function dueText(at: string, { nowMs, timeZone }: Viewer): string {
  const isSoon = msOf(at) - nowMs < 86_400_000;
  return isSoon ? clockText(at, timeZone).slice(0, 5) : minuteText(at, timeZone);
}

/** The zone of the view, and the time in the schedule's own zone when the two differ. */
function zoneName({ nextRun, timezone }: Coming, { timeZone }: Viewer): string {
  if (timezone === null || timezone === timeZone || nextRun === null) return timeZone;
  try {
    const there = clockText(nextRun, timezone).slice(0, 5);
    const isSameDay = dayText(nextRun, timezone) === dayText(nextRun, timeZone);
    return `${timeZone}, ${isSameDay ? there : minuteText(nextRun, timezone)} ${timezone}`;
  } catch {
    return timeZone; // a zone that the server knows and this browser does not
  }
}

/** How long a run usually takes, if one that is active now would still be there at the next instant under Forbid. */
function coveringSeconds(
  { concurrencyPolicy }: Coming,
  nextMs: number,
  { activeJobs = [], usualSeconds }: ComingDetails,
  nowMs: number,
): number | undefined {
  if (concurrencyPolicy !== 'Forbid' || !usualSeconds) return undefined;
  const covers = activeJobs.some(
    ({ trigger, finishing, startTime }) =>
      trigger === 'scheduled' && !finishing && msOf(startTime ?? nowMs) + usualSeconds * 1000 > nextMs,
  );
  return covers ? usualSeconds : undefined;
}
