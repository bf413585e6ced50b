import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aCronJob, aJob, paths } from '../../cluster/kube-objects.ts';
import { startRealCluster } from '../../realcluster/real-cluster.ts';
import { apiRequest, type ApiAddress } from '../../realcluster/api-request.ts';
import { namespace, startBench, until } from '../../faults/harness/bench.ts';
import { cutOff } from '../../faults/harness/replicas.ts';

/** A cluster that runs its Jobs, with one CronJob that a monitor watches. */
export interface Place {
  readonly kind: 'real' | 'simulated';
  readonly kubeconfig: string;
  readonly folder: string;
  /** Starts a run of the CronJob, and gives the UID of its Job. */
  runOnce(): Promise<string>;
  countJobs(): Promise<number>;
  /** The API server answers the service no longer; the function it gives ends that. */
  standStill(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

const cronJob = 'backup';

/** A control plane of Kubernetes itself, or why this machine cannot run one. */
export async function startRealPlace(): Promise<Place | { readonly skipped: string }> {
  const cluster = await startRealCluster({ podBackOff: '1s' });
  if ('skipped' in cluster) return cluster;
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-clusters-'));
  await cluster.applyCrds();
  await create(cluster, '/api/v1/namespaces', { metadata: { name: namespace } });
  await create(cluster, paths.monitors(namespace), {
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { name: 'everything' },
    spec: {},
  });
  await until('the service account of its pods', async () => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    return (await cluster.request('GET', path)).status === 200;
  });
  return {
    kind: 'real',
    kubeconfig: cluster.kubeconfig,
    folder,
    ...(await withCronJob(cluster)),
    standStill: async () => {
      await cluster.pauseApiServer();
      return () => cluster.resumeApiServer();
    },
    close: async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startSimulatedPlace(): Promise<Place> {
  const bench = await startBench();
  const { sim, proxy, kubeconfig, folder } = bench;
  return {
    kind: 'simulated',
    kubeconfig,
    folder,
    ...(await withCronJob({ url: sim.url })),
    standStill: async () => {
      const mend = cutOff(proxy);
      return async () => mend();
    },
    close: () => bench.close(),
  };
}

async function withCronJob(address: ApiAddress): Promise<Pick<Place, 'runOnce' | 'countJobs'>> {
  const { uid } = await create(address, paths.cronJobs(namespace), aCronJob(cronJob));
  let runs = 0;
  return {
    runOnce: async () => {
      const job = aJob(`${cronJob}-by-hand-${++runs}`) as { readonly metadata: object };
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid, controller: true };
      const metadata = { ...job.metadata, ownerReferences: [owner] };
      return (await create(address, paths.jobs(namespace), { ...job, metadata })).uid;
    },
    countJobs: async () => (await apiRequest(address, 'GET', paths.jobs(namespace))).body.items.length as number,
  };
}

/** Throws unless the API server says 201. */
async function create(address: ApiAddress, path: string, body: object): Promise<{ readonly uid: string }> {
  const answer = await apiRequest(address, 'POST', path, { body });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.metadata as { readonly uid: string };
}
