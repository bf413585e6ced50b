import type { VerdictFinding } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { rhythmOf } from '@cronjob-monitor/shared/domain/schedule';
import { listCronJobsById, type StoredAlert } from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import type { Surroundings } from './surroundings.ts';
import { toWordedAlert } from './of-alert.ts';

/** For many alerts, with one question. */
export async function gatherFindings(
  { store, settings }: Pick<RouteDeps, 'store' | 'settings'>,
  alerts: readonly StoredAlert[],
  { now }: Pick<Surroundings, 'now'>,
): Promise<(alert: StoredAlert) => VerdictFinding[]> {
  const limited = alerts.filter(({ type }) => type === 'deadManTriggered');
  const cronJobs = await listCronJobsById(store, [...new Set(limited.map(({ cronJobId }) => cronJobId))]);
  const byId = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const { defaultTimeZone } = settings;
  return (alert) => {
    const cronJob = byId.get(alert.cronJobId);
    return cronJob ? findingsOf(alert, cronJob, { now, defaultTimeZone }) : [];
  };
}

interface Scheduled {
  readonly schedule: string;
  readonly timeZone: string | undefined;
}

const hourMs = 3_600_000;
const kept = new Map<string, number | undefined>();
const mostKept = 5_000;

/** What the check of rules finds about the rule of an alert: a limit that its schedule can never meet. */
export function findingsOf(
  alert: StoredAlert,
  { schedule, timeZone }: Scheduled,
  { now, defaultTimeZone }: { readonly now: Instant; readonly defaultTimeZone: string },
): VerdictFinding[] {
  const { limit } = toWordedAlert(alert);
  if (alert.type !== 'deadManTriggered' || limit === undefined) return [];
  const gapMs = largestGap(schedule, timeZone ?? defaultTimeZone, now);
  if (gapMs === undefined || limit * 1_000 > gapMs) return [];
  const { namespace, name } = alert.monitor;
  return [
    {
      code: 'DeadManShorterThanPeriod',
      words: `The limit is no longer than its schedule (${gapInWords(gapMs)}): it fires ${often(gapMs)}`,
      href: `/monitors/${namespace}/${name}`,
    },
  ];
}

/** It costs some milliseconds and hardly changes within a day. */
function largestGap(schedule: string, zone: string, now: Instant): number | undefined {
  const key = `${schedule} ${zone} ${Math.floor(now / (24 * hourMs))}`;
  if (kept.has(key)) return kept.get(key);
  const rhythm = rhythmOf(schedule, zone, now);
  const gapMs = typeof rhythm === 'string' || rhythm.largestGapMs === Infinity ? undefined : rhythm.largestGapMs;
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, gapMs);
  return gapMs;
}

function gapInWords(gapMs: number): string {
  const hours = gapMs / hourMs;
  return hours >= 1 ? `${Math.round(hours)} h` : `${Math.round(gapMs / 60_000)} min`;
}

function often(gapMs: number): string {
  const hours = gapMs / hourMs;
  if (hours >= 23 && hours <= 25) return 'every day';
  return hours >= 167 && hours <= 169 ? 'every week' : 'between any two of its runs';
}
