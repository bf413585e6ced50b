import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FakeClock } from '@cronjob-monitor/shared/testing';

import { Snapshots } from './snapshots.ts';

interface Job {
  readonly uid: string;
  readonly step: number;
  readonly outcome?: 'success';
}

/** A rule as simple as can be: what has ended is not replaced by what has not. */
const next = (known: Job | undefined, arrived: Job): Job => (known?.outcome && !arrived.outcome ? known : arrived);

function setUp(bound?: number) {
  const clock = new FakeClock();
  const counts = { dropped: 0 };
  const snapshots = new Snapshots<Job>({
    clock,
    uidOf: (job) => job.uid,
    next,
    isEnded: (job) => job.outcome !== undefined,
    groupOf: (job) => job.uid.slice(0, 1),
    onDropped: () => (counts.dropped += 1),
    ...(bound === undefined ? {} : { bound }),
  });
  const running = (step: number, uid = 'j') => snapshots.put({ uid, step });
  const ended = (step: number, uid = 'j') => snapshots.put({ uid, step, outcome: 'success' });
  const seen = (uid = 'j') => {
    const found = snapshots.find(uid);
    return found && `${found.state.step}${found.state.outcome ?? ''}`;
  };
  return { clock, counts, snapshots, running, ended, seen };
}

test('what arrives is weighed against what is known by the rule of its kind', () => {
  const { running, ended, seen } = setUp();
  running(1);
  running(2);
  assert.equal(seen(), '2');
  ended(3);
  assert.equal(seen(), '3success');
  running(4);
  assert.equal(seen(), '3success');
});

test('leaves after the commit of that very snapshot, not when a newer one came meanwhile', () => {
  const { snapshots, running, ended, seen } = setUp();
  running(1);
  const taken = snapshots.find('j');
  assert.ok(taken);
  ended(2);
  assert.equal(snapshots.forget('j', taken), false);
  assert.equal(seen(), '2success');
  const newest = snapshots.find('j');
  assert.ok(newest);
  assert.equal(snapshots.forget('j', newest), true);
  assert.equal(snapshots.size, 0);
});

test('says when a state was seen', () => {
  const { clock, snapshots, ended, running } = setUp();
  const startedAt = clock.now();
  ended(1);
  clock.stepWall(1_000);
  running(0);
  assert.equal(snapshots.find('j')?.seenAt, startedAt, 'it said nothing new');
  ended(2);
  assert.equal(snapshots.find('j')?.seenAt, startedAt + 1_000);
});

test('at the bound live states go first, then the oldest ended one, which is counted', () => {
  const { counts, snapshots, running, ended, seen } = setUp(3);
  running(1, 'live');
  ended(1, 'a');
  ended(1, 'b');
  ended(1, 'c');
  assert.deepEqual(snapshots.uids(), ['a', 'b', 'c']);
  assert.equal(counts.dropped, 0, 'a live one is still in the cluster');
  ended(1, 'd');
  assert.deepEqual(snapshots.uids(), ['b', 'c', 'd']);
  assert.equal(counts.dropped, 1);
  running(1, 'new');
  assert.equal(seen('new'), undefined, 'a live one takes no place from an ended one');
  ended(2, 'b');
  assert.equal(counts.dropped, 1, 'a newer state of a known one needs no room');
});

test('the bound is 50,000', () => {
  const { counts, snapshots, ended } = setUp();
  for (let n = 0; n < 50_010; n += 1) ended(1, `j${n}`);
  assert.equal(snapshots.endedCount, 50_000);
  assert.equal(counts.dropped, 10);
});

test('listeners hear of ended ones, and of those that need not be kept any more', () => {
  const { snapshots, running, ended } = setUp();
  const heard: string[] = [];
  const stop = snapshots.listen({
    ended: (uid) => heard.push(`ended ${uid}`),
    forgotten: (uid) => heard.push(`forgotten ${uid}`),
  });
  running(1, 'live');
  ended(1, 'a');
  running(0, 'a');
  for (const uid of ['live', 'a']) {
    const snapshot = snapshots.find(uid);
    if (snapshot) snapshots.forget(uid, snapshot);
  }
  assert.deepEqual(heard, ['ended a', 'forgotten a']);
  stop();
  ended(1, 'c');
  assert.equal(heard.length, 2);
});

test('a follower lets go of what is old, ended or not', () => {
  const { clock, snapshots, running, ended } = setUp();
  ended(1, 'old');
  running(1, 'old-live');
  clock.stepWall(60_000);
  ended(1, 'new');
  snapshots.forgetSeenBefore(clock.now());
  assert.deepEqual(snapshots.uids(), ['new']);
});

test('what has ended is found by its group until it is committed, given up or seen by another', () => {
  const { clock, ended, running, snapshots } = setUp(3);
  running(1, 'a0');
  ended(1, 'a1');
  ended(1, 'b1');
  ended(1, 'a2');
  assert.deepEqual([snapshots.listEndedOf('a'), snapshots.listEndedOf('b')], [['a1', 'a2'], ['b1']]);
  ended(1, 'a3');
  assert.deepEqual(snapshots.listEndedOf('a'), ['a2', 'a3'], 'the oldest gave way at the bound');
  const found = snapshots.find('a2');
  assert.ok(found);
  snapshots.forget('a2', found);
  assert.deepEqual(snapshots.listEndedOf('a'), ['a3']);
  snapshots.forgetSeenBefore(clock.now() + 1);
  assert.deepEqual([snapshots.listEndedOf('a'), snapshots.listEndedOf('b')], [[], []]);
});
