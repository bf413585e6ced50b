import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { LeaseServer } from '../testing/lease-server.ts';
import { type HoldEnd, LeaseElection, checkTiming, type LeaseTiming, toIdentity } from './lease.ts';

const standard: LeaseTiming = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

interface SetUp {
  readonly clock?: FakeClock;
  readonly server?: LeaseServer;
  readonly identity?: string;
  readonly timing?: LeaseTiming;
  readonly random?: number;
}

function setUp(t: TestContext, options: SetUp = {}) {
  const clock = options.clock ?? new FakeClock();
  const server = options.server ?? new LeaseServer();
  const logger = new RecordingLogger();
  /** The way from this replica to the server. */
  const link = { isCut: false };
  const over = <T>(call: () => Promise<T>) => (link.isCut ? Promise.reject(new Error('no route')) : call());
  const election = new LeaseElection({
    cluster: {
      findLease: () => over(() => server.findLease()),
      createLease: (key, lease) => over(() => server.createLease(key, lease)),
      replaceLease: (key, lease) => over(() => server.replaceLease(key, lease)),
    },
    clock,
    logger,
    key: { namespace: 'monitoring', name: 'cronjob-monitor-controller' },
    identity: options.identity ?? 'pod-a_1',
    timing: options.timing ?? standard,
    random: () => options.random ?? 0,
  });
  const stop = new AbortController();
  t.after(async () => {
    stop.abort();
    await settle();
  });
  /** Acquires, then holds: `ended` is how. */
  const lead = async () => {
    const acquired = election.acquire(stop.signal);
    await clock.advance(0);
    assert.equal(await acquired, true);
    let ended: HoldEnd | undefined;
    const holding = election.hold(stop.signal).then((how) => (ended = how));
    await clock.advance(0);
    return { ended: () => ended, holding };
  };
  return { clock, server, link, logger, election, stop, lead };
}

test('times with which two could lead are refused', () => {
  for (const wrong of [
    { ...standard, leaseMs: 10_000 },
    { ...standard, retryMs: 8_400 },
    { ...standard, renewDeadlineMs: 2_400 },
    { leaseMs: 999, renewDeadlineMs: 500, retryMs: 100 },
    { ...standard, leaseMs: Number.NaN },
    { ...standard, retryMs: 0 },
  ]) {
    assert.throws(() => checkTiming(wrong), RangeError, JSON.stringify(wrong));
  }
  checkTiming(standard);
  checkTiming({ leaseMs: 2_000, renewDeadlineMs: 1_500, retryMs: 400 });
});

test('an identity is the name of the pod and something random', () => {
  assert.equal(toIdentity('controller-0', 'x7'), 'controller-0_x7');
});

test('a Lease that does not exist is created, its duration in whole seconds, rounded up', async (t) => {
  const timing = { leaseMs: 1_200, renewDeadlineMs: 1_000, retryMs: 400 };
  const { server, election, lead } = setUp(t, { timing });
  await lead();
  assert.deepEqual(server.calls, ['find', 'create']);
  assert.equal(server.lease?.holder, 'pod-a_1');
  assert.equal(server.lease?.leaseDurationSeconds, 2);
  assert.equal(election.isHeld, true);
});

test('a free Lease is taken at once', async (t) => {
  const { server, lead } = setUp(t);
  server.write({ holder: '', leaseDurationSeconds: 1, transitions: 3 });
  await lead();
  assert.equal(server.lease?.holder, 'pod-a_1');
  assert.equal(server.lease?.transitions, 4);
});

test('a held Lease is taken when its record has not changed for its duration, whatever its times say', async (t) => {
  const { clock, server, election, stop } = setUp(t);
  server.write({ holder: 'other', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' });
  void election.acquire(stop.signal);
  await clock.advance(14_000);
  assert.equal(server.lease?.holder, 'other', 'a renewTime long ago proves nothing');
  clock.stepWall(86_400_000);
  await clock.advance(1_999);
  assert.equal(server.lease?.holder, 'other', 'nor does the clock on the wall');
  await clock.advance(1);
  assert.equal(server.lease?.holder, 'pod-a_1');
});

test('a renewal by the holder begins its time anew; a change of anything else does not', async (t) => {
  const { clock, server, election, stop } = setUp(t);
  server.write({ holder: 'other', renewTime: '2026-11-21T07:53:00.000000Z' });
  void election.acquire(stop.signal);
  await clock.advance(10_000);
  server.write({ renewTime: '2026-11-21T07:53:10.000000Z' });
  await clock.advance(16_000);
  assert.equal(server.lease?.holder, 'other');
  server.write({});
  await clock.advance(2_000);
  assert.equal(server.lease?.holder, 'pod-a_1', 'a new version of the same record shows no life');
});

test('the duration that the holder promised counts, not our own', async (t) => {
  const { clock, server, election, stop } = setUp(t);
  server.write({ holder: 'other', leaseDurationSeconds: 60 });
  void election.acquire(stop.signal);
  await clock.advance(59_000);
  assert.equal(server.lease?.holder, 'other');
  await clock.advance(2_000);
  assert.equal(server.lease?.holder, 'pod-a_1');
});

test('acquiring is tried every 1 to 2.2 retry periods, and never given up', async (t) => {
  for (const [random, everyMs] of [
    [0, 2_000],
    [0.5, 3_200],
    [0.999999, 4_400],
  ] as const) {
    const { clock, server, election, stop, logger } = setUp(t, { random });
    server.fault = 'unavailable';
    void election.acquire(stop.signal);
    await clock.advance(everyMs * 100 + 1);
    assert.equal(server.calls.length, 101);
    assert.equal(logger.lines.length, 1, 'once per change, not per try');
    server.fault = undefined;
    await clock.advance(everyMs);
    assert.equal(election.isHeld, true);
    assert.equal(logger.lines.length, 2);
  }
});

test('of two candidates that come at the same moment one gets the Lease', async (t) => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = setUp(t, { clock, server, identity: 'a' });
  const b = setUp(t, { clock, server, identity: 'b' });
  server.write({ holder: 'gone', leaseDurationSeconds: 1 });
  void a.election.acquire(a.stop.signal);
  void b.election.acquire(b.stop.signal);
  await clock.advance(10_000);
  assert.deepEqual([a.election.isHeld, b.election.isHeld].filter(Boolean).length, 1);
  assert.equal(server.lease?.holder, a.election.isHeld ? 'a' : 'b');
});

test('a candidate that is stopped ends, without the Lease', async (t) => {
  const { clock, server, election, stop } = setUp(t);
  server.write({ holder: 'other' });
  const acquired = election.acquire(stop.signal);
  await clock.advance(5_000);
  stop.abort();
  assert.equal(await acquired, false);
});

test('a holder renews every retry period, with the version it read last', async (t) => {
  const { clock, server, lead } = setUp(t);
  const { ended } = await lead();
  const first = server.lease;
  await clock.advance(20_000);
  assert.deepEqual(
    server.calls.slice(2),
    Array.from({ length: 10 }, () => 'replace'),
  );
  assert.equal(server.lease?.acquireTime, first?.acquireTime);
  assert.notEqual(server.lease?.renewTime, first?.renewTime);
  assert.equal(server.lease?.transitions, first?.transitions);
  assert.equal(ended(), undefined);
});

test('a renewal that meets another version reads again, and goes on when the holder is still the same', async (t) => {
  const { clock, server, lead } = setUp(t);
  const { ended } = await lead();
  server.write({});
  await clock.advance(2_000);
  assert.deepEqual(server.calls.slice(2), ['replace', 'find', 'replace']);
  await clock.advance(20_000);
  assert.equal(ended(), undefined);
});

test('a renewal that was written although its answer was lost is no loss', async (t) => {
  const { clock, server, lead } = setUp(t);
  const { ended } = await lead();
  server.losesNextAnswer = true;
  await clock.advance(20_000);
  assert.equal(ended(), undefined);
});

test('a Lease that another took is lost at once', async (t) => {
  const { clock, server, election, lead } = setUp(t);
  const { ended } = await lead();
  server.write({ holder: 'other' });
  await clock.advance(2_000);
  assert.equal(ended(), 'taken');
  assert.equal(election.isHeld, false);
  assert.equal(server.lease?.holder, 'other');
});

test('a Lease that was deleted, or emptied, is taken again by its holder', async (t) => {
  const { clock, server, lead } = setUp(t);
  const { ended } = await lead();
  server.write({ holder: '' });
  await clock.advance(2_000);
  assert.equal(server.lease?.holder, 'pod-a_1');
  server.remove();
  await clock.advance(2_000);
  assert.equal(server.lease?.holder, 'pod-a_1');
  assert.equal(ended(), undefined);
});

for (const fault of ['conflict', 'unavailable', 'hang'] as const) {
  for (const timing of [standard, { leaseMs: 2_000, renewDeadlineMs: 1_500, retryMs: 400 }]) {
    test(`${fault} for 80 % of a renew deadline of ${timing.renewDeadlineMs} ms after a renewal costs no leadership`, async (t) => {
      const { clock, server, lead } = setUp(t, { timing });
      const { ended } = await lead();
      for (let round = 0; round < 3; round += 1) {
        const calls = server.calls.length;
        while (server.calls.length === calls) await clock.advance(10);
        server.fault = fault;
        await clock.advance(timing.renewDeadlineMs * 0.8);
        server.fault = undefined;
        await clock.advance(timing.renewDeadlineMs);
        assert.equal(ended(), undefined, `round ${round}`);
      }
    });
  }
}

for (const fault of ['conflict', 'unavailable', 'hang'] as const) {
  test(`${fault} for longer than the renew deadline ends the leadership on the dot`, async (t) => {
    const { clock, server, election, lead } = setUp(t);
    const { ended } = await lead();
    server.fault = fault;
    await clock.advance(9_999);
    assert.equal(ended(), undefined);
    await clock.advance(1);
    assert.equal(ended(), 'deadlinePassed');
    assert.equal(election.isHeld, false);
  });
}

test('a call that hangs is given up after half the deadline, and at least a second, and tried again at once', async (t) => {
  const { clock, server, lead } = setUp(t);
  await lead();
  server.fault = 'hang';
  await clock.advance(6_999);
  assert.equal(server.calls.length, 3);
  server.fault = undefined;
  await clock.advance(1);
  assert.equal(server.calls.length, 4, '2 s after the last renewal, plus 5 s');
});

test('the deadline counts from the sending of the last renewal that succeeded', async (t) => {
  const { clock, server, lead } = setUp(t);
  const { ended } = await lead();
  server.beforeAnswer = () => clock.sleep(1_500);
  await clock.advance(2_000 + 1_500);
  server.fault = 'unavailable';
  await clock.advance(10_000 - 1_500 - 1);
  assert.equal(ended(), undefined);
  await clock.advance(1);
  assert.equal(ended(), 'deadlinePassed');
});

test('a holder stops before another candidate may take over', async (t) => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const old = setUp(t, { clock, server, identity: 'old' });
  const next = setUp(t, { clock, server, identity: 'next' });
  const { ended } = await old.lead();
  void next.election.acquire(next.stop.signal);
  await clock.advance(6_000);
  old.link.isCut = true;
  let oldEndedMs = Infinity;
  let ms = 0;
  for (; ms < 20_000 && !next.election.isHeld; ms += 100) {
    if (ended() && oldEndedMs === Infinity) oldEndedMs = ms;
    await clock.advance(100);
  }
  assert.equal(next.election.isHeld, true);
  assert.ok(ms - oldEndedMs >= 4_000, `the old one ended at ${oldEndedMs} ms, the next one began at ${ms} ms`);
});

test('a release leaves the Lease empty for a second, and the next candidate takes it at its next try', async (t) => {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const a = setUp(t, { clock, server, identity: 'a' });
  const b = setUp(t, { clock, server, identity: 'b', random: 0.999999 });
  const { holding } = await a.lead();
  void b.election.acquire(b.stop.signal);
  await clock.advance(30_000);
  a.stop.abort();
  assert.equal(await holding, 'released');
  assert.equal(server.lease?.holder, 'a', 'who stops renewing still holds it until it releases');
  await a.election.release(new AbortController().signal);
  assert.equal(server.lease?.holder, '');
  assert.equal(server.lease?.leaseDurationSeconds, 1);
  await clock.advance(4_400);
  assert.equal(b.election.isHeld, true);
});

test('a release works also when the last renewal was written unheard', async (t) => {
  const { server, election, stop, lead } = setUp(t);
  const { holding } = await lead();
  server.write({});
  stop.abort();
  await holding;
  await election.release(new AbortController().signal);
  assert.equal(server.lease?.holder, '');
});

test('a release takes at most a second, and never what another holds', async (t) => {
  const { clock, server, election, stop, lead, logger } = setUp(t);
  const { holding } = await lead();
  stop.abort();
  await holding;
  server.fault = 'hang';
  let isOver = false;
  void election.release(new AbortController().signal).then(() => (isOver = true));
  await clock.advance(1_000);
  await settle();
  assert.equal(isOver, true);
  assert.equal(logger.lines.at(-1)?.level, 'warn');

  const other = setUp(t);
  const held = await other.lead();
  other.stop.abort();
  await held.holding;
  other.server.write({ holder: 'other' });
  await other.election.release(new AbortController().signal);
  assert.equal(other.server.lease?.holder, 'other');
});

test('who does not hold the Lease releases nothing', async (t) => {
  const { server, election } = setUp(t);
  server.write({ holder: 'other' });
  await election.release(new AbortController().signal);
  assert.deepEqual(server.calls, []);
});

test('a leader can renew before anything else, after a pause of the machine', async (t) => {
  const { clock, server, election, lead } = setUp(t);
  const { ended } = await lead();
  const calls = server.calls.length;
  const confirmed = election.confirm();
  await clock.advance(0);
  assert.equal(await confirmed, true);
  assert.equal(server.calls.length, calls + 1);

  server.write({ holder: 'other' });
  const lost = election.confirm();
  await clock.advance(0);
  assert.equal(await lost, false);
  assert.equal(ended(), 'taken');
  assert.equal(await election.confirm(), false);
});
