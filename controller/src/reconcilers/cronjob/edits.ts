import { instantOfChange, type CronJobFacts, type Instant } from '@cronjob-monitor/shared/domain';
import type { CronJobMarks, CronJobSeen } from '@cronjob-monitor/shared/store';
import type { SpecSighting } from './spec-sightings.ts';

/** What is to be written of the edits of one CronJob before its present state: each with the instant at which it was made. */
export function toEdits(
  sightings: readonly SpecSighting[],
  marks: CronJobMarks | undefined,
  toSeen: (cronJob: CronJobFacts, at: Instant) => CronJobSeen,
): CronJobSeen[] {
  // What a leader before us has written down is no news.
  const openedAt = marks?.openEpoch?.fromAt ?? -Infinity;
  const fresh = sightings.filter(({ at }) => at > openedAt);
  const [first] = fresh;
  if (!first) return [];
  // What held before the first of them may never have been written.
  return [toSeen(first.before, first.at - 1), ...fresh.map(ofSighting)];

  function ofSighting({ before, facts, at, unwatchedSinceAt }: SpecSighting): CronJobSeen {
    const { problem, nextRunAt } = toSeen(facts, at);
    const change = instantOfChange({ ...before, fromAt: openedAt }, facts, { now: at, unwatchedSinceAt });
    return {
      facts,
      seenAt: at,
      changedAt: change?.changedAt,
      uncertainFrom: change?.uncertainFromAt,
      problem,
      nextRunAt,
    };
  }
}
