import {
  createClock,
  createSimCluster,
  piecesOf,
  type SimCluster,
  type VirtualClock,
} from '@cronjob-monitor/simcluster';
import { readTopic, type RecordedCase } from './golden-file.ts';

type Fields = Record<string, unknown>;

/** A cluster on which one case is played, its clock at the epoch of the case. */
interface PreparedCluster {
  readonly cluster: SimCluster;
  readonly clock: VirtualClock;
}

export const adminToken = 'admin-token-local';
/** Custom kinds need a moment to be served. */
const beforehandMs = 5_000;

/** Makes a cluster with what was made outside the steps when the cases were recorded. */
export async function prepareCluster(topic: string, recorded: RecordedCase): Promise<PreparedCluster> {
  const epoch = Date.parse(recorded.epoch);
  const clock = createClock(epoch - beforehandMs);
  const cluster = createSimCluster({
    clock,
    token: adminToken,
    // The recorded server had no such controller.
    serviceAccounts: false,
    ...(topic === 'overload' ? { places: { reads: 1, writes: 1 } } : {}),
  });
  await cluster.start();
  for (const name of ['kwok-0', 'golden-logs']) {
    cluster.objects.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  }
  cluster.objects.put(unreachableNode);
  if (topic !== 'discovery') cluster.objects.put(sampleDefinition);
  if (topic === 'crd' && !recorded.name.startsWith('establish')) {
    for (const definition of recordedDefinitions()) cluster.objects.put(definition);
  }
  if (`${topic}/${recorded.name}` === 'lists/too-old') forgetHistory(epoch, cluster, clock);
  if (topic === 'overload') fillPlaces(cluster);
  if (topic === 'pod-logs') writeLogs(recorded, epoch, cluster);
  clock.advanceTo(epoch);
  return { cluster, clock };
}

const unreachableNode = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'golden-gone' },
  status: {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: 24011 } },
  },
};

const sampleDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'samples.golden.example.com' },
  spec: {
    group: 'golden.example.com',
    scope: 'Namespaced',
    names: { kind: 'Sample', listKind: 'SampleList', plural: 'samples', singular: 'sample' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
};

/** The definitions that the first cases of the topic create are there for the others. */
function recordedDefinitions(): Fields[] {
  return readTopic('crd')
    .cases.filter(({ name }) => name.startsWith('establish'))
    .flatMap(({ steps }) => steps.map(({ request }) => request.body as Fields | undefined))
    .filter((body) => body?.['kind'] === 'CustomResourceDefinition') as Fields[];
}

/** Between the steps one object was written again and again, until the server forgot what was before. */
function forgetHistory(epoch: number, cluster: SimCluster, clock: VirtualClock): void {
  const name = { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'list-26', name: 'c0' };
  clock.callAt(epoch + 80_000, () => {
    cluster.objects.update(name, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { tick: '26' } },
    }));
    cluster.compact();
  });
}

/** Who asks while the server is full may read; a request that waits for a version to come fills it. */
function fillPlaces(cluster: SimCluster): void {
  const { objects, url } = cluster;
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'reader' } };
  const rules = [{ apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get', 'list', 'watch'] }];
  objects.put({ ...rbac, kind: 'ClusterRole', rules });
  objects.put({
    ...rbac,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'busy' }],
  });
  const path = `/apis/batch/v1/cronjobs?resourceVersion=${cluster.version() + 1_000}&resourceVersionMatch=NotOlderThan`;
  const waiting = fetch(new URL(path, url), { headers: { authorization: `Bearer ${adminToken}` } });
  // The end of the cluster cuts it off.
  waiting.catch(() => {});
}

const logsFrom = Date.parse('2026-01-01T00:00:00Z');

/** Every container of the case has a log of five lines, but for those that a case is about. */
function writeLogs(recorded: RecordedCase, epoch: number, { logs }: SimCluster): void {
  for (const { request } of recorded.steps) {
    const body = request.body as { kind?: string; metadata: { name: string }; spec: PodSpec } | undefined;
    const namespace = /namespaces\/([^/]+)\/pods$/.exec(request.path)?.[1];
    if (body?.kind !== 'Pod' || namespace === undefined) continue;
    const pod = body.metadata.name;
    for (const { name: container } of body.spec.containers) {
      logs.write({ namespace, pod, container }, usualLog);
    }
    const specials = Object.entries(specialLogs(epoch)[recorded.name] ?? {});
    for (const [container, log] of specials) logs.write({ namespace, pod, container }, log);
  }
}

interface PodSpec {
  readonly containers: readonly { readonly name: string }[];
}
type ContainerLog = Parameters<SimCluster['logs']['write']>[1];

const usualLog: ContainerLog = { pieces: piecesOf('one\ntwo\nthree\nfour\nfive\n', logsFrom, 1_000), ended: true };

/** By case and container. */
function specialLogs(epoch: number): Record<string, Record<string, ContainerLog>> {
  const ended = (text: string): ContainerLog => ({ pieces: piecesOf(text, logsFrom), ended: true });
  return {
    'container-needed-init': { setup: ended('s\n') },
    previous: { again: { ...ended('second life\n'), previous: piecesOf('first life\n', logsFrom) } },
    waiting: {
      main: { pieces: [], ended: false, waiting: 'ContainerCreating' },
      pull: { pieces: [], ended: false, waiting: 'trying and failing to pull image' },
    },
    'follow-running': { main: { pieces: piecesOf('one\ntwo\nthree\n', epoch + 50, 400), ended: true } },
    'unicode-and-no-newline': { main: ended('Größe 5 €\n\u001B[31mred\u001B[0m\n') },
  };
}
