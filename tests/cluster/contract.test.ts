import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { createCluster, type Cluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { createSimCluster } from '@cronjob-monitor/simcluster';
import { applyCrds } from '../realcluster/apply-crds.ts';
import { startRealCluster } from '../realcluster/real-cluster.ts';
import { accessContract } from './contract/access.ts';
import { evidenceContract } from './contract/evidence.ts';
import { leaseContract } from './contract/leases.ts';
import { lifeCycleContract } from './contract/lifecycles.ts';
import { listContract } from './contract/lists.ts';
import { watchContract } from './contract/watches.ts';
import { writeContract } from './contract/writes.ts';
import { kubeconfigOf, until, type ContractCluster, type Subject } from './contract-cluster.ts';

/** The whole contract, against one cluster. Life cycles last: they wait for a full minute, the others fill the time. */
function contract(subject: Subject): void {
  leaseContract(subject);
  accessContract(subject);
  writeContract(subject);
  evidenceContract(subject);
  lifeCycleContract(subject);
  // What makes history too old disturbs other watches: not before the others are done.
  listContract(subject);
  watchContract(subject);
}

/** The product's client without its own limits: the suite is in a hurry. */
function aClient(kubeconfig: string): Cluster {
  const limits = { requestsPerSecond: 1000, burst: 1000 };
  return createCluster({ kubeconfig, clock: systemClock, logger: new RecordingLogger(), ...limits });
}

async function aRealCluster(): Promise<ContractCluster | { skipped: string }> {
  // One second in place of ten before a failed pod is replaced: all else runs at its real speed.
  const cluster = await startRealCluster({ podBackOff: '1s' });
  if ('skipped' in cluster) return cluster;
  await cluster.applyCrds();
  const client = aClient(cluster.kubeconfig);
  return {
    address: cluster,
    client,
    forgetHistory: async () => {
      // The API server serves recent versions from memory: it must start anew to know nothing of them.
      await cluster.compactEtcd();
      await cluster.restartApiServer();
    },
    // Admission refuses pods until a controller has made the account that they run as.
    untilUsable: async (namespace) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
      await until(`service account of ${namespace}`, async () =>
        (await cluster.request('GET', path)).status === 200 ? true : undefined,
      );
    },
    stop: async () => {
      await client.close();
      await cluster.stop();
    },
  };
}

/** In real time: what the suite waits for is what the product would wait for. */
async function aSimulatedCluster(): Promise<ContractCluster> {
  const token = 'administrator';
  const cluster = createSimCluster({ token, nodes: ['node-1', 'node-2'], schedulePods: true, podBackOffMs: 1000 });
  await cluster.start();
  const address = { url: cluster.url, token };
  await applyCrds(address);
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(address));
  const client = aClient(kubeconfig);
  return {
    address,
    client,
    forgetHistory: async () => cluster.compact(),
    untilUsable: async () => {},
    stop: async () => {
      await client.close();
      await cluster.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const started = await aRealCluster();

// Both at once: most of the time of either goes by in waiting for the next minute.
describe('the contract', { concurrency: true }, () => {
  describe('on a simulated cluster', { concurrency: 1 }, () => {
    let cluster: ContractCluster;
    before(async () => void (cluster = await aSimulatedCluster()));
    after(() => cluster.stop());
    contract(() => cluster);
  });

  describe('on a real cluster', { concurrency: 1, skip: 'skipped' in started && started.skipped }, () => {
    const cluster = started as ContractCluster; // else the suite is skipped
    after(() => cluster.stop());
    contract(() => cluster);
  });
});
