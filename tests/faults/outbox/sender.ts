import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createFreeze } from '@cronjob-monitor/controller/alerting';
import { createDispatcher, Drills } from '@cronjob-monitor/controller/outbox';
import { Connections, createAddressRules } from '@cronjob-monitor/controller/channels';
import { DeliveryMetrics } from '@cronjob-monitor/controller/metrics';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import { createLogger, createProcessMetrics, systemClock as clock } from '@cronjob-monitor/shared/process';
import { openStore, takeEpoch, type Store, type StoreSettings } from '@cronjob-monitor/shared/store';

/** What a sender is told: where the outbox is, and channels with their Secret. */
export interface SenderOrders {
  readonly settings: StoreSettings;
  readonly channels: readonly { readonly uid: string; readonly name: string; readonly spec: ChannelSpec }[];
  /** Of all channels, by the name of the Secret. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Ends hard there. `secret`: at the first read of one, what it has claimed is not sent. */
  readonly diesAt?: 'secret' | DrillMoment | undefined;
  /** Drills the channels by their schedules, as the leader does, too. */
  readonly drillsSince?: number | undefined;
}

/** Around the transaction that begins a drill, or ends one. */
type DrillMoment = `${'before' | 'after'} the commit of the ${'beginning' | 'end'}`;

/**
 * A process that only sends what stands in an outbox, as the leader does: to be killed at any moment. Its argument is a file with its
 * orders. Each start takes the epoch, as the replica of one pod that was started again.
 */
const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('a file with orders');
const orders = JSON.parse(readFileSync(path, 'utf8')) as SenderOrders; // written by the test
const logger = createLogger({ level: 'info', format: 'json', clock });
const store = openStore(orders.settings, { clock, log: logger });
const epoch = await takeEpoch(store, `sender ${process.pid}`);
const { registry } = createProcessMetrics({ entryPoint: 'controller', version: 'test', clock });
const seen = orders.channels.map(({ uid, name, spec }) => ({
  uid,
  name,
  createdAt: orders.drillsSince ?? 0,
  decoded: { type: spec.type, spec, problems: [] },
}));
const shared = {
  store,
  epoch,
  channels: { values: () => seen, find: (uid: string) => seen.find((each) => each.uid === uid) },
  onChannelChanged: () => {},
  database: { isAway: () => false, whenBack: async () => {} },
  onFenced: () => process.exit(1),
  clock,
  logger,
};
const words = { clusterName: undefined, externalUrl: 'https://monitor.example.org' };
const dispatcher = createDispatcher({
  ...shared,
  sender: { pod: 'pod', boot: randomUUID() },
  cluster: {
    findSecret: ({ name }) => {
      if (orders.diesAt === 'secret') process.kill(process.pid, 'SIGKILL');
      const values = new Map(Object.entries(orders.secrets[name] ?? {}));
      return Promise.resolve({ labels: {}, resourceVersion: '1', values });
    },
  },
  secretRules: { namespaces: ['*'], labelled: [] },
  sending: {
    addresses: createAddressRules({ deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] }),
    resolve: async () => ['127.0.0.1'],
    connections: new Connections(),
  },
  metrics: new DeliveryMetrics(registry),
  settings: {
    globalLimit: { periodMs: 1, burst: 100_000 },
    startedMs: clock.monotonicMs(),
    startupGraceMs: 0,
    ...words,
    source: 'cronjob-monitor-1f2e3d4c',
  },
  dependents: { any: () => Promise.resolve(true) },
  freeze: createFreeze({ ...words, findCronJob: () => undefined }),
  rulesOf: () => undefined,
  hasEvaluated: () => true,
});
const { signal } = new AbortController();
dispatcher.start(signal);
if (orders.drillsSince !== undefined) {
  const drills = new Drills({ ...shared, store: dyingIn(store), words, onTold: () => dispatcher.wake() });
  await drills.run(signal);
}

/** A store whose process ends hard around the commit of a drill's beginning or end, as the orders say. */
function dyingIn(of: Store): Store {
  const dieAt = (when: 'before' | 'after', done: unknown): void => {
    const what = Array.isArray(done) ? done.length > 0 && 'end' : done !== undefined && 'beginning';
    if (orders.diesAt === `${when} the commit of the ${String(what)}`) process.kill(process.pid, 'SIGKILL');
  };
  const fenced: Store['fenced'] = async (term, work) => {
    const done = await of.fenced(term, async (tx) => {
      const result = await work(tx);
      dieAt('before', result);
      return result;
    });
    dieAt('after', done);
    return done;
  };
  return { ...of, fenced };
}
