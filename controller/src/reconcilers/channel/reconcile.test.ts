import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { headingOf, type Message } from '@cronjob-monitor/shared/domain';
import { decodeChannelSpec, type ChannelStatus, type SecretContent } from '@cronjob-monitor/shared/kube';
import {
  claimDeliveries,
  findProjectedChannel,
  insertDelivery,
  listChannelHolds,
  newId,
  settleDelivery,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { anAlertMessage, FakeClock, aTestStore } from '@cronjob-monitor/shared/testing';
import type { ChannelSeen } from '../../selection/index.ts';
import { reconcileChannel } from './reconcile.ts';

const never = new AbortController().signal;
const uid = '7c1f3b1e-2d55-4a1b-9a7e-3f0e7f0a9d11';
const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const refused = (
  next: 'park' | 'invalid' | 'retry',
  category: 'unauthorized' | 'secret' | 'serverError',
): Settlement => ({
  kind: 'failed',
  next,
  nextAt: 0,
  error: { category, message: 'It answered 401', httpStatus: 401 },
  maybeSent: false,
});

/** One channel of a cluster, its Secret, and the database behind it. */
class Fixture {
  readonly store: Store;
  readonly epoch: number;
  readonly clock: FakeClock;
  generation = 1;
  isThere = true;
  spec: object = { testOnSave: false };
  secret: SecretContent | undefined = secretOf('1');
  status: ChannelStatus | undefined;

  private constructor(of: { store: Store; epoch: number; clock: FakeClock }) {
    this.store = of.store;
    this.epoch = of.epoch;
    this.clock = of.clock;
  }

  static async start(t: TestContext): Promise<Fixture> {
    const clock = new FakeClock();
    return new Fixture({ ...(await aTestStore(t, { clock })), clock });
  }

  async reconcile(): Promise<ChannelStatus | undefined> {
    const { store, epoch, clock } = this;
    const cluster = {
      findSecret: () => Promise.resolve(this.secret),
      patchChannelStatus: (_name: string, status: ChannelStatus) => {
        this.status = status;
        return Promise.resolve();
      },
    };
    const rules = { namespaces: ['ops'], labelled: [] };
    const channels = { find: () => (this.isThere ? this.#seen() : undefined) };
    const links = { clusterName: 'prod-eu', externalUrl: 'https://monitor.example.org/' };
    const takesPages = ({ host }: URL): boolean => host === 'events.pagerduty.com';
    await reconcileChannel(uid, { channels, store, epoch, cluster, rules, takesPages, clock, links }, never);
    return this.status;
  }

  /** A message that is claimed and settled so. */
  async send(settlement: Settlement): Promise<string> {
    const at = this.clock.now();
    const message: Message = { kind: 'firing', data: anAlertMessage() };
    const id = newId(at);
    await this.store.fenced(this.epoch, async (tx) => {
      await insertDelivery(tx, {
        id,
        streamId: id,
        seq: 1,
        alertId: undefined,
        channel: { uid, name: 'team' },
        kind: 'firing',
        severity: 'warning',
        state: 'ready',
        dedupKey: id,
        notifyNo: 1,
        nextAt: at,
        createdAt: at,
        expiresAt: at + 3_600_000,
        payload: { message, heading: headingOf(message), place: null },
      });
      await claimDeliveries(tx, { ...room, claimedBy: 'pod/boot' });
      await settleDelivery(tx, { deliveryId: id, claimedBy: 'pod/boot', settlement });
    });
    return id;
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return [...this.store.dialect.rowsOf(await this.store.sql.raw(sql))];
  }

  #seen(): ChannelSeen {
    const chat = { webhookSecretRef: { name: 'chat', namespace: 'ops', key: 'url' } };
    return {
      uid,
      namespace: '',
      name: 'team',
      generation: this.generation,
      createdAt: 0,
      resourceVersion: '1',
      decoded: decodeChannelSpec({ spec: { type: 'chat', chat, ...this.spec } }),
      status: this.status,
    };
  }
}

const room = {
  onlyTests: false,
  room: 8,
  roomOn: () => 8,
  fullChannels: [],
  globalLimit: { periodMs: 1, burst: 1_000 },
  limitOf: () => ({ maxPerHour: 1_000, burst: 1_000 }),
};

function secretOf(resourceVersion: string): SecretContent {
  return { labels: {}, resourceVersion, values: new Map([['url', 'https://hooks.example.org/x']]) };
}

function readyOf(status: ChannelStatus | undefined): unknown {
  const condition = status?.conditions.find(({ type }) => type === 'Ready');
  return [status?.ready, condition?.reason];
}

test('the row says since when the channel is as ready as it is', async (t) => {
  const fixture = await Fixture.start(t);
  const changedAt = async (): Promise<unknown> =>
    (await fixture.store.sql('channels').first('ready_changed_at'))?.ready_changed_at;
  await fixture.reconcile();
  const readyAt = Math.floor(fixture.clock.now() / 1000) * 1000;
  assert.equal(await changedAt(), readyAt);
  await fixture.clock.advance(10_000);
  await fixture.reconcile();
  assert.equal(await changedAt(), readyAt);
  fixture.secret = undefined;
  await fixture.reconcile();
  assert.equal(await changedAt(), readyAt + 10_000);
});

test('the status has the figures of the messages, and three failures in a row make it unready', async (t) => {
  const fixture = await Fixture.start(t);
  assert.deepEqual(readyOf(await fixture.reconcile()), [true, 'Validated']);
  await fixture.send(delivered);
  for (let count = 0; count < 3; count++) await fixture.send(refused('retry', 'serverError'));
  const status = await fixture.reconcile();
  assert.deepEqual([status?.alertsSentTotal, status?.alertsFailedTotal, status?.consecutiveFailures], [1, 3, 3]);
  assert.equal(status?.lastFailedError, 'It answered 401');
  assert.ok(status?.lastAlertTime && status.lastFailedTime);
  assert.deepEqual(readyOf(status), [false, 'ConsecutiveFailures']);
});

test('a parked channel says why, and a Secret that changed lets its messages go', async (t) => {
  const fixture = await Fixture.start(t);
  await fixture.reconcile();
  await fixture.send(refused('park', 'unauthorized'));
  assert.deepEqual(readyOf(await fixture.reconcile()), [false, 'Unauthorized']);
  assert.equal((await findProjectedChannel(fixture.store, uid))?.hold, 'parked');
  fixture.secret = secretOf('2');
  assert.deepEqual(readyOf(await fixture.reconcile()), [true, 'Validated']);
  assert.equal((await findProjectedChannel(fixture.store, uid))?.hold, undefined);
  assert.deepEqual(
    (await fixture.rows('select state from deliveries')).map(({ state }) => state),
    ['ready'],
  );
});

test('a channel that cannot even be tried is looked at again at once when its spec changed', async (t) => {
  const fixture = await Fixture.start(t);
  await fixture.reconcile();
  await fixture.send(refused('invalid', 'secret'));
  assert.deepEqual(readyOf(await fixture.reconcile()), [false, 'InvalidSpec']);
  fixture.generation = 2;
  await fixture.reconcile();
  const [held] = await listChannelHolds(fixture.store);
  assert.deepEqual([held?.hold, held?.untilAt], ['invalid', fixture.clock.now()]);
});

test('what a deleted channel had to send is taken back, and the ledger says why', async (t) => {
  const fixture = await Fixture.start(t);
  await fixture.reconcile();
  await fixture.send(refused('park', 'unauthorized'));
  fixture.isThere = false;
  await fixture.reconcile();
  assert.deepEqual(
    (await fixture.rows('select state from deliveries')).map(({ state }) => state),
    ['cancelled'],
  );
  const [last] = await fixture.rows('select action, reason from alert_decisions order by id desc limit 1');
  assert.deepEqual({ ...last }, { action: 'cancelled', reason: 'channelDeleted' });
});

test('a channel that asks for it is tested once for each generation, when its Secret is there', async (t) => {
  const fixture = await Fixture.start(t);
  fixture.spec = { testOnSave: true };
  const secret = fixture.secret;
  fixture.secret = undefined;
  const tests = async () => (await fixture.rows("select id from deliveries where kind = 'test'")).length;
  await fixture.reconcile();
  assert.equal(await tests(), 0);
  fixture.secret = secret;
  await fixture.reconcile();
  await fixture.reconcile();
  assert.equal(await tests(), 1);
  fixture.generation = 2;
  await fixture.reconcile();
  assert.equal(await tests(), 2);
});
