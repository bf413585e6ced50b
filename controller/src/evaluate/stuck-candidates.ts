import type { DetectionRules, HopelessWait, Instant, JobFacts } from '@cronjob-monitor/shared/domain';

/** What is asked besides the Jobs; all of it from memory. */
interface CandidateSources {
  readonly rulesOf: (cronJobUid: string) => readonly DetectionRules[];
  /** What a Job waits for in vain, if it does. */
  readonly hopelessWaitOf: (job: JobFacts) => HopelessWait | undefined;
}

/** Without a limit of its own a run overruns after an hour at the earliest. */
const soonestOverrunMs = 3_600_000;

/**
 * CronJobs with a Job that may be stuck or too slow by now, or may have been until it ended after `endedAfterAt`, as far as memory alone can
 * tell: so a tick asks about those few, whatever else runs. `now`: no later than the caches are fresh.
 */
export function stuckCandidates(
  jobs: Iterable<JobFacts>,
  { rulesOf, hopelessWaitOf }: CandidateSources,
  now: Instant,
  endedAfterAt: Instant = now,
): Set<string> {
  const uids = new Set<string>();
  for (const job of jobs) {
    if (job.suspended || uids.has(job.cronJobUid)) continue;
    const { outcome, endedAt = -Infinity } = job;
    if (outcome !== undefined && endedAt <= endedAfterAt) continue;
    const ageMs = (outcome === undefined ? now : endedAt) - job.createdAt;
    const isDue = (rules: DetectionRules): boolean =>
      outcome !== undefined
        ? ageMs >= soonestStuckMs(rules)
        : ageMs >= soonestMs(rules, job) || (ageMs >= hopelessMs(rules) && hopelessWaitOf(job) !== undefined);
    if (rulesOf(job.cronJobUid).some(isDue)) uids.add(job.cronJobUid);
  }
  return uids;
}

function hopelessMs({ stuck: { notStarted } }: DetectionRules): number {
  return notStarted?.enabled ? notStarted.hopelessAfterMs : Infinity;
}

/** No Job that takes less is stuck by these rules, however it waits, runs or ends. */
export function soonestStuckMs({ stuck: { notStarted, overrunning, terminating } }: DetectionRules): number {
  return Math.min(
    notStarted?.enabled ? Math.min(notStarted.notStartedAfterMs, notStarted.hopelessAfterMs || Infinity) : Infinity,
    overrunning?.enabled ? (overrunning.overrunningAfterMs ?? soonestOverrunMs) : Infinity,
    terminating?.enabled ? terminating.terminatingAfterMs : Infinity,
  );
}

function soonestMs({ stuck, durations }: DetectionRules, job: JobFacts): number {
  if (job.decidedAt !== undefined || job.deletingAt !== undefined)
    return stuck.terminating?.terminatingAfterMs ?? Infinity;
  const overrunning = stuck.overrunning && (stuck.overrunning.overrunningAfterMs ?? soonestOverrunMs);
  return Math.min(
    stuck.notStarted?.notStartedAfterMs ?? Infinity,
    overrunning ?? Infinity,
    durations?.maxDurationMs ?? Infinity,
  );
}
