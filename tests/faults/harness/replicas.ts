import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerSettings, Store } from '@cronjob-monitor/shared/store';
import { kubeconfigText } from '@cronjob-monitor/shared/testing';
import type { SimCluster } from '@cronjob-monitor/simcluster';
import {
  sourcePrograms,
  startFaultProxy,
  type FaultProxy,
  type MonitorOptions,
  type MonitorProcess,
} from '../../servers/index.ts';
import { HttpSink } from '../../sinks/index.ts';
import { JobReader, openBeside } from '../checker/index.ts';
import type { PodOrders } from '../pod/preload.ts';
import { namespace, startBench, until, type Bench, type BenchOptions } from './bench.ts';
import { tellsLoopback } from './receiver.ts';

/** One replica of the controller: a pod of its own, with a way of its own to the API server and to the database. */
export interface Replica {
  readonly pod: string;
  readonly process: MonitorProcess;
  readonly api: FaultProxy;
  readonly database: FaultProxy;
  /** Makes the process do this to itself: its loop stands still, its clock is set. */
  order(orders: PodOrders): void;
}

/** Several replicas that elect a leader, the cluster they watch, and the judges of what they record and tell. */
export interface ReplicaBench extends Bench {
  readonly replicas: readonly Replica[];
  readonly sink: HttpSink;
  readonly reader: JobReader;
  readonly store: Store;
  /** The living one that took the epoch last; undefined: the last one is gone, or none has led yet. */
  leader(): Replica | undefined;
  /** Waits until another than `former` leads; without a former one, until any does. */
  untilLed(former?: Replica, limitMs?: number): Promise<Replica>;
}

export interface ReplicaOptions extends BenchOptions {
  readonly settings: ServerSettings;
  /** 3 by default. */
  readonly count?: number;
  readonly config?: Readonly<Record<string, string | number | boolean>>;
  /** How many are started at once; all by default. The others are the test's to start. */
  readonly startsWith?: number;
  /** Module loaded before the entry point of one replica, besides what makes it a pod. */
  readonly preloadOf?: (number: number) => string | undefined;
  /** What each of them runs; the sources by default. */
  readonly program?: string;
}

/** What a replica says when it leads. */
const leads = 'this replica leads';
const podPreload = new URL('../pod/preload.ts', import.meta.url).href;

/** All of them ready, one of them leading. */
export async function startReplicas(options: ReplicaOptions): Promise<ReplicaBench> {
  const { settings, count = 3, startsWith = count, config = {}, preloadOf, program, ...benchOptions } = options;
  // Monitors are put by what watches: incidents.
  const bench = await startBench({
    controllers: false,
    monitor: { selector: { matchNames: ['nobody'] } },
    ...benchOptions,
  });
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    await bench.close();
    for (const closing of closings.toReversed()) await closing();
  };
  try {
    const sink = await HttpSink.start();
    closings.push(() => sink.stop());
    const replicas: Replica[] = [];
    for (let number = 0; number < count; number++) {
      const replica = await prepareReplica(bench, { number, settings, config, preload: preloadOf?.(number), program });
      closings.push(() => replica.api.close());
      closings.push(() => replica.database.close());
      replicas.push(replica);
    }
    const reader = await JobReader.start({ url: bench.sim.url }, namespace);
    closings.push(() => reader.stop());
    const store = openBeside(settings);
    closings.push(() => store.close());

    const leader = (): Replica | undefined => {
      const led = replicas
        .map((replica) => ({ replica, epoch: epochOf(replica.process) }))
        .toSorted((a, b) => b.epoch - a.epoch)[0];
      const isItStill = led?.replica.process.running && led.replica.process.saidOfLate(leads).length > 0;
      return isItStill ? led.replica : undefined;
    };
    const untilLed = async (former?: Replica, limitMs = 60_000): Promise<Replica> => {
      const epochBefore = former ? epochOf(former.process) : 0;
      let led: Replica | undefined;
      const isLed = (): boolean => {
        led = leader();
        return led !== undefined && epochOf(led.process) > epochBefore;
      };
      await until('another replica leads', isLed, limitMs);
      if (!led) throw new Error('no replica leads');
      return led;
    };
    await Promise.all(replicas.slice(0, startsWith).map(({ process }) => process.startReady()));
    await untilLed();
    return { ...bench, replicas, sink, reader, store, leader, untilLed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A preload changes modules of the source, which then has to be what runs. */
function programOf(program: string | undefined, preload: string | undefined): Pick<MonitorOptions, 'program'> {
  const chosen = program ?? (preload === undefined ? undefined : sourcePrograms.controller);
  return chosen === undefined ? {} : { program: chosen };
}

async function prepareReplica(
  bench: Bench,
  of: {
    readonly number: number;
    readonly settings: ServerSettings;
    readonly config: NonNullable<ReplicaOptions['config']>;
    readonly preload: string | undefined;
    readonly program: string | undefined;
  },
): Promise<Replica> {
  const { number, settings, config, preload, program } = of;
  const pod = `controller-${number}`;
  const api = await startFaultProxy({ port: Number(new URL(bench.sim.url).port) });
  const database = await startFaultProxy({ port: settings.port });
  const kubeconfig = join(bench.folder, `kubeconfig-${number}`);
  writeFileSync(kubeconfig, kubeconfigText({ server: `http://127.0.0.1:${api.port}` }));
  const orders = join(bench.folder, `orders-${number}.json`);
  const preloads = [podPreload, preload].filter((path) => path !== undefined);
  const process = await bench.prepare({
    entryPoint: 'controller',
    ...programOf(program, preload),
    kubeconfig,
    storage: { ...settings, port: database.port },
    config: {
      ...tellsLoopback,
      'rate-limits.storm-threshold': 0,
      'leader-election.enabled': true,
      'leader-election.namespace': namespace,
      ...config,
    },
    env: {
      TEST_POD: pod,
      TEST_POD_ORDERS: orders,
      NODE_OPTIONS: preloads.map((path) => `--import=${path}`).join(' '),
    },
  });
  return {
    pod,
    process,
    api,
    database,
    order(given) {
      writeFileSync(orders, JSON.stringify(given));
      process.signal('SIGUSR2');
    },
  };
}

/** When it took the lead for the last time. */
export function ledSince({ process }: Replica): number {
  return Date.parse(String(process.said(leads).at(-1)?.['time']));
}

/** The epoch that the process took last, in any of its lives; 0: none. */
function epochOf(process: MonitorProcess): number {
  return Number(process.said(leads).at(-1)?.['epoch'] ?? 0);
}

/** Nothing passes either way, and neither end is told: a black hole. Returns what ends it. */
export function cutOff(proxy: FaultProxy): () => void {
  proxy.disturb('toServer', { drop: true });
  proxy.disturb('toClient', { drop: true });
  return () => {
    proxy.disturb('toServer', {});
    proxy.disturb('toClient', {});
    // What was swallowed leaves the connections in pieces.
    proxy.reset();
  };
}

/** Resolves when the leader has just renewed its Lease. */
export async function renewalOf(sim: SimCluster): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = sim.observe(({ type, object }) => {
    if (type === 'MODIFIED' && object.kind === 'Lease') resolve();
  });
  const limit = setTimeout(() => reject(new Error('no replica renews the Lease')), 30_000);
  try {
    await promise;
  } finally {
    clearTimeout(limit);
    stop();
  }
}
