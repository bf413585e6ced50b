import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { FakeClock, RecordingLogger, settle } from '@cronjob-monitor/shared/testing';

import { LeaseServer } from '../testing/lease-server.ts';
import { giveUpWithoutDatabase } from './database-outage.ts';
import { LeaseElection } from './lease.ts';
import { type Term, Terms, type TermsDeps } from './term.ts';

interface SetUp extends Partial<TermsDeps> {
  readonly withoutLease?: boolean;
}

function setUp(t: TestContext, options: SetUp = {}) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const server = new LeaseServer();
  const order: string[] = [];
  const exits: { readonly code: number; readonly atMs: number }[] = [];
  let term: Term | undefined;
  const election = new LeaseElection({
    cluster: server,
    clock,
    logger,
    key: { namespace: 'monitoring', name: 'cronjob-monitor-controller' },
    identity: 'pod-a_1',
    timing: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 },
    random: () => 0,
  });
  const terms = new Terms({
    election: options.withoutLease ? undefined : election,
    clock,
    logger,
    random: () => 0,
    prepare: async () => void order.push(`prepare, the Lease is held by ${server.lease?.holder ?? '(free)'}`),
    takeEpoch: async () => {
      order.push('epoch');
      return 8;
    },
    startWork: async (started) => {
      term = started;
      order.push(`work with epoch ${started.epoch}`);
      return async () => void order.push(`work ended, ${server.lease?.holder} holds the Lease`);
    },
    exit: (code) => exits.push({ code, atMs: clock.monotonicMs() }),
    ...options,
  });
  t.after(async () => {
    const stopped = terms.stop();
    await clock.advance(60_000);
    await stopped;
  });
  const getTerm = () => {
    assert.ok(term, 'the work has begun');
    return term;
  };
  return { clock, logger, server, election, terms, order, exits, getTerm };
}

test('first the Lease, then the schema, then the epoch, then work', async (t) => {
  const { clock, terms, order, exits } = setUp(t);
  assert.equal(terms.isLeading, false);
  const started = terms.start();
  await clock.advance(0);
  await started;
  assert.deepEqual(order, ['prepare, the Lease is held by pod-a_1', 'epoch', 'work with epoch 8']);
  assert.equal(terms.isLeading, true);
  assert.equal(terms.epoch, 8);
  await clock.advance(60_000);
  assert.deepEqual(exits, []);
});

test('a follower does nothing of all that while another holds the Lease', async (t) => {
  const { clock, server, terms, order } = setUp(t);
  const renewing = async () => {
    for (let n = 0; n < 10; n += 1) {
      server.write({ holder: 'other', renewTime: `2026-11-21T07:53:0${n}.000000Z` });
      await clock.advance(5_000);
    }
  };
  void terms.start();
  await renewing();
  assert.deepEqual(order, []);
  await clock.advance(20_000);
  assert.equal(terms.isLeading, true, 'until the other is gone');
});

test('without election the epoch is taken all the same', async (t) => {
  const { server, terms, order } = setUp(t, { withoutLease: true });
  await terms.start();
  assert.deepEqual(order, ['prepare, the Lease is held by (free)', 'epoch', 'work with epoch 8']);
  assert.deepEqual(server.calls, []);
});

test('a database that is away at the start is waited for, with the Lease renewed meanwhile, and told once', async (t) => {
  let failures = 20;
  const { clock, server, terms, logger, exits } = setUp(t, {
    prepare: async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('the database does not answer');
    },
  });
  void terms.start();
  await clock.advance(5_000);
  assert.equal(terms.isLeading, false);
  assert.equal(server.lease?.holder, 'pod-a_1');
  await clock.advance(600_000);
  assert.equal(terms.isLeading, true);
  assert.deepEqual(exits, []);
  assert.equal(logger.lines.filter(({ level }) => level === 'error').length, 1);
});

test('what cannot get better by waiting ends the process', async (t) => {
  const tooNew = new Error('the schema is newer than this program');
  const { clock, terms, exits, logger } = setUp(t, {
    prepare: async () => Promise.reject(tooNew),
    isHopeless: (error) => error === tooNew,
  });
  void terms.start();
  await clock.advance(1_000);
  assert.deepEqual(
    exits.map(({ code }) => code),
    [1],
  );
  assert.match(String(logger.lines.at(-1)?.fields['why']), /newer than this program/);
});

test('a Lease that is not renewed in time aborts all work by one signal, and ends the process within a second', async (t) => {
  const { clock, server, terms, exits, getTerm } = setUp(t);
  void terms.start();
  await clock.advance(0);
  server.fault = 'hang';
  await clock.advance(9_999);
  assert.equal(getTerm().signal.aborted, false);
  await clock.advance(1);
  await settle();
  const lostAtMs = clock.monotonicMs();
  assert.equal(getTerm().signal.aborted, true);
  assert.equal(terms.isLeading, false);
  await clock.advance(5_000);
  assert.equal(exits.length, 1);
  assert.equal(exits[0]?.code, 1);
  assert.ok((exits[0]?.atMs ?? Infinity) - lostAtMs <= 1_000);
});

test('a Lease that another holds ends the process, and is left to the other', async (t) => {
  const { clock, server, terms, exits } = setUp(t);
  void terms.start();
  await clock.advance(0);
  server.write({ holder: 'other' });
  await clock.advance(3_000);
  assert.equal(exits[0]?.code, 1);
  assert.equal(server.lease?.holder, 'other');
});

test('a fenced transaction ends the term and the process, once, however many hear of it', async (t) => {
  const { clock, terms, exits, getTerm, logger } = setUp(t);
  void terms.start();
  await clock.advance(0);
  for (let n = 0; n < 5; n += 1) getTerm().lose('another replica has a higher epoch');
  assert.equal(getTerm().signal.aborted, true);
  await clock.advance(1_000);
  assert.deepEqual(
    exits.map(({ code }) => code),
    [1],
  );
  assert.equal(logger.lines.filter(({ level }) => level === 'error').length, 1);
});

test('work that cannot begin ends the process', async (t) => {
  const { clock, terms, exits } = setUp(t, { startWork: async () => Promise.reject(new Error('no')) });
  void terms.start();
  await clock.advance(1_000);
  assert.deepEqual(
    exits.map(({ code }) => code),
    [1],
  );
});

test('stopping ends the work first, renewed meanwhile, and then gives the Lease back', async (t) => {
  let endWork = () => {};
  const { clock, server, terms, exits, getTerm } = setUp(t, {
    startWork: async () => () => new Promise<void>((resolve) => (endWork = resolve)),
  });
  void terms.start();
  await clock.advance(0);
  const stopped = terms.stop();
  await clock.advance(20_000);
  const renewals = server.calls.length;
  assert.ok(renewals >= 10, 'a stopping leader is still the leader');
  assert.equal(server.lease?.holder, 'pod-a_1');
  endWork();
  await clock.advance(0);
  await stopped;
  assert.equal(server.lease?.holder, '');
  await clock.advance(60_000);
  assert.equal(server.calls.length, renewals + 1);
  assert.deepEqual(exits, []);
  assert.equal(terms.isLeading, false);
  assert.throws(getTerm);
});

test('stopping while still a candidate, or while the database is away, ends at once and frees the Lease', async (t) => {
  const candidate = setUp(t);
  candidate.server.write({ holder: 'other' });
  void candidate.terms.start();
  await candidate.clock.advance(1_000);
  await candidate.terms.stop();
  assert.equal(candidate.server.lease?.holder, 'other');

  const waiting = setUp(t, { takeEpoch: async () => Promise.reject(new Error('away')) });
  void waiting.terms.start();
  await waiting.clock.advance(1_000);
  await waiting.terms.stop();
  assert.equal(waiting.server.lease?.holder, '');
  assert.deepEqual(waiting.order, ['prepare, the Lease is held by pod-a_1']);
});

test('an epoch that is taken while the process stops begins no work', async (t) => {
  let taken = (_epoch: number) => {};
  const { clock, server, terms, order } = setUp(t, { takeEpoch: () => new Promise((resolve) => (taken = resolve)) });
  void terms.start();
  await clock.advance(0);
  const stopped = terms.stop();
  taken(8);
  await clock.advance(0);
  await stopped;
  assert.deepEqual(order, ['prepare, the Lease is held by pod-a_1']);
  assert.equal(server.lease?.holder, '');
});

function anOutage(t: TestContext, hasReadyPeer: () => Promise<boolean>) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const stop = new AbortController();
  const state = { awayForMs: 0, asked: [] as number[], resigned: [] as number[] };
  const startedAtMs = clock.monotonicMs();
  const watching = giveUpWithoutDatabase(
    {
      clock,
      logger,
      awayForMs: () => state.awayForMs,
      hasReadyPeer: () => {
        state.asked.push(clock.monotonicMs() - startedAtMs);
        return hasReadyPeer();
      },
      resign: async () => void state.resigned.push(clock.monotonicMs() - startedAtMs),
    },
    stop.signal,
  );
  t.after(async () => {
    stop.abort();
    await watching;
    assert.equal(clock.sleepers, 0);
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000);
      state.awayForMs += 1_000;
    }
  };
  return { clock, logger, state, pass };
}

test('a database that is away and a healthy peer: the leader gives up while there is time left of the minute', async (t) => {
  const { state, pass } = anOutage(t, async () => true);
  await pass(44_000);
  assert.deepEqual(state.asked, []);
  await pass(3_000);
  assert.equal(state.resigned.length, 1);
  assert.ok((state.resigned[0] ?? 0) <= 47_000);
});

test('without a peer, or while it is not known, the leader stays, and asks every 30 s', async (t) => {
  for (const answer of [async () => false, async () => Promise.reject(new Error('forbidden'))]) {
    const { state, pass } = anOutage(t, answer);
    await pass(160_000);
    assert.deepEqual(state.resigned, []);
    const waits = state.asked.slice(1).map((at, n) => at - (state.asked[n] ?? 0));
    assert.ok(waits.length >= 2 && waits.every((wait) => wait >= 30_000), String(state.asked));
  }
});

test('a leader that resigns gives the Lease back and ends the process with code 1', async (t) => {
  const { clock, server, terms, exits, getTerm } = setUp(t);
  void terms.start();
  await clock.advance(0);
  const resigned = terms.resign('the database is away');
  await clock.advance(1_000);
  await resigned;
  assert.equal(server.lease?.holder, '');
  assert.equal(getTerm().signal.aborted, true);
  assert.deepEqual(
    exits.map(({ code }) => code),
    [1],
  );
});
