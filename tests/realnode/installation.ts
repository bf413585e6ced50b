import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findHelm } from '../chart/helm.ts';
import { chart, parseObjects, release, type Rendered } from '../chart/render.ts';
import { apiRequest, type ApiAnswer } from '../realcluster/api-request.ts';
import { isReady, type RealNode } from './real-node.ts';

const manifests = resolve(import.meta.dirname, '../../charts/manifests');

/** Where the API server keeps an object of the manifests: plural names of Kubernetes follow one rule but for policies. */
function pathOf({ apiVersion, kind, metadata }: Rendered): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  return `${root}${metadata.namespace ? `/namespaces/${metadata.namespace}` : ''}/${plural}/${metadata.name}`;
}

/** A pod, as far as tests read it. */
export interface PodShown {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly ip: string;
  readonly component: string;
  readonly ready: boolean;
  readonly restarts: number;
}

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly replicas: number };
  readonly status: Readonly<
    Record<'observedGeneration' | 'updatedReplicas' | 'replicas' | 'availableReplicas', number>
  >;
}

const kindsOfInstallation: Readonly<Record<string, readonly string[]>> = {
  'api/v1': ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'persistentvolumeclaims'],
  'apis/apps/v1': ['deployments', 'replicasets'],
  'apis/networking.k8s.io/v1': ['networkpolicies', 'ingresses'],
  'apis/policy/v1': ['poddisruptionbudgets'],
  'apis/rbac.authorization.k8s.io/v1': ['roles', 'rolebindings'],
  'apis/coordination.k8s.io/v1': ['leases'],
};
const ofEveryNamespace = new Set(['kube-root-ca.crt', 'default']);

/** The chart, installed by Helm in a namespace that admits only what Pod Security calls restricted. */
export class Installation {
  readonly namespace: string;
  readonly #node: RealNode;
  readonly #helm: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-realnode-'));

  private constructor(node: RealNode, helm: string, namespace: string) {
    this.#node = node;
    this.#helm = helm;
    this.namespace = namespace;
  }

  static async prepare(node: RealNode, namespace: string): Promise<Installation> {
    const helm = await findHelm();
    if ('skipped' in helm) throw new Error(helm.skipped);
    const labels = {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/enforce-version': 'latest',
    };
    await created(node, '/api/v1/namespaces', { metadata: { name: namespace, labels } });
    return new Installation(node, helm.path, namespace);
  }

  /** `helm install` or `helm upgrade` with these values on top of the image's name; returns what it printed. */
  helm(command: 'install' | 'upgrade', values: object): Promise<string> {
    const [repository, tag] = this.#node.images.product.name.split(/:(?=[^:/]+$)/);
    const file = join(this.#folder, 'values.yaml');
    writeFileSync(file, JSON.stringify({ image: { repository, tag, pullPolicy: 'Never' }, ...values }));
    return this.run(command, release, chart, '--values', file);
  }

  /** Any other command of Helm. */
  async run(...args: string[]): Promise<string> {
    const where = ['--namespace', this.namespace, '--kubeconfig', this.#node.cluster.kubeconfig];
    const { stdout } = await promisify(execFile)(this.#helm, [...args, ...where], { maxBuffer: 2 ** 24 });
    return stdout;
  }

  /** The plain manifests, with the image of the test and another class of volumes; every object is applied by the server. */
  async applyManifests(
    name: string,
    { storageClassName, podAnnotations }: { readonly storageClassName?: string; readonly podAnnotations?: object } = {},
  ): Promise<void> {
    for (const object of this.#manifests(name)) {
      if (object.kind === 'PersistentVolumeClaim') object['spec'].storageClassName = storageClassName;
      if (object.kind === 'Deployment') {
        const { template } = object['spec'];
        template.spec.containers[0].image = this.#node.images.product.name;
        Object.assign(template.metadata.annotations, podAnnotations);
      }
      const { status, body } = await this.#node.cluster.request(
        'PATCH',
        `${pathOf(object)}?fieldManager=test&force=true`,
        {
          body: object,
          contentType: 'application/apply-patch+yaml',
        },
      );
      if (status > 201) throw new Error(`${object.kind} ${object.metadata.name}: ${status} ${JSON.stringify(body)}`);
    }
  }

  /** As `kubectl delete --filename` does: everything that the file names, and it waits until all of it is gone. */
  async deleteManifests(name: string): Promise<void> {
    const objects = this.#manifests(name);
    for (const object of objects) await this.#node.cluster.request('DELETE', pathOf(object));
    await until(`nothing of ${name}.yaml is there`, async () => {
      const answers = await Promise.all(objects.map((object) => this.#get(pathOf(object))));
      return answers.every(({ status }) => status === 404);
    });
  }

  #manifests(name: string): Rendered[] {
    return parseObjects(readFileSync(join(manifests, `${name}.yaml`), 'utf8'));
  }

  async pods(): Promise<PodShown[]> {
    const { body } = await this.#get(`/api/v1/namespaces/${this.namespace}/pods`);
    return body.items
      .filter((pod: Rendered) => !('deletionTimestamp' in pod.metadata))
      .map((pod: Rendered & { metadata: { uid: string } }) => ({
        name: pod.metadata.name,
        uid: pod.metadata.uid,
        node: pod['spec'].nodeName ?? '',
        ip: pod['status'].podIP ?? '',
        component: pod.metadata.labels?.['app.kubernetes.io/component'] ?? '',
        ready: isReady(pod),
        restarts: pod['status'].containerStatuses?.[0]?.restartCount ?? 0,
      }));
  }

  /** Waits until so many pods of the components are Ready and no others are there. Says what they were when it takes too long. */
  async untilReady(expected: Readonly<Record<string, number>>, limitMs = 120_000): Promise<PodShown[]> {
    for (const endsAt = performance.now() + limitMs; ; await wait(200)) {
      const pods = (await this.pods()).filter(({ component }) => component !== 'test');
      const wanted = Object.entries(expected);
      const isThere = wanted.every(
        ([component, count]) => pods.filter((one) => one.component === component).length === count,
      );
      if (isThere && pods.every(({ ready }) => ready)) return pods;
      if (performance.now() > endsAt) throw new Error(`not ready after ${limitMs} ms:\n${await this.tell()}`);
    }
  }

  /** Waits until its Deployments run new pods alone, and these are Ready. */
  async untilRolledOut(expected: Readonly<Record<string, number>>): Promise<PodShown[]> {
    await until('new pods are the only ones', async () => {
      const { body } = await this.#get(`/apis/apps/v1/namespaces/${this.namespace}/deployments`);
      return body.items.every(
        ({ metadata, spec, status }: Deployment) =>
          status.observedGeneration === metadata.generation &&
          status.updatedReplicas === spec.replicas &&
          status.replicas === spec.replicas &&
          status.availableReplicas === spec.replicas,
      );
    });
    return this.untilReady(expected);
  }

  /** Everything that an installation makes or that is made for one, as `pods/NAME`, but what every namespace has. */
  async objects(): Promise<string[]> {
    const found: string[] = [];
    const paths = Object.entries(kindsOfInstallation).flatMap(([group, plurals]) =>
      plurals.map((plural) => [`/${group}/namespaces/${this.namespace}/${plural}`, plural] as const),
    );
    const ofCluster = ['clusterroles', 'clusterrolebindings'].map((plural) => {
      const selector = 'labelSelector=app.kubernetes.io/name=cronjob-monitor';
      return [`/apis/rbac.authorization.k8s.io/v1/${plural}?${selector}`, plural] as const;
    });
    for (const [path, plural] of [...paths, ...ofCluster]) {
      const { body } = await this.#get(path);
      const names: string[] = body.items.map(({ metadata }: Rendered) => metadata.name);
      found.push(...names.filter((name) => !ofEveryNamespace.has(name)).map((name) => `${plural}/${name}`));
    }
    return found.sort();
  }

  /**
   * Asks the service by the address of its Service, as a neighbour in the cluster does. A pod that has just ended answers nothing until
   * kube-proxy knows: such a question is put again.
   */
  async ask<T>(path: string): Promise<T> {
    const url = await this.address();
    for (let tries = 1; ; tries++) {
      try {
        const { status, body } = await readOnce(url, path);
        if (status === 200) return body as T;
        throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      } catch (error) {
        if (tries === 4) throw error;
        await wait(500);
      }
    }
  }

  async address(): Promise<string> {
    const { body } = await this.#get(`/api/v1/namespaces/${this.namespace}/services/${release}`);
    return `http://${body.spec.clusterIP}:${body.spec.ports[0].port}`;
  }

  /** The pod that holds the Lease. */
  async leader(): Promise<PodShown> {
    for (const endsAt = performance.now() + 60_000; ; await wait(200)) {
      const { body } = await this.#get(`/apis/coordination.k8s.io/v1/namespaces/${this.namespace}/leases`);
      const holders = (body.items ?? []).map((lease: Rendered) => String(lease['spec'].holderIdentity ?? ''));
      const found = (await this.pods()).find(({ name }) => holders.some((holder: string) => holder.startsWith(name)));
      if (found !== undefined) return found;
      if (performance.now() > endsAt) throw new Error(`no pod holds a Lease: ${JSON.stringify(holders)}`);
    }
  }

  /** What an administrator would look at: the pods, their events, and the end of their logs. */
  async tell(): Promise<string> {
    const { body: pods } = await this.#get(`/api/v1/namespaces/${this.namespace}/pods`);
    const { body: events } = await this.#get(`/api/v1/namespaces/${this.namespace}/events`);
    const lines = events.items
      .slice(-15)
      .map((one: Rendered) => `${one['involvedObject'].name}: ${one['reason']} ${one['message']}`);
    for (const pod of pods.items) {
      lines.push(
        `${pod.metadata.name}: ${pod.status.phase} ${JSON.stringify(pod.status.containerStatuses?.[0]?.state ?? pod.status.conditions)}`,
      );
      const log = await this.log(pod.metadata.name);
      lines.push(...log.split('\n').slice(-8));
    }
    return lines.join('\n');
  }

  async log(pod: string): Promise<string> {
    const { body } = await this.#get(`/api/v1/namespaces/${this.namespace}/pods/${pod}/log?tailLines=200`);
    return typeof body === 'string' ? body : JSON.stringify(body);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #get(path: string): Promise<ApiAnswer> {
    return this.#node.cluster.request('GET', path);
  }
}

/** One question on a connection of its own: one that is kept open would lead to a pod that has ended. */
export function readOnce(url: string, path: string): Promise<ApiAnswer> {
  return apiRequest({ url }, 'GET', path, { headers: { connection: 'close' }, signal: AbortSignal.timeout(15_000) });
}

/** Posts an object; throws what the API server says when it does not take it. */
export async function created(node: RealNode, path: string, body: object): Promise<Rendered> {
  const answer = await node.cluster.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A class of volumes without a provisioner, and one volume of it: a folder of a machine. */
export async function giveVolume(
  node: RealNode,
  name: string,
  size = '5Gi',
): Promise<{ storageClassName: string; path: string }> {
  const [machine] = node.machines;
  if (machine === undefined) throw new Error('the cluster has no machine');
  const path = join(machine.dir, 'volumes', name);
  mkdirSync(path, { recursive: true });
  await created(node, '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await created(node, '/api/v1/persistentvolumes', {
    metadata: { name },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: name,
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [machine.name] }] },
          ],
        },
      },
    },
  });
  return { storageClassName: name, path };
}

/** Asks again and again; a question that fails is a no. */
export async function until(what: string, holds: () => Promise<boolean>, limitMs = 150_000): Promise<void> {
  for (const endsAt = performance.now() + limitMs; ; await wait(250)) {
    if (await holds().catch(() => false)) return;
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${limitMs} ms`);
  }
}

/**
 * Does it, prints how long it took, and throws when that was more than `limitMs`: as long as others keep the processors busy the limit is
 * longer, by as much as a short computation takes longer than its own processor time.
 */
export async function inTime<T>(what: string, limitMs: number, work: () => Promise<T>): Promise<T> {
  const before = slowdown();
  const startedAt = performance.now();
  const result = await work();
  const tookMs = Math.round(performance.now() - startedAt);
  const mostMs = Math.round(limitMs * Math.max(before, slowdown()));
  console.log(`${what} after ${tookMs} ms, of ${mostMs} ms`);
  if (tookMs > mostMs) throw new Error(`${what}: after ${tookMs} ms, it may take ${mostMs} ms`);
  return result;
}

function slowdown(): number {
  const computesMs = 300;
  const before = process.cpuUsage();
  const endsAt = performance.now() + computesMs;
  while (performance.now() < endsAt);
  const { user, system } = process.cpuUsage(before);
  return Math.max(1, computesMs / ((user + system) / 1_000));
}
