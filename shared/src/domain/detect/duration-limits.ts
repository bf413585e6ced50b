import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

export interface DurationLimitsRule {
  readonly enabled: boolean;
  readonly maxDurationMs: number | undefined;
  readonly minDurationMs: number | undefined;
}

/** A scheduled run that ended. */
export interface EndedRun {
  /** UID of its Job, where that is known. */
  readonly jobUid?: string;
  readonly jobName: string;
  readonly endedAt: Instant;
  readonly durationMs: number | undefined;
}

export interface DurationFacts {
  /** The newest scheduled run that ended, in success or failure. */
  readonly lastEnded: EndedRun | undefined;
  readonly lastSuccess: EndedRun | undefined;
  /** Scheduled Jobs that run now; suspended ones left out. */
  readonly running: readonly { readonly jobName: string; readonly startedAt: Instant }[];
}

/** Holds while the newest ended run took longer than allowed, and from the moment a running one does. */
export function tookTooLong(rule: DurationLimitsRule, facts: DurationFacts, now: Instant): Verdict {
  const limit = rule.maxDurationMs;
  if (!rule.enabled || limit === undefined) return quiet('notConfigured');

  const over = facts.running.filter((run) => now >= run.startedAt + limit).sort((a, b) => a.startedAt - b.startedAt);
  const [oldest] = over;
  if (oldest) {
    return holds({
      since: oldest.startedAt + limit,
      reason: 'runningTooLong',
      count: over.length,
      figures: { measured: (now - oldest.startedAt) / 1000, limit: limit / 1000, unit: 'seconds' },
      detail: { jobName: oldest.jobName, running: over.map((run) => run.jobName).slice(0, 20) },
    });
  }
  const next = Math.min(...facts.running.map((run) => run.startedAt + limit));
  const dueAt = next === Infinity ? undefined : next;
  const { lastEnded } = facts;
  if (lastEnded?.durationMs === undefined || lastEnded.durationMs <= limit) return quiet('withinLimit', dueAt);
  return holds({
    since: lastEnded.endedAt - lastEnded.durationMs + limit,
    reason: 'tookTooLong',
    figures: { measured: lastEnded.durationMs / 1000, limit: limit / 1000, unit: 'seconds' },
    detail: { jobName: lastEnded.jobName },
  });
}

/** Holds while the newest success was over suspiciously fast. */
export function endedTooSoon(rule: DurationLimitsRule, facts: DurationFacts): Verdict {
  const limit = rule.minDurationMs;
  if (!rule.enabled || limit === undefined) return quiet('notConfigured');
  const { lastSuccess } = facts;
  if (lastSuccess?.durationMs === undefined || lastSuccess.durationMs >= limit) return quiet('withinLimit');
  return holds({
    since: lastSuccess.endedAt,
    reason: 'endedTooSoon',
    figures: { measured: lastSuccess.durationMs / 1000, limit: limit / 1000, unit: 'seconds' },
    detail: { jobName: lastSuccess.jobName },
  });
}
