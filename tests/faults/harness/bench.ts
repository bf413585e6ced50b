import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { kubeconfigText } from '@cronjob-monitor/shared/testing';
import {
  createSimCluster,
  type FaultTarget,
  type KubeObject,
  type SimCluster,
  type SimClusterOptions,
} from '@cronjob-monitor/simcluster';
import { applyCrds } from '../../realcluster/apply-crds.ts';
import {
  MonitorProcess,
  startFaultProxy,
  type FaultProxy,
  type MonitorOptions,
  type StoragePlace,
} from '../../servers/index.ts';

/** The namespace in which everything happens, watched by a monitor that takes all of it. */
export const namespace = 'shop';

/** Lease of tests: a tenth of what an installation has (faults.md section 1). */
export const quickLease = {
  'leader-election.lease-duration': '2s',
  'leader-election.renew-deadline': '1500ms',
  'leader-election.retry-period': '400ms',
} as const;

/** Lease of an installation: both witnesses of a leader speak long before it expires. */
export const usualLease = {
  'leader-election.lease-duration': '15s',
  'leader-election.renew-deadline': '10s',
  'leader-election.retry-period': '2s',
} as const;

/** A simulated cluster, the proxy through which our processes reach it, and a folder for what they need. */
export interface Bench {
  readonly sim: SimCluster;
  /** Between our processes and the API server; the test itself goes past it. */
  readonly proxy: FaultProxy;
  readonly folder: string;
  readonly kubeconfig: string;
  /** A process of ours on this cluster, not started yet. Removed with the bench. */
  prepare(options: Partial<MonitorOptions> & { readonly storage?: StoragePlace }): Promise<MonitorProcess>;
  /** SQLite, in a file of the folder. */
  sqlite(name?: string): StoragePlace & { readonly type: 'sqlite' };
  close(): Promise<void>;
}

export interface BenchOptions extends SimClusterOptions {
  /** Spec of the monitor; everything is optional in it. */
  readonly monitor?: object;
  /** User of the kubeconfig; an unknown one by default. */
  readonly user?: Readonly<Record<string, unknown>>;
}

/** With LISTS=pages no server of these suites streams lists. */
const streamsLists = process.env['LISTS'] !== 'pages';

/** Lists of all objects of a path, streamed or in pages. */
export function listsAt(path: RegExp): FaultTarget {
  return { verb: ['list', 'watch'], path, query: /sendInitialEvents|limit=/ };
}

export async function startBench({ monitor = {}, user, ...options }: BenchOptions = {}): Promise<Bench> {
  const sim = createSimCluster({ nodes: ['node-1', 'node-2'], schedulePods: true, streamsLists, ...options });
  await sim.start();
  const proxy = await startFaultProxy({ port: Number(new URL(sim.url).port) });
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-faults-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText({ server: `http://127.0.0.1:${proxy.port}`, ...(user && { user }) }));
  const processes: MonitorProcess[] = [];
  const sqlite: Bench['sqlite'] = (name = 'monitor.db') => ({ type: 'sqlite', path: join(folder, name) });
  const bench: Bench = {
    sim,
    proxy,
    folder,
    kubeconfig,
    sqlite,
    async prepare(given) {
      const prepared = await MonitorProcess.prepare({
        entryPoint: 'standalone',
        kubeconfig,
        storage: sqlite(),
        ...given,
        config: { ...quickLease, ...given.config },
      });
      processes.push(prepared);
      return prepared;
    },
    async close() {
      await Promise.all(processes.map((one) => one.remove()));
      await proxy.close();
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await applyCrds({ url: sim.url, token: options.token });
    sim.objects.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    putMonitor(sim, 'everything', monitor);
    return bench;
  } catch (error) {
    await bench.close();
    throw error;
  }
}

export function putMonitor(sim: SimCluster, name: string, spec: unknown): KubeObject {
  return sim.objects.put({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { name, namespace },
    spec,
  });
}

/** Asks until it holds; throws after `limitMs`, saying what it waited for. */
export async function until(
  what: string | (() => string),
  ask: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await ask())) {
    if (performance.now() > endsAt)
      throw new Error(`${typeof what === 'string' ? what : what()}: not within ${limitMs / 1000} s`);
    await wait(100);
  }
}
