import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import {
  beat,
  FencedError,
  findLiveLeader,
  forgetHeartbeats,
  getLeader,
  listHeartbeats,
  putClusterState,
  findClusterState,
  takeEpoch,
  type Heartbeat,
} from '@cronjob-monitor/shared/store';
import { now } from '../facts.ts';
import { contract, shortLimits } from '../suite.ts';

export const leader = contract('the epoch', (test) => {
  test('rises by one with each leader and names its holder', async ({ store }) => {
    const before = await getLeader(store);
    assert.equal(await takeEpoch(store, 'pod-a_x1'), before.epoch + 1);
    assert.equal(await takeEpoch(store, 'pod-b_x2'), before.epoch + 2);
    const leader = await getLeader(store);
    assert.equal(leader.epoch, before.epoch + 2);
    assert.equal(leader.holder, 'pod-b_x2');
    assert.ok(Math.abs((leader.sinceAt ?? 0) - store.now()) < 10_000);
  });

  test('lets its holder write, and no other', async ({ store }) => {
    const old = await takeEpoch(store, 'old');
    await store.fenced(old, (tx) => putClusterState(tx, 'startSkew', { by: 'old' }));
    const present = await takeEpoch(store, 'present');
    await assert.rejects(
      store.fenced(old, (tx) => putClusterState(tx, 'startSkew', { by: 'old again' })),
      (error) => error instanceof FencedError && error.code === 'fenced' && error.epoch === old,
    );
    await store.fenced(present, (tx) => putClusterState(tx, 'startSkew', { by: 'present' }));
    assert.deepEqual(await findClusterState(store, 'startSkew'), { by: 'present' });
  });

  test('is not raised while a transaction of the old leader is open, and that one is ordered before', async ({
    store,
    open,
  }) => {
    if (store.dialect.name === 'sqlite') return; // One writer: the same is shown below for two stores on one file.
    const old = await takeEpoch(store, 'old');
    const successor = open();
    const order: string[] = [];
    let taking: Promise<void> | undefined;
    await store.fenced(old, async (tx) => {
      taking = takeEpoch(successor, 'new').then(() => {
        order.push('raised');
      });
      await wait(300);
      await putClusterState(tx, 'startSkew', 1);
      order.push('written');
    });
    await taking;
    assert.deepEqual(order, ['written', 'raised']);
    await assert.rejects(
      store.fenced(old, (tx) => putClusterState(tx, 'startSkew', 2)),
      { code: 'fenced' },
    );
    assert.equal(await findClusterState(store, 'startSkew'), 1);
  });

  test(
    'waits no longer than the database lets a frozen leader stand idle',
    { only: ['postgres', 'mysql'] },
    async ({ open }) => {
      const [store, successor] = [open(shortLimits), open(shortLimits)];
      const old = await takeEpoch(store, 'frozen');
      let raised: number | undefined;
      const frozen = store.fenced(old, async (tx) => {
        // As a process that is stopped: the transaction stands open, and nothing is said for longer than the server waits.
        raised = await takeEpoch(successor, 'successor');
        await putClusterState(tx, 'startSkew', 'from the grave');
      });
      await assert.rejects(frozen, (error: unknown) => (error as { code?: string }).code !== undefined);
      assert.equal(raised, old + 1);
      assert.notEqual(await findClusterState(store, 'startSkew'), 'from the grave');
    },
  );
});

export const heartbeats = contract('heartbeats', (test) => {
  const beatOf = (holder: string, changes: Partial<Heartbeat> = {}): Heartbeat => ({
    holder,
    version: 'v0.1.0',
    leading: false,
    epoch: undefined,
    startedAt: now - 60_000,
    beatAt: now,
    schedulers: [],
    evaluatedAt: undefined,
    figures: {},
    ...changes,
  });

  test('are one row a replica, the newest first', async ({ store }) => {
    const full = beatOf('pod-a_1', {
      leading: true,
      epoch: 7,
      beatAt: now + 5,
      schedulers: ['prune', 'dead-man-switch'],
      evaluatedAt: now - 1,
      figures: { loopP99Ms: 12.5, watchAgesMs: { Job: 900 } },
    });
    await beat(store, beatOf('pod-a_1'));
    await beat(store, beatOf('pod-b_2'));
    await beat(store, full);
    assert.deepEqual(await listHeartbeats(store), [full, beatOf('pod-b_2')]);
  });

  test('tell who leads for one lease time after the last beat', async ({ store }) => {
    assert.equal((await findLiveLeader(store, now + 1_000, 15_000))?.holder, 'pod-a_1');
    assert.equal((await findLiveLeader(store, now + 15_005, 15_000))?.holder, 'pod-a_1');
    assert.equal(await findLiveLeader(store, now + 15_006, 15_000), undefined);
  });

  test('of two that say they lead believe the later epoch', async ({ store }) => {
    await beat(store, beatOf('pod-b_2', { leading: true, epoch: 8, beatAt: now }));
    assert.equal((await findLiveLeader(store, now, 15_000))?.holder, 'pod-b_2');
    await beat(store, beatOf('pod-b_2', { leading: false, beatAt: now + 9 }));
    assert.equal((await findLiveLeader(store, now, 15_000))?.holder, 'pod-a_1');
  });

  test('are forgotten by age', async ({ store }) => {
    assert.equal(await forgetHeartbeats(store, now + 6), 1);
    assert.deepEqual(
      (await listHeartbeats(store)).map(({ holder }) => holder),
      ['pod-b_2'],
    );
  });
});
