import type { Clock } from '@cronjob-monitor/shared/process';
import type { SimCluster } from '@cronjob-monitor/simcluster';

/** Time of the cluster; it wakes no sleeper. */
export function virtualClock({ clock }: SimCluster): Clock {
  const startedAt = clock.now();
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.now() - startedAt + 1,
    sleep: (_ms, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    every: () => {},
  };
}
