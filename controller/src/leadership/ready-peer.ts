import type { Cluster } from '@cronjob-monitor/shared/kube';

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
