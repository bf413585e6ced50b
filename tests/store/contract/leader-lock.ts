import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import {
  beat,
  beatAsLeader,
  canExclude,
  findLastBeatOfOthers,
  findLeaderBeat,
  openLockSession,
  takeEpoch,
  type Heartbeat,
  type LockSession,
  type Store,
} from '@cronjob-monitor/shared/store';
import { now } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const servers = { only: ['postgres', 'mysql'] } as const;

export const leaderLock = contract('the lock of the leader', (test) => {
  const openTwo = async ({ store, open }: { store: Store; open: () => Store }): Promise<[LockSession, LockSession]> => [
    await openLockSession(store, { leaseMs: 15_000 }),
    await openLockSession(open(), { leaseMs: 15_000 }),
  ];

  test('keeps a second session out, and passes on as soon as the first one ends', servers, async (bench) => {
    const [first, second] = await openTwo(bench);
    try {
      assert.equal(await first.waitForLock(), true);
      assert.equal(await second.waitForLock(), false, 'the wait is over before a statement may not last any longer');
      const waiting = second.waitForLock();
      await wait(200);
      const endedMs = performance.now();
      await first.close();
      assert.equal(await waiting, true);
      assert.ok(performance.now() - endedMs < 2_000);
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });

  test('is given back by a session that goes on, however often it took it', servers, async (bench) => {
    const [first, second] = await openTwo(bench);
    try {
      assert.equal(await first.waitForLock(), true);
      await first.ping();
      await first.unlock();
      assert.equal(await second.waitForLock(), true);
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });

  test('ends with a session that the server ended, which its next question tells', servers, async (bench) => {
    const [first, second] = await openTwo(bench);
    try {
      assert.equal(await first.waitForLock(), true);
      await endOtherSessions(bench.store);
      await assert.rejects(first.ping(), { code: 'unavailable' });
      await second.close();
      const third = await openLockSession(bench.store, { leaseMs: 15_000 });
      assert.equal(await third.waitForLock(), true);
      await third.close();
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });

  test('a session that waits can be closed at once', servers, async (bench) => {
    const [first, second] = await openTwo(bench);
    assert.equal(await first.waitForLock(), true);
    const waiting = second.waitForLock().then(
      () => 'answered',
      () => 'ended',
    );
    await wait(100);
    await second.close();
    assert.equal(await waiting, 'ended');
    await first.close();
  });

  test('is known to keep sessions out where a server has it, also while one holds it', async ({ store }) => {
    if (store.dialect.leaderLock === undefined) return assert.equal(await canExclude(store), false);
    const session = await openLockSession(store, { leaseMs: 15_000 });
    await session.waitForLock();
    assert.equal(await canExclude(store), true);
    await session.close();
  });

  test('is known to exclude no session where a session takes what another one has', servers, async ({ open }) => {
    const store = open();
    const { leaderLock: rules } = store.dialect;
    assert.ok(rules);
    // As a proxy does that gives both the same session of the server, or a database that only pretends.
    const dialect = { ...store.dialect, leaderLock: { ...rules, tryLock: async () => true } };
    assert.equal(await canExclude({ ...store, dialect }), false);
    const elsewhere = { ...store.dialect, leaderLock: { ...rules, isOfOneServer: async () => false } };
    assert.equal(await canExclude({ ...store, dialect: elsewhere }), false);
  });
});

/** All sessions of the account but those of the question. */
async function endOtherSessions(store: Store): Promise<void> {
  if (store.dialect.name === 'postgres') {
    await readRows(
      store,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    return;
  }
  const ids = await readRows(
    store,
    'select id from information_schema.processlist where db = database() and id <> connection_id()',
  );
  for (const { id } of ids) await store.sql.raw(`kill ${Number(id)}`).catch(() => {}); // it went by itself
}

export const leaderBeats = contract('the beat of a leader', (test) => {
  const heartbeat = (holder: string, epoch: number, figures = {}): Heartbeat => ({
    holder,
    version: 'v0.1.0',
    leading: true,
    epoch,
    startedAt: now,
    beatAt: now,
    schedulers: [],
    evaluatedAt: undefined,
    figures,
  });

  test('is that of the one that took the epoch last, once it says that it leads', async ({ store }) => {
    const epoch = await takeEpoch(store, 'first');
    assert.equal(await findLeaderBeat(store), undefined);
    await beat(store, heartbeat('first', epoch, { beatEveryMs: 1_000, clusterUid: 'eu' }));
    assert.deepEqual(await findLeaderBeat(store), { holder: 'first', beatAt: now, isSteady: true, clusterUid: 'eu' });
    await store.fenced(epoch, (tx) => beatAsLeader(tx, 'first'));
    const beaten = await findLeaderBeat(store);
    assert.ok(beaten && Math.abs(beaten.beatAt - store.now()) < 10_000 && beaten.isSteady);
    await takeEpoch(store, 'second');
    assert.equal(await findLeaderBeat(store), undefined);
    assert.equal(await findLastBeatOfOthers(store, 'second'), beaten.beatAt);
    assert.equal(await findLastBeatOfOthers(store, 'first'), undefined);
  });

  test('of a release that writes none each second says so', async ({ store }) => {
    await beat(store, heartbeat('old', await takeEpoch(store, 'old')));
    assert.equal((await findLeaderBeat(store))?.isSteady, false);
  });

  test('is written by the leader alone', async ({ store }) => {
    const epoch = await takeEpoch(store, 'a');
    await beat(store, heartbeat('a', epoch));
    await takeEpoch(store, 'b');
    await assert.rejects(
      store.fenced(epoch, (tx) => beatAsLeader(tx, 'a')),
      { code: 'fenced' },
    );
  });
});
