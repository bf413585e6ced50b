import type { Instant } from '../instant.ts';
import type { ConcurrencyPolicy } from './cron-job.ts';
import type { JobFacts } from './job.ts';
import { slotOf } from './origin.ts';
import type { Departure } from './transitions.ts';

/** How long before or after its end another Job of a newer slot is taken as the one that replaced it. */
const replacementWindowMs = 60_000;

type Leaver = Pick<JobFacts, 'uid' | 'name' | 'cronJobName' | 'createdAt' | 'slotAt' | 'manual'>;

export type VanishedStatus = 'replaced' | 'deleted' | 'unobserved';

export type Vanishing =
  | { readonly status: VanishedStatus }
  /** Ask again at this instant, or when a newer Job appears: a replacement may still come. */
  | { readonly undecidedUntilAt: Instant };

/**
 * What became of a Job that is gone without a terminal condition. `replaced`: the policy is Replace and the Job of a newer slot appeared
 * within a minute of it; the controller deletes the old one without any mark. `deleted`: somebody else did. `unobserved`: nobody watched
 * when it went, so it may have ended on its own. A policy of undefined means that the CronJob is gone too.
 */
export function judgeVanished(
  job: Leaver,
  gone: Departure,
  siblings: readonly Leaver[],
  context: { readonly policy: ConcurrencyPolicy | undefined; readonly now: Instant },
): Vanishing {
  if (!gone.seen) return { status: 'unobserved' };
  const slotAt = slotOf(job);
  if (context.policy !== 'Replace' || slotAt === undefined) return { status: 'deleted' };
  const replaced = siblings.some((sibling) => {
    const newer = (slotOf(sibling) ?? -Infinity) > slotAt;
    return newer && sibling.uid !== job.uid && Math.abs(sibling.createdAt - gone.at) <= replacementWindowMs;
  });
  if (replaced) return { status: 'replaced' };
  const undecidedUntilAt = gone.at + replacementWindowMs;
  return context.now < undecidedUntilAt ? { undecidedUntilAt } : { status: 'deleted' };
}
