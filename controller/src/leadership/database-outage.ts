import { type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';
import type { Cluster } from '@cronjob-monitor/shared/kube';

/**
 * Of the minute that a leader may be without its database, 15 s go by before and after: a database that swallows everything is noticed
 * by the next heartbeat and the limit of a statement, 12 s in all, and then the peers have to be asked.
 */
const givesUpAfterMs = 45_000;
const looksEveryMs = 1_000;
/** Peers are asked for at most so often. */
const asksEveryMs = 30_000;

/**
 * A leader that has not seen the database for a minute gives up if a healthy peer may reach it: the partition may be ours
 * alone. Without a peer it stays and keeps its memory, for then its end would not help. Runs until the signal aborts or it
 * has given up.
 */
export async function giveUpWithoutDatabase(
  deps: {
    /** For how long the database has been away; 0 while it is there. */
    readonly awayForMs: () => number;
    /** Whether another controller pod is Ready. Rejects when it is unknown. */
    readonly hasReadyPeer: (signal: AbortSignal) => Promise<boolean>;
    /** Gives the Lease back and ends the process. */
    readonly resign: (why: string) => Promise<void>;
    readonly clock: Clock;
    readonly logger: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { clock, awayForMs, resign } = deps;
  let askAgainAtMs = -Infinity;
  while (!signal.aborted) {
    if (awayForMs() >= givesUpAfterMs && clock.monotonicMs() >= askAgainAtMs) {
      askAgainAtMs = clock.monotonicMs() + asksEveryMs;
      const seen = deps.hasReadyPeer(signal).catch((error: unknown) => {
        if (!signal.aborted) deps.logger.warn('the other replicas cannot be seen', { reason: messageOf(error) });
        return false;
      });
      if (await seen) return resign('the database is away and another replica is ready');
    }
    await clock.sleep(looksEveryMs, signal).catch(() => {});
  }
}

/** Whether another controller pod is Ready, and so could lead. Throws `ClusterError` when the pods cannot be listed. */
export async function hasReadyPeer(
  deps: {
    readonly cluster: Pick<Cluster, 'listPods'>;
    readonly namespace: string;
    /** Of the controller's pods, such as `app.kubernetes.io/component=controller`. */
    readonly labelSelector: string;
    /** The pod this process runs in. */
    readonly ownPod: string;
  },
  signal: AbortSignal,
): Promise<boolean> {
  const pods = await deps.cluster.listPods(deps.namespace, deps.labelSelector, signal);
  return pods.some((pod) => nameOf(pod) !== deps.ownPod && isReady(pod));
}

function nameOf(pod: unknown): unknown {
  return fieldOf(fieldOf(pod, 'metadata'), 'name');
}

/** One that is being deleted may still be Ready, and will not lead. */
function isReady(pod: unknown): boolean {
  if (fieldOf(fieldOf(pod, 'metadata'), 'deletionTimestamp') !== undefined) return false;
  const conditions = fieldOf(fieldOf(pod, 'status'), 'conditions');
  if (!Array.isArray(conditions)) return false;
  return conditions.some(
    (condition) => fieldOf(condition, 'type') === 'Ready' && fieldOf(condition, 'status') === 'True',
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
