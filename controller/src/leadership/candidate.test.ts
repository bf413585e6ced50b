import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { LeaseServer } from '../testing/lease-server.ts';
import { becomeLeader } from './candidate.ts';
import { LeaderLock } from './leader-lock.ts';
import { LeaseElection } from './lease.ts';

/** A lock as a database server has it: one session holds it, others wait for at most 4 s. */
class LockServer {
  holder: object | undefined;
  excludes = true;
  isAway = false;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  open = async () => {
    this.#refuse();
    const session = { isOpen: true };
    return {
      waitForLock: async () => {
        for (let waitedMs = 0; waitedMs < 4_000 && session.isOpen; waitedMs += 100) {
          this.#refuse();
          this.holder ??= session;
          if (this.holder === session) return true;
          await this.#clock.sleep(100);
        }
        if (!session.isOpen) throw new Error('the session has ended');
        return false;
      },
      ping: async () => {
        this.#refuse();
        if (!session.isOpen || this.holder !== session) throw new Error('the session has ended');
      },
      unlock: async () => this.#free(session),
      close: async () => {
        session.isOpen = false;
        this.#free(session);
      },
    };
  };

  canExclude = async () => {
    this.#refuse();
    return this.excludes;
  };

  #refuse(): void {
    if (this.isAway) throw new Error('the database does not answer');
  }

  #free(session: object): void {
    if (this.holder === session) this.holder = undefined;
  }
}

const leader = 'pod-a_1';

function setUp(t: TestContext) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const server = new LeaseServer();
  const locks = new LockServer(clock);
  const stop = new AbortController();
  const state = { beatAt: 1, isSteady: true, beatHolder: leader, tookAtMs: undefined as number | undefined };
  const election = new LeaseElection({
    cluster: server,
    key: { namespace: 'monitoring', name: 'lease' },
    identity: 'pod-b_2',
    timing: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 },
    random: () => 0,
    clock,
    logger,
  });
  const lock = new LeaderLock({ open: locks.open, canExclude: locks.canExclude, clock, logger });
  const readBeat = async () => {
    if (locks.isAway) throw new Error('the database does not answer');
    return { holder: state.beatHolder, beatAt: state.beatAt, isSteady: state.isSteady, clusterUid: undefined };
  };
  let renewals = 0;
  const alive = new AbortController();
  server.write({ holder: leader, renewTime: '2026-11-21T07:53:00.000000Z' });
  /** The leader, as far as it can be seen: it renews every 2 s and beats each second. */
  const signs = { renews: true, beats: true };
  clock.every(
    2_000,
    () => {
      if (signs.renews && !server.fault && server.lease?.holder === leader)
        server.write({ renewTime: `2026-11-21T07:53:00.${String(++renewals).padStart(6, '0')}Z` });
    },
    alive.signal,
  );
  clock.every(1_000, () => void (state.beatAt += Number(signs.beats)), alive.signal);
  const begunMs = clock.monotonicMs();
  const begin = async () => {
    void becomeLeader({ election, lock, readBeat, retryMs: 2_000, clock, logger }, stop.signal).then((isOurs) => {
      if (isOurs) state.tookAtMs = clock.monotonicMs() - begunMs;
    });
    await clock.advance(0);
  };
  t.after(async () => {
    stop.abort();
    alive.abort();
    const stopped = lock.stop();
    await clock.advance(5_000);
    await stopped;
    await settle();
    assert.equal(clock.sleepers, 0);
  });
  return { clock, logger, server, locks, state, signs, begin, lock };
}

/** The lock of a leader that lives. */
const sessionOfLeader = {};

test('a leader that died is replaced as soon as both witnesses were silent for 2.5 s, long before its Lease expires', async (t) => {
  const { clock, locks, state, signs, server, begin, logger } = setUp(t);
  locks.holder = sessionOfLeader;
  await begin();
  await clock.advance(9_900);
  signs.renews = signs.beats = false;
  locks.holder = undefined; // its socket is closed
  await clock.advance(3_200);
  assert.equal(server.lease?.holder, 'pod-b_2');
  assert.ok((state.tookAtMs ?? Infinity) >= 9_900 + 2_500, String(state.tookAtMs));
  assert.ok(
    logger.lines.some(({ message }) => message.includes('its Lease is taken')),
    JSON.stringify(logger.lines),
  );
});

for (const [title, keep] of [
  ['renews', { renews: true, beats: false }],
  ['beats', { renews: false, beats: true }],
] as const) {
  test(`a leader whose session was cut and that ${title} keeps its lead, and gets its lock back`, async (t) => {
    const { clock, locks, state, signs, begin } = setUp(t);
    await begin(); // the lock is free: the candidate has it at once
    Object.assign(signs, keep);
    for (let waitedMs = 0; locks.holder !== undefined; waitedMs += 100) {
      assert.ok(waitedMs < 2_500, 'it is given back');
      await clock.advance(100);
    }
    locks.holder = sessionOfLeader;
    await clock.advance(10_000);
    assert.equal(state.tookAtMs, undefined);
    assert.equal(locks.holder, sessionOfLeader);
  });
}

test('a paused leader keeps its lock, and its lead until the Lease expires', async (t) => {
  const { clock, locks, state, signs, begin } = setUp(t);
  locks.holder = sessionOfLeader;
  await begin();
  await clock.advance(2_000);
  signs.renews = signs.beats = false;
  await clock.advance(14_500);
  assert.equal(state.tookAtMs, undefined);
  await clock.advance(3_000);
  assert.notEqual(state.tookAtMs, undefined, 'an expired Lease needs no lock');
  assert.equal(locks.holder, sessionOfLeader);
});

test('while the API server is away no leader is replaced, with the lock or without', async (t) => {
  const { clock, state, signs, server, begin } = setUp(t);
  await begin();
  server.fault = 'unreachable';
  signs.renews = signs.beats = false;
  await clock.advance(8_000);
  assert.equal(state.tookAtMs, undefined);
});

test('a Lease that is given back is taken in the moment in which the lock comes', async (t) => {
  const { clock, locks, state, server, begin } = setUp(t);
  locks.holder = sessionOfLeader;
  await begin();
  await clock.advance(3_150);
  server.write({ holder: '' });
  locks.holder = undefined;
  await clock.advance(100);
  assert.ok((state.tookAtMs ?? Infinity) <= 3_250, String(state.tookAtMs));
});

for (const [title, change] of [
  ['of a release that does not beat each second', { isSteady: false }],
  ['that has not taken the epoch yet', { beatHolder: 'pod-z_9' }],
] as const) {
  test(`a silent holder ${title} is replaced when its Lease expires, not before`, async (t) => {
    const { clock, state, signs, begin } = setUp(t);
    Object.assign(state, change);
    await begin();
    signs.renews = signs.beats = false;
    await clock.advance(14_500);
    assert.equal(state.tookAtMs, undefined);
    await clock.advance(4_000);
    assert.notEqual(state.tookAtMs, undefined);
  });
}

test('where the lock excludes no session, the Lease alone decides, and the log says so', async (t) => {
  const { clock, locks, state, signs, begin, logger } = setUp(t);
  locks.excludes = false;
  await begin();
  signs.renews = signs.beats = false;
  await clock.advance(14_000);
  assert.equal(state.tookAtMs, undefined);
  await clock.advance(3_000);
  assert.notEqual(state.tookAtMs, undefined);
  assert.equal(logger.lines.filter(({ message }) => message.includes('the Lease alone decides')).length, 1);
});

test('a candidate waits for a database that is away, and tells it once', async (t) => {
  const { clock, locks, state, server, begin, logger } = setUp(t);
  locks.isAway = true;
  server.write({ holder: '' });
  await begin();
  await clock.advance(30_000);
  assert.equal(state.tookAtMs, undefined);
  assert.equal(logger.lines.filter(({ level }) => level === 'warn').length, 1);
  locks.isAway = false;
  await clock.advance(2_000);
  assert.notEqual(state.tookAtMs, undefined);
});
