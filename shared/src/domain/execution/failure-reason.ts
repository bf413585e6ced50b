import { weightOf } from './exit-cause.ts';
import { isHopelessReason } from './hopeless-wait.ts';

/**
 * The rule of a podFailurePolicy that the condition of a Job names, such as `FailJob rule at index 0`; undefined: it names none. What
 * Kubernetes writes ends so, after names of containers and pods.
 */
export function policyRuleOf(jobMessage: string | undefined): string | undefined {
  return /\bmatching ([A-Za-z]{1,20} rule at index \d{1,3})$/.exec(jobMessage ?? '')?.[1];
}

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
