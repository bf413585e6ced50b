import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createFreeze } from '@cronjob-monitor/controller/alerting';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '@cronjob-monitor/controller/outbox';
import { Connections, createAddressRules } from '@cronjob-monitor/controller/channels';
import { DeliveryMetrics } from '@cronjob-monitor/controller/metrics';
import type { ChannelType } from '@cronjob-monitor/shared/contract';
import { headingOf, type Message } from '@cronjob-monitor/shared/domain';
import { ClusterError, type ChannelSpec, type SecretContent } from '@cronjob-monitor/shared/kube';
import { createProcessMetrics, type Clock, type Registry } from '@cronjob-monitor/shared/process';
import {
  insertAlerts,
  insertDelivery,
  migrate,
  newId,
  openStore,
  projectChannel,
  projectCronJob,
  takeEpoch,
  type AlertRecord,
  type NewDelivery,
  type Store,
} from '@cronjob-monitor/shared/store';
import {
  aCronJob,
  anAlertMessage,
  aTemporaryFolder,
  FakeClock,
  RecordingLogger,
  alertRulesTo,
} from '@cronjob-monitor/shared/testing';
import { aDelivery, anAlert } from '../store/alert-facts.ts';
import { readRows } from '../store/rows.ts';
import { startReceiver, type Receiver } from './receivers.ts';

export const secondMs = 1_000;

/** A channel with a receiver behind it. */
export interface BenchChannel extends Receiver {
  readonly uid: string;
  readonly name: string;
  spec: ChannelSpec;
}

/** An outbox on SQLite, receivers on loopback, and a dispatcher between them, in a time that only the test moves. */
export class OutboxBench {
  readonly clock: FakeClock;
  /** The clock of the product: the one above, or the machine's. */
  readonly time: Clock;
  readonly store: Store;
  readonly epoch: number;
  readonly logger = new RecordingLogger();
  readonly registry: Registry;
  readonly metrics: DeliveryMetrics;
  readonly channels = new Map<string, BenchChannel>();
  readonly secrets = new Map<string, SecretContent>();
  /** UIDs of channels whose status was to be written, in their order. */
  readonly changed: string[] = [];
  /** What is to happen at a read of a Secret, before it is answered. */
  beforeSecret: ((signal: AbortSignal) => Promise<void>) | undefined;
  hasEvaluated = true;
  fenced = 0;
  readonly #cronJobId: number;
  readonly #test: TestContext;

  private constructor(
    test: TestContext,
    of: { store: Store; clock: FakeClock; time: Clock; epoch: number; cronJobId: number },
  ) {
    this.#test = test;
    this.store = of.store;
    this.clock = of.clock;
    this.time = of.time;
    this.registry = createProcessMetrics({ entryPoint: 'controller', version: 'test', clock: of.time }).registry;
    this.metrics = new DeliveryMetrics(this.registry);
    this.epoch = of.epoch;
    this.#cronJobId = of.cronJobId;
  }

  /** `time`: another clock than that of the test. */
  static async start(test: TestContext, other?: { readonly time: Clock }): Promise<OutboxBench> {
    const clock = new FakeClock();
    const time = other?.time ?? clock;
    const path = join(aTemporaryFolder(test), 'monitor.db');
    const store = openStore({ type: 'sqlite', path }, { clock: time, log: new RecordingLogger() });
    test.after(() => store.close());
    await migrate(store, { version: 'test' });
    const epoch = await takeEpoch(store, 'test');
    const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts: aCronJob(), seenAt: time.now() }));
    return new OutboxBench(test, { store, clock, time, epoch, cronJobId: id });
  }

  /** A channel whose Secret is there. */
  async addChannel(
    type: ChannelType,
    changes: {
      readonly rateLimiting?: ChannelSpec['rateLimiting'];
      readonly receiver?: Receiver;
      /** Of a webhook. */
      readonly sendUpdates?: boolean;
      readonly ends?: Partial<Pick<ChannelSpec, 'sendResolved' | 'sendRecovered'>>;
    } = {},
  ): Promise<BenchChannel> {
    const receiver = changes.receiver ?? (await startReceiver(type));
    this.#test.after(() => receiver.stop());
    const uid = randomUUID();
    const name = `${type}-${uid.slice(0, 8)}`;
    // Each channel has a Secret of its own.
    const target = JSON.parse(
      JSON.stringify(receiver.target).replaceAll('"receiver"', `"${name}"`),
    ) as Receiver['target'];
    const spec: ChannelSpec = {
      ...(target.type === 'webhook'
        ? { ...target, webhook: { ...target.webhook, sendUpdates: changes.sendUpdates === true } }
        : target),
      rateLimiting: changes.rateLimiting ?? { maxAlertsPerHour: 100_000, burstLimit: 10_000 },
      sendResolved: true,
      sendRecovered: false,
      testOnSave: false,
      ...changes.ends,
    };
    const values = receiver.secrets({ namespace: 'monitoring', name: 'receiver' }) ?? new Map();
    this.secrets.set(`monitoring/${name}`, { labels: {}, resourceVersion: '1', values });
    const channel = { ...receiver, uid, name, spec };
    this.channels.set(uid, channel);
    await this.store.fenced(this.epoch, (tx) =>
      projectChannel(
        tx,
        { uid, name, type, generation: 1, spec, ready: true, reason: 'Validated', message: '', secretVersion: '1' },
        this.time.now(),
      ),
    );
    return channel;
  }

  /** An active alert with a message to a channel that is due now. */
  async tell(
    channel: BenchChannel,
    changes: Partial<NewDelivery> & { readonly alert?: Partial<AlertRecord> } = {},
  ): Promise<NewDelivery & { readonly alert: AlertRecord }> {
    const { alert: alertChanges, ...given } = changes;
    const at = this.time.now();
    const severity = given.severity === 'critical' ? 'critical' : 'warning';
    const alert = anAlert(this.#cronJobId, at, { severity, ...alertChanges });
    const message: Message = {
      kind: 'firing',
      data: anAlertMessage({ alert: { id: alert.id, severity, detectedAt: new Date(at).toISOString() } }),
    };
    const delivery = aDelivery(this.store, channel, {
      alertId: alert.id,
      streamId: alert.id,
      severity,
      payload: { message, heading: headingOf(message), place: null },
      ...given,
    });
    await this.store.fenced(this.epoch, async (tx) => {
      await insertAlerts(tx, [alert]);
      await insertDelivery(tx, delivery);
    });
    return { ...delivery, alert };
  }

  /** The test of a channel, as the apiserver asks for it. */
  async ask(channel: BenchChannel): Promise<NewDelivery> {
    const at = this.time.now();
    const data = { cluster: null, channel: channel.name, message: 'This is a test.', links: { channel: null } };
    const message: Message = { kind: 'test', data };
    const delivery = aDelivery(this.store, channel, {
      id: newId(at),
      kind: 'test',
      severity: 'info',
      expiresAt: at + 15_000,
      payload: { message, heading: headingOf(message), place: null },
    });
    await this.store.transaction((tx) => insertDelivery(tx, delivery));
    return delivery;
  }

  /** A dispatcher that leads, grace over; it ends with the test. */
  start(changes: Partial<DispatcherDeps> = {}): { readonly dispatcher: Dispatcher; readonly term: AbortController } {
    const term = new AbortController();
    const dispatcher = createDispatcher({
      store: this.store,
      epoch: this.epoch,
      sender: { pod: 'pod', boot: randomUUID() },
      channels: {
        find: (uid) => {
          const channel = this.channels.get(uid);
          return channel && { name: channel.name, decoded: { spec: channel.spec } };
        },
      },
      cluster: { findSecret: ({ namespace, name }, signal) => this.#findSecret(`${namespace}/${name}`, signal) },
      secretRules: { namespaces: ['monitoring'], labelled: [] },
      sending: {
        addresses: {
          ...createAddressRules({ deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] }),
          takesPages: () => true,
        },
        resolve: async () => ['127.0.0.1'],
        connections: new Connections(),
      },
      metrics: this.metrics,
      settings: {
        globalLimit: { periodMs: 1, burst: 100_000 },
        startedMs: this.time.monotonicMs(),
        startupGraceMs: 0,
        clusterName: 'prod-eu',
        externalUrl: undefined,
        source: 'cronjob-monitor-1f2e3d4c',
      },
      dependents: { any: () => Promise.resolve(true) },
      freeze: createFreeze({ clusterName: 'prod-eu', externalUrl: undefined, findCronJob: () => undefined }),
      rulesOf: () => undefined,
      hasEvaluated: () => this.hasEvaluated,
      onChannelChanged: (uid) => this.changed.push(uid),
      database: { isAway: () => false, whenBack: async () => {} },
      onFenced: () => {
        this.fenced++;
        term.abort(new Error('the term is over'));
      },
      clock: this.time,
      logger: this.logger,
      random: () => 0.5,
      ...changes,
    });
    this.#test.after(async () => {
      term.abort(new Error('the test is over'));
      await dispatcher.stop();
    });
    dispatcher.start(term.signal);
    return { dispatcher, term };
  }

  /** Time passes, a second at a time; what is sent meanwhile arrives, unless its receiver hangs. */
  async pass(ms: number, stepMs = secondMs): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left));
      await this.arrive();
    }
  }

  /** Lets what is claimed be answered and written; what hangs at its receiver is not waited for. */
  async arrive(withinMs = 5_000): Promise<void> {
    const endsAtMs = performance.now() + withinMs;
    for (let quiet = 0; quiet < 6 && performance.now() < endsAtMs;) {
      await wait(1);
      quiet = (await this.#isOnTheWay()) ? 0 : quiet + 1;
    }
  }

  /** Whether a message of the dispatcher is claimed and does not hang. */
  async #isOnTheWay(): Promise<boolean> {
    const claimed = await this.rows(
      "select id, attempts from deliveries where state = 'claimed' and claimed_by like 'pod/%'",
    );
    return claimed.some((row) => {
      const id = this.store.dialect.id16Text(row['id']);
      const arrivals = [...this.channels.values()].flatMap(({ http }) =>
        (http?.arrivals ?? []).filter(({ headers }) => headers['idempotency-key'] === id),
      );
      return !(arrivals.at(-1)?.answered === 'hang' && arrivals.length >= Number(row['attempts']));
    });
  }

  /** Resolves as soon as a request is with the receiver. */
  async arriveAtReceiver(channel: BenchChannel): Promise<void> {
    while (channel.http !== undefined && channel.http.connections === 0) await wait(1);
  }

  rows(sql: string, bindings: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return readRows(this.store, sql, [...bindings]);
  }

  async rowOf({ id }: { readonly id: string }): Promise<Record<string, unknown>> {
    const [row] = await this.rows('select * from deliveries where id = ?', [this.store.dialect.id16(id)]);
    if (row === undefined) throw new Error(`there is no delivery ${id}`);
    return row;
  }

  async stateOf(delivery: { readonly id: string }): Promise<unknown> {
    return (await this.rowOf(delivery))['state'];
  }

  async channelRow({ uid }: BenchChannel): Promise<Record<string, unknown>> {
    const [row] = await this.rows('select * from channels where uid = ?', [this.store.dialect.id16(uid)]);
    return row ?? {};
  }

  /** `action reason` of a message's ledger. */
  async ledgerOf({ id }: { readonly id: string }): Promise<string[]> {
    const found = await this.rows(
      'select action, reason, times from alert_decisions where delivery_id = ? order by id',
      [this.store.dialect.id16(id)],
    );
    return found.map(({ action, reason, times }) =>
      [action, reason, Number(times) > 1 ? `x${Number(times)}` : []].flat().map(String).join(' '),
    );
  }

  /** The lines of a metric, without its name. */
  async series(name: string): Promise<string[]> {
    const text = await this.registry.metrics();
    return text
      .split('\n')
      .filter((line) => line.startsWith(name) && !line.startsWith('#'))
      .map((line) => line.slice(name.length));
  }

  async #findSecret(key: string, signal: AbortSignal): Promise<SecretContent | undefined> {
    await this.beforeSecret?.(signal);
    return this.secrets.get(key);
  }
}

export function apiServerAway(): ClusterError {
  return new ClusterError('unreachable', { verb: 'get', resource: 'secrets', message: 'no connection' });
}

/** Rules of a monitor that hold nothing back. */
export const monitorRules = alertRulesTo([], { suppressDuplicatesForMs: 0, remindEveryMs: 0 });
