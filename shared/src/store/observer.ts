import { StoreError } from './store-error.ts';

/** Why work had to be done again, or was not done: the label of the metric of retries. */
export const retryReasons = ['serialization', 'deadlock', 'lockTimeout', 'busy', 'connection', 'fenced'] as const;
type RetryReason = (typeof retryReasons)[number];

/** Hears how the database does: what metrics are made of. */
export interface StoreObserver {
  /** A statement begins; call the result when it has ended. A write changes rows, everything else reads. */
  statement(kind: 'read' | 'write'): (succeeded: boolean) => void;
  repeated(reason: RetryReason): void;
  /** The schema that was found, 0 = none. */
  schemaFound(version: number): void;
}

/** Codes of the three drivers; every other lock that stood in the way is `busy`. */
const reasons: Readonly<Record<string, RetryReason>> = {
  '40001': 'serialization',
  '40P01': 'deadlock',
  '55P03': 'lockTimeout',
  ER_LOCK_DEADLOCK: 'deadlock',
  ER_LOCK_WAIT_TIMEOUT: 'lockTimeout',
  ER_CHECKREAD: 'serialization',
};

/** Why a transaction runs again. */
export function retryReasonOf(error: unknown, commitUnknown: boolean): RetryReason {
  if (commitUnknown) return 'connection';
  return (error instanceof StoreError ? reasons[error.driverCode ?? ''] : undefined) ?? 'busy';
}
