import { weightOf } from './exit-cause.ts';
import { isHopelessReason } from './hopeless-wait.ts';

/**
 * Why a run failed, as it is told: what its container ended with, else what the Job says. Where the deadline of the Job ended it, that is why: the
 * container was only stopped for it. A container that could not start, or that was killed for its memory, names its own cause: more time
 * would not have helped.
 */
export function failureReason({
  reason,
  jobReason,
}: {
  readonly reason?: string | undefined;
  readonly jobReason?: string | undefined;
}): string | undefined {
  if (jobReason !== 'DeadlineExceeded' || reason === undefined) return reason ?? jobReason;
  return isHopelessReason(reason) || weightOf(reason) > weightOf(jobReason) ? reason : jobReason;
}
