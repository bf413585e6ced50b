import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createDispatcher } from '@cronjob-monitor/controller/alerting';
import { createAddressRules } from '@cronjob-monitor/controller/channels';
import { DeliveryMetrics } from '@cronjob-monitor/controller/metrics';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import { createLogger, createProcessMetrics, systemClock as clock } from '@cronjob-monitor/shared/process';
import { openStore, takeEpoch, type StoreSettings } from '@cronjob-monitor/shared/store';

/** What a sender is told: where the outbox is, and one channel with its Secret. */
export interface SenderOrders {
  readonly settings: StoreSettings;
  readonly channel: { readonly uid: string; readonly name: string; readonly spec: ChannelSpec };
  readonly secret: Readonly<Record<string, string>>;
  /** Ends hard at the first read of a Secret: what it has claimed is not sent. */
  readonly diesAtSecret: boolean;
}

/**
 * A process that only sends what stands in an outbox, as the leader does: to be killed at any moment. Its argument is a file with its
 * orders. Each start takes the epoch, as the replica of one pod that was started again.
 */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('a file with orders');
const orders = JSON.parse(readFileSync(path, 'utf8')) as SenderOrders; // written by the test
const logger = createLogger({ level: 'info', format: 'json', clock });
const store = openStore(orders.settings, { clock, log: logger });
const { registry } = createProcessMetrics({ entryPoint: 'controller', version: 'test', clock });
const dispatcher = createDispatcher({
  store,
  epoch: await takeEpoch(store, `sender ${process.pid}`),
  sender: { pod: 'pod', boot: randomUUID() },
  channels: {
    find: (uid) =>
      uid === orders.channel.uid ? { name: orders.channel.name, decoded: { spec: orders.channel.spec } } : undefined,
  },
  cluster: {
    findSecret: () => {
      if (orders.diesAtSecret) process.kill(process.pid, 'SIGKILL');
      return Promise.resolve({ labels: {}, resourceVersion: '1', values: new Map(Object.entries(orders.secret)) });
    },
  },
  secretRules: { namespaces: ['*'], labelled: [] },
  sending: {
    addresses: createAddressRules({ deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] }),
    resolve: async () => ['127.0.0.1'],
  },
  metrics: new DeliveryMetrics(registry),
  settings: {
    globalLimit: { periodMs: 1, burst: 100_000 },
    startedMs: clock.monotonicMs(),
    startupGraceMs: 0,
    clusterName: undefined,
    externalUrl: undefined,
    source: 'cronjob-monitor-1f2e3d4c',
  },
  rulesOf: () => undefined,
  hasEvaluated: () => true,
  onChannelChanged: () => {},
  database: { isAway: () => false, whenBack: async () => {} },
  onFenced: () => process.exit(1),
  clock,
  logger,
});
dispatcher.start(new AbortController().signal);
