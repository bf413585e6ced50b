import { type LeaseRecord, toMicroTime } from '@cronjob-monitor/shared/kube';

/** The three times of an election. */
export interface LeaseTiming {
  /** How long others wait before they take a Lease whose record no longer changes. */
  readonly leaseMs: number;
  /** How long a holder tries to renew before it gives up. */
  readonly renewDeadlineMs: number;
  /** Between two attempts to renew; and, times 1 to 2.2, between two attempts to acquire. */
  readonly retryMs: number;
}

/** Acquiring waits between 1 and 2.2 retry periods, so that candidates do not come at once. */
export const acquireJitter = 1.2;

/** Throws a RangeError for times with which two could lead at once, or one never for long. */
export function checkTiming({ leaseMs, renewDeadlineMs, retryMs }: LeaseTiming): void {
  if (!(leaseMs >= 1_000)) throw new RangeError('the lease duration must be at least 1 s');
  if (!(leaseMs > renewDeadlineMs)) throw new RangeError('the lease duration must be longer than the renew deadline');
  if (!(renewDeadlineMs > acquireJitter * retryMs)) {
    throw new RangeError('the renew deadline must be longer than 1.2 x the retry period');
  }
  if (!(retryMs > 0)) throw new RangeError('the retry period must be longer than 0');
}

/** Another holder for each start of a container: no process takes an earlier life for its own. */
export function toIdentity(podName: string, random: string): string {
  return `${podName}_${random}`;
}

type Held = Omit<LeaseRecord, 'resourceVersion'>;

/** The record with which `identity` takes a free or expired Lease, or one that does not exist. */
export function toTaken(seen: LeaseRecord | undefined, identity: string, leaseMs: number, now: number): Held {
  return {
    holder: identity,
    // The record knows whole seconds. Rounded down, others would come too early.
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    acquireTime: toMicroTime(now),
    renewTime: toMicroTime(now),
    transitions: seen ? seen.transitions + 1 : 0,
  };
}

/** The holder's own record, renewed. */
export function toRenewed(held: LeaseRecord, leaseMs: number, now: number): LeaseRecord {
  return { ...held, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime: toMicroTime(now) };
}

/** Free for the first that comes: no replica holds it, and one that looks at times only has to wait for a second. */
export function toReleased(held: LeaseRecord, now: number): LeaseRecord {
  return { ...held, holder: '', leaseDurationSeconds: 1, acquireTime: toMicroTime(now), renewTime: toMicroTime(now) };
}

/** Whether a holder has shown life between two readings. Versions do not count: any client can set a label. */
export function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return (
    a.holder === b.holder &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseDurationSeconds === b.leaseDurationSeconds &&
    a.transitions === b.transitions
  );
}
