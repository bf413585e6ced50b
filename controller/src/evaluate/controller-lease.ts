import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Cluster, LeaseRecord } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';

/** Whether the CronJob controller of the cluster gives a sign of life. */
interface ControllerLease {
  /** Until the signal aborts. */
  readonly watch: (signal: AbortSignal) => void;
  /** False as well while it is unknown: no right to read the Lease, no such Lease, no answer. */
  readonly isStale: () => boolean;
}

const key = { namespace: 'kube-system', name: 'kube-controller-manager' };
const readEveryMs = 30_000;
/** A replica that takes over has renewed by then: its Lease lasts 15 s and is renewed every 2 s. */
const staleAfterMs = 60_000;

/**
 * Reads the Lease of kube-controller-manager every 30 s. What counts is that its record changes, seen by our own monotonic clock: clocks of
 * others prove nothing. A Lease that lies about unused (no election, another one by now) is told from a dead controller by its starts.
 */
export function createControllerLease({
  cluster,
  newestStartAt,
  clock,
}: {
  readonly cluster: Pick<Cluster, 'findLease'>;
  /** The newest `lastScheduleTime` of all CronJobs: who starts Jobs is alive, whatever the Lease says. */
  readonly newestStartAt: () => Instant | undefined;
  readonly clock: Clock;
}): ControllerLease {
  let seen: { readonly record: LeaseRecord; readonly sinceMs: number; readonly sinceAt: Instant } | undefined;
  let unchangedMs = 0;

  return {
    watch(signal) {
      void look(signal);
      clock.every(readEveryMs, () => look(signal), signal);
    },
    isStale() {
      if (!seen || unchangedMs < staleAfterMs) return false;
      return (newestStartAt() ?? -Infinity) < seen.sinceAt;
    },
  };

  async function look(signal: AbortSignal): Promise<void> {
    // Not readable in many clusters, which is no fault.
    const record = await cluster.findLease(key, signal).catch(() => undefined);
    if (signal.aborted) return;
    const nowMs = clock.monotonicMs();
    if (!record?.renewTime) seen = undefined;
    else if (!seen || record.renewTime !== seen.record.renewTime || record.holder !== seen.record.holder)
      seen = { record, sinceMs: nowMs, sinceAt: clock.now() };
    unchangedMs = seen ? nowMs - seen.sinceMs : 0;
  }
}
