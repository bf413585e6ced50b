import type { Problem } from '@cronjob-monitor/shared/domain';
import type { ObjectKey } from '@cronjob-monitor/shared/kube';
import type { LeaseFailure } from '../leadership/index.ts';

export interface LeaseFacts {
  readonly key: ObjectKey;
  readonly failure: LeaseFailure | undefined;
  readonly nowMs: number;
  readonly renewDeadlineMs: number;
  /** The API server answers other questions: else its absence is told, once for all. */
  readonly isServerThere: boolean;
}

const forAPerson: ReadonlySet<LeaseFailure['code']> = new Set(['forbidden', 'unauthorized', 'notFound', 'invalid']);

/**
 * A replica that cannot read or write its Lease while the API server answers can neither take the lead nor keep it. What only a person can
 * change is told at once, all else after the time in which a leader tries to renew.
 */
export function leaseProblems({ key, failure, nowMs, renewDeadlineMs, isServerThere }: LeaseFacts): Problem[] {
  if (!failure || !isServerThere) return [];
  const isForAPerson = forAPerson.has(failure.code);
  if (!isForAPerson && nowMs - failure.sinceMs < renewDeadlineMs) return [];
  const step = isForAPerson
    ? `give the account of the service get, create and update of leases in namespace ${key.namespace}, which has to exist (leader-election.namespace)`
    : 'look at the API server, and at admission webhooks for leases';
  const sentence = `the Lease ${key.namespace}/${key.name} cannot be read or written (${failure.code}): ${step}`;
  return [{ key: 'lease', cause: 'leaseRefused', sentence, blocks: true }];
}
