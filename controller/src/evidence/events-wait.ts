import type { Instant } from '@cronjob-monitor/shared/domain';

/** The controller writes its last events about a Job just after the Job's end, whose instant has whole seconds. */
const afterEndMs = 2_000;
const endIsCutByMs = 1_000;

/** How long to wait for the events of a run, milliseconds. What ended a while ago, such as before this leader began, is not waited for again. */
export function eventsWaitMs(endedAt: Instant | undefined, now: Instant): number {
  const lastWrittenAt = endedAt === undefined ? now + afterEndMs : endedAt + endIsCutByMs + afterEndMs;
  return Math.min(afterEndMs, Math.max(0, lastWrittenAt - now));
}
