import type { Alert, AlertSubject, AlertType } from '@cronjob-monitor/shared/contract';
import { alertVerdict, type Judged } from './verdict.ts';
import type { Viewer } from './viewer.ts';

/**
 * What an alert says: of an open one by the facts of now, where its CronJob is known or the alert itself has what grows; else as it was
 * found. `p99Seconds` is of that CronJob.
 */
export function alertSentence(
  alert: Alert,
  cronJob: Judged | undefined,
  viewer: Viewer,
  p99Seconds: number | null = null,
): string {
  const judged = cronJob ?? (growing.includes(alert.type) ? judgedBy(alert) : undefined);
  if (!judged || alert.endedAt !== null) return alert.message || alert.title;
  const { exitCode, reason, measured, limit, unit } = alert.context;
  return alertVerdict({ ...alert, exitCode, reason, measured, limit, unit }, judged, viewer, { p99Seconds });
}

/** Types whose sentence holds a duration that grows while nothing happens. */
const growing: readonly AlertType[] = ['deadManTriggered', 'jobSuspended', 'jobStuck'];

/** What the alert alone knows of its CronJob: it began as the limit was passed. */
function judgedBy({ since, context: { limit } }: Alert): Judged {
  return {
    worstAlert: null,
    lastExecution: null,
    lastSuccess: limit === null ? null : new Date(Date.parse(since) - limit * 1000).toISOString(),
    sla: {
      enabled: false,
      minSuccessRate: null,
      windowDays: 7,
      verdict: 'off',
      success: 0,
      runs: 0,
      previousSuccessRate: null,
      breached: [],
    },
    suspended: false,
    schedule: '',
    timezone: null,
    scheduleProblem: null,
    nextRun: null,
    deletedAt: null,
  };
}

const ends: Readonly<Record<AlertType, string>> = {
  jobFailed: 'a run succeeds',
  missedSchedule: 'a later run starts',
  deadManTriggered: 'a run succeeds',
  slaBreached: 'the target is met again',
  durationRegression: 'p95 is back under its limit',
  jobSuspended: 'it is resumed',
  jobStuck: 'the run goes on',
};

const endsBySubject: Readonly<Partial<Record<AlertSubject, string>>> = {
  successRate: 'the rate is back at its target',
  maxDuration: 'a run stays under the limit',
  minDuration: 'a run takes long enough',
  finishBy: 'a run finishes in time',
  notStarted: 'the run starts or ends',
  overrunning: 'the run ends',
  terminating: 'the pods are gone',
};

/** What ends an alert: `a run succeeds`. */
export function resolvesWhen({ type, subject }: Pick<Alert, 'type' | 'subject'>): string {
  return (subject === null ? undefined : endsBySubject[subject]) ?? ends[type];
}
