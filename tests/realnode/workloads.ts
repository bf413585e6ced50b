import { setTimeout as wait } from 'node:timers/promises';
import type { Rendered } from '../chart/render.ts';
import type { Fate } from './fates.ts';
import { created } from './installation.ts';
import type { RealNode } from './real-node.ts';

/** A Job of a CronJob, as `kubectl create job --from` makes it. */
export async function runOnce(
  node: RealNode,
  namespace: string,
  name: string,
  fate: Pick<Fate, 'job' | 'pod' | 'sidecars' | 'container'>,
): Promise<void> {
  const image = node.images.tools.name;
  const sidecars = (fate.sidecars ?? []).map((one) => ({ image, restartPolicy: 'Always', ...one }));
  const pod = {
    restartPolicy: 'Never',
    ...fate.pod,
    containers: [{ name: 'main', image, ...fate.container }],
    initContainers: sidecars,
  };
  const spec = { backoffLimit: 0, ...fate.job, template: { spec: pod } };
  const cronJob = await created(node, `/apis/batch/v1/namespaces/${namespace}/cronjobs`, {
    metadata: { name, namespace },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec } },
  });
  await created(node, `/apis/batch/v1/namespaces/${namespace}/jobs`, {
    metadata: {
      name: `${name}-run`,
      namespace,
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: uidOf(cronJob), controller: true }],
    },
    spec,
  });
}

function uidOf({ metadata }: Rendered): string {
  return 'uid' in metadata ? String(metadata.uid) : '';
}

/** Starts numbered runs until it is stopped; those with an odd number fail. */
export function keepRunning(
  node: RealNode,
  namespace: string,
  prefix: string,
  everyMs: number,
): { stop(): Promise<string[]> } {
  const names: string[] = [];
  const ended = new AbortController();
  const loop = (async () => {
    for (let number = 1; !ended.signal.aborted; number++) {
      const name = `${prefix}-${number}`;
      // While the API server is away no run begins: only what it took is expected.
      await runOnce(node, namespace, name, { container: { command: ['sh', '-c', `echo ${name}; exit ${number % 2}`] } })
        .then(() => names.push(name))
        .catch(() => {});
      await wait(everyMs);
    }
  })();
  return {
    stop: async () => {
      ended.abort();
      await loop;
      return names;
    },
  };
}

/** The end of every container that the API server has shown, by pod: what the kubelet said, seen before the pod went. */
export class KubeletSaid {
  readonly #pods = new Map<string, Rendered>();
  readonly #ended = new AbortController();
  readonly #loop: Promise<void>;

  constructor(node: RealNode, namespace: string) {
    this.#loop = this.#follow(node, namespace);
  }

  async #follow(node: RealNode, namespace: string): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const { body } = await node.cluster.request('GET', `/api/v1/namespaces/${namespace}/pods`);
      for (const pod of body.items ?? []) this.#pods.set(pod.metadata.name, pod);
      await wait(200);
    }
  }

  /** The newest state of each pod of a Job, those that are gone included. */
  podsOf(job: string): Rendered[] {
    return [...this.#pods.values()].filter((pod) => pod.metadata.labels?.['batch.kubernetes.io/job-name'] === job);
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#loop;
  }
}
