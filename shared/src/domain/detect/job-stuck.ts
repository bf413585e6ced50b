import type { StuckSubject } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

export interface JobStuckRule {
  readonly enabled: boolean;
  readonly notStartedAfterMs: number;
  readonly terminatingAfterMs: number;
  /** Undefined: from the durations seen. */
  readonly overrunningAfterMs: number | undefined;
}

/** A Job that has not ended. */
export interface UnfinishedJob {
  readonly jobName: string;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  readonly suspended: boolean;
  /** Set when no container of any of its pods has ever run: since creation or resume. */
  readonly waitingSinceAt: Instant | undefined;
  /** Absence is known up to here: of a Job without a pod nobody can tell beyond that it has none. Undefined: its state is seen. */
  readonly seenThroughAt?: Instant | undefined;
  /** Why, such as ImagePullBackOff. */
  readonly waitingReason: string | undefined;
  /** Decided or deleted, with the grace of its pods over, yet still there. */
  readonly endingSinceAt: Instant | undefined;
}

export interface JobStuckFacts {
  readonly jobs: readonly UnfinishedJob[];
  /** p99 duration of ended runs and how many they were. */
  readonly p99DurationMs: number | undefined;
  readonly runs: number;
}

const hourMs = 3_600_000;

/** Holds while a Job of the CronJob is stuck in the given way; names all of them. */
export function jobStuck(subject: StuckSubject, rule: JobStuckRule, facts: JobStuckFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  const limitMs = limitOf(subject, rule, facts);
  const candidates = facts.jobs.flatMap((job) => {
    const sinceAt = stuckSince(subject, job);
    return sinceAt === undefined ? [] : [{ job, sinceAt }];
  });
  const stuck = candidates
    .filter(({ job, sinceAt }) => Math.min(now, job.seenThroughAt ?? now) >= sinceAt + limitMs)
    .sort((a, b) => a.sinceAt - b.sinceAt);
  const [oldest] = stuck;
  if (!oldest) {
    const next = Math.min(...candidates.map(({ sinceAt }) => sinceAt + limitMs));
    return quiet('noneStuck', next === Infinity ? undefined : next);
  }
  return holds({
    since: oldest.sinceAt + limitMs,
    reason: subject,
    count: stuck.length,
    figures: { measured: (now - oldest.sinceAt) / 1000, limit: limitMs / 1000, unit: 'seconds' },
    detail: {
      jobName: oldest.job.jobName,
      reason: oldest.job.waitingReason,
      jobs: stuck.slice(0, 20).map(({ job }) => job.jobName),
    },
  });
}

function stuckSince(subject: StuckSubject, job: UnfinishedJob): Instant | undefined {
  if (subject === 'terminating') return job.endingSinceAt;
  if (job.suspended || job.endingSinceAt !== undefined) return undefined;
  return subject === 'notStarted' ? job.waitingSinceAt : job.startedAt;
}

/** Without a limit of its own a run overruns when it takes five times as long as almost all before it. */
function limitOf(subject: StuckSubject, rule: JobStuckRule, facts: JobStuckFacts): number {
  if (subject === 'notStarted') return rule.notStartedAfterMs;
  if (subject === 'terminating') return rule.terminatingAfterMs;
  if (rule.overrunningAfterMs !== undefined) return rule.overrunningAfterMs;
  return facts.runs >= 10 && facts.p99DurationMs !== undefined
    ? Math.max(hourMs, 5 * facts.p99DurationMs)
    : 12 * hourMs;
}
