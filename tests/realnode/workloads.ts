import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Rendered } from '../chart/render.ts';
import type { Fate } from './fates.ts';
import { created, until, type Installation } from './installation.ts';
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

/** A pod of small tools that does nothing; returns its uid when it runs. */
export async function idle(node: RealNode, namespace: string, name: string): Promise<string> {
  const containers = [{ name: 'main', image: node.images.tools.name }];
  const pod = await created(node, `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: { containers, terminationGracePeriodSeconds: 0 },
  });
  await until(`the pod ${name} runs`, async () => {
    const { body } = await node.cluster.request('GET', `/api/v1/namespaces/${namespace}/pods/${name}`);
    return body.status.phase === 'Running';
  });
  return uidOf(pod);
}

/**
 * Whether a process with the network of the given one can connect. A packet that a policy drops has no answer: after `limitMs` it counts as
 * closed. A port where nothing listens refuses at once, and that is an error, since it says nothing about policies.
 */
export async function reaches(
  pid: number,
  to: { readonly address: string; readonly port: number },
  limitMs: number,
): Promise<boolean> {
  const program = `const socket = require('node:net').connect(${to.port}, ${JSON.stringify(to.address)});
    socket.on('connect', () => process.exit(console.log('open')));
    socket.on('error', ({ code }) => process.exit(console.log(code)));
    setTimeout(() => process.exit(console.log('closed')), ${limitMs});`;
  const args = ['--target', String(pid), '--net', process.execPath, '--eval', program];
  const { stdout } = await promisify(execFile)('nsenter', args, { encoding: 'utf8' });
  const answer = stdout.trim();
  if (answer !== 'open' && answer !== 'closed') throw new Error(`${to.address}:${to.port}: ${answer}`);
  return answer === 'open';
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

/**
 * Compares what the control group of each pod holds with what the chart asks for it, at rest and under a modest load: eight readers, and a run
 * that ends each half second, for ten seconds. Returns a line for each pod that holds more.
 */
export async function compareMemory(node: RealNode, service: Installation, namespace: string): Promise<string[]> {
  await wait(5_000);
  const pods = (await service.pods()).filter(({ component }) => component !== 'test');
  const held = (): number[] =>
    pods.map((pod) => {
      const machine = node.machines.find(({ name }) => name === pod.node);
      if (machine === undefined) throw new Error(`${pod.name} is on no machine`);
      return machine.workingSetBytes(pod.uid) / 2 ** 20;
    });
  const atRest = held();
  let most = atRest;
  const ended = AbortSignal.timeout(10_000);
  const running = keepRunning(node, namespace, 'load', 500);
  const readers = Array.from({ length: 8 }, async () => {
    while (!ended.aborted) {
      await service.ask(`/api/v1/cronjobs?namespace=${namespace}`);
      await service.ask('/api/v1/health');
    }
  });
  while (!ended.aborted) {
    most = held().map((mebi, at) => Math.max(mebi, most[at] ?? 0));
    await wait(250);
  }
  await Promise.all(readers);
  await running.stop();
  const above: string[] = [];
  for (const [at, { name, component }] of pods.entries()) {
    const { body } = await node.cluster.request('GET', `/api/v1/namespaces/${service.namespace}/pods/${name}`);
    const { requests, limits } = body.spec.containers[0].resources;
    const line = `${component} holds ${Math.round(atRest[at] ?? 0)} MiB at rest and ${Math.round(most[at] ?? 0)} MiB under load; it requests ${requests.memory}, limit ${limits.memory}`;
    console.log(line);
    if (!((most[at] ?? Infinity) < mebibytes(requests.memory))) above.push(line);
  }
  return above;
}

/** A quantity of Kubernetes such as 256Mi. */
function mebibytes(quantity: string): number {
  const [, count, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  if (count === undefined) throw new Error(`${quantity} is no quantity in Mi or Gi`);
  return Number(count) * (unit === 'Gi' ? 1_024 : 1);
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
