import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aPage, aRawObject as aJob, RecordingLogger, ScriptedWatch, settle } from '@cronjob-monitor/shared/testing';

import { aReflector as setUp, failure } from '../testing/running-reflector.ts';
import { Delivery } from './reflector.ts';
import { maxLineBytes } from './watch-stream.ts';
import type { Identity } from './objects.ts';
import { ReflectorSet } from './reflector-set.ts';

const bookmark = (resourceVersion: string) => ({ kind: 'Job', metadata: { resourceVersion } });
const tooLarge = { kind: 'Status', code: 504, reason: 'Timeout', message: 'Too large resource version: 9, current: 5' };

for (const [name, garbage] of [
  ['no JSON', 'garbage\n'],
  ['half a line, then a newline', '{"type":"MODIFIED","object":{"metadata":{"uid":"u1"\n'],
  ['JSON that is no event', '[1,2]\n'],
  ['an event without an object', '{"type":"ADDED","object":null}\n'],
  ['an object without identity', '{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n'],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n'],
  ['an unknown type', `${JSON.stringify({ type: 'PERHAPS', object: aJob('u1', '3') })}\n`],
] as const) {
  test(`${name}: counted, the stream goes on, and a list follows within 10 s`, async (t) => {
    const { cluster, clock, counts, told, start, logged } = setUp(t);
    const watch = new ScriptedWatch();
    cluster.willList(aPage('1', []), aPage('9', [aJob('lost', '4')])).willWatch(watch);
    start();
    await clock.advance(0);
    watch.text(garbage).event('ADDED', aJob('u1', '5'));
    await clock.advance(0);
    assert.deepEqual(told, ['added u1@5']);
    assert.equal(counts.unreadable, 1);
    assert.equal(cluster.watches[0]?.signal.aborted, false);
    await clock.advance(10_000);
    assert.deepEqual(told, ['added u1@5', 'added lost@4', 'deleted u1@5 tombstone']);
    assert.equal(cluster.watches.at(-1)?.resourceVersion, '9');
    await clock.advance(60_000);
    assert.equal(cluster.lists.length, 2, 'one list is enough');
    assert.equal(logged('warn'), 1);
  });
}

test('a burst of unreadable lines costs one list, and one line in the log', async (t) => {
  const { cluster, clock, counts, start, logged } = setUp(t);
  const watch = new ScriptedWatch();
  cluster.willList(aPage('1', []), aPage('2', [])).willWatch(watch);
  start();
  await clock.advance(0);
  for (let n = 0; n < 100; n += 1) watch.text('garbage\n');
  await clock.advance(20_000);
  assert.equal(counts.unreadable, 100);
  assert.equal(cluster.lists.length, 2);
  assert.equal(logged('warn'), 1);
});

test('a line over 8 MiB is counted, and what follows it is told', async (t) => {
  const { cluster, clock, counts, told, start } = setUp(t);
  const watch = new ScriptedWatch();
  cluster.willList(aPage('1', []), aPage('2', [aJob('u1', '2')])).willWatch(watch);
  start();
  await clock.advance(0);
  const piece = 'x'.repeat(1024 * 1024);
  for (let sent = 0; sent <= maxLineBytes; sent += piece.length) watch.text(piece);
  watch.text('\n').event('ADDED', aJob('u1', '2'));
  await clock.advance(0);
  assert.equal(counts.unreadable, 1);
  assert.deepEqual(told, ['added u1@2']);
  await clock.advance(10_000);
  assert.equal(cluster.lists.length, 2);
});

for (const [name, cut] of [
  ['ends', (watch: ScriptedWatch) => watch.end()],
  ['breaks', (watch: ScriptedWatch) => watch.fail(failure('unreachable'))],
] as const) {
  test(`a connection that ${name} in the middle of a line: counted, and a list within 10 s`, async (t) => {
    const { cluster, clock, counts, told, start } = setUp(t);
    cluster.willList(aPage('1', []), aPage('9', [aJob('u1', '5'), aJob('u2', '6')]));
    cluster.willWatch(cut(new ScriptedWatch().event('ADDED', aJob('u1', '5')).text('{"type":"ADDED","obj')));
    start();
    await clock.advance(10_000);
    assert.equal(counts.unreadable, 1);
    assert.equal(cluster.watches[1]?.resourceVersion, '5', 'until then it resumes where it stood');
    assert.equal(cluster.lists.length, 2);
    assert.deepEqual(told, ['added u1@5', 'added u2@6']);
  });
}

test('a last line that lacks nothing but its newline is read', async (t) => {
  const { cluster, clock, counts, told, start } = setUp(t);
  cluster.willList(aPage('1', []));
  cluster.willWatch(new ScriptedWatch().text(JSON.stringify({ type: 'ADDED', object: aJob('u1', '5') })).end());
  start();
  await clock.advance(10_000);
  assert.deepEqual(told, ['added u1@5']);
  assert.equal(counts.unreadable, 0);
  assert.equal(cluster.lists.length, 1);
});

test('an ERROR event that is no 410 is counted, and a list follows within 10 s, however often it comes', async (t) => {
  const { cluster, clock, counts, start } = setUp(t);
  for (let n = 0; n < 8; n += 1)
    cluster.willList(aPage('9', [])).willWatch(new ScriptedWatch().event('ERROR', tooLarge));
  start();
  await clock.advance(30_000);
  const at = cluster.lists.map(({ atMs }) => atMs);
  const waits = at.slice(1).map((atMs, n) => atMs - (at[n] ?? 0));
  assert.ok(waits.length >= 4);
  for (const wait of waits) assert.ok(wait > 0 && wait <= 10_000, `waited ${wait} ms`);
  assert.equal(counts.unreadable, cluster.watches.length);
});

for (const [code, status] of [
  ['forbidden', 403],
  ['notFound', 404],
] as const) {
  test(`${status} is asked again every 30 s, and named with kind and verb`, async (t) => {
    const { cluster, clock, start, reflector, logged } = setUp(t);
    cluster.willList(failure(code, { status }), failure(code, { status }), aPage('1', []));
    start();
    await clock.advance(59_999);
    assert.equal(cluster.lists.length, 2);
    assert.equal(reflector.state.synced, false);
    assert.match(reflector.state.trouble?.sentence ?? '', new RegExp(`^cannot list jobs: ${code} \\(list jobs\\): .`));
    assert.equal(reflector.state.trouble?.isRefused, true);
    assert.equal(logged('warn'), 1, 'once per change, not per try');
    await clock.advance(1);
    assert.equal(reflector.state.synced, true);
    assert.equal(reflector.state.trouble, undefined);
    assert.equal(logged('info'), 0, 'watched again is said when the watch stands');
  });
}

test('a forbidden watch names the verb watch, and its end is told once', async (t) => {
  const { cluster, clock, start, reflector, logger } = setUp(t, { namespace: 'team-a' });
  const refused = () => failure('forbidden', { status: 403 });
  cluster.willList(aPage('1', [])).willWatch(refused(), refused(), new ScriptedWatch());
  start();
  await clock.advance(30_000);
  assert.match(
    reflector.state.trouble?.sentence ?? '',
    /^cannot watch jobs in namespace team-a: forbidden \(watch jobs\): give the account/,
  );
  await clock.advance(30_000);
  assert.equal(reflector.state.trouble, undefined);
  assert.deepEqual(
    logger.lines.map(({ level, message }) => `${level} ${message}`),
    ['warn the cluster cannot be watched', 'info the cluster is watched again'],
  );
  assert.equal(cluster.lists.length, 1);
});

test('an outage is one line in the log, whatever it looks like from try to try', async (t) => {
  const { cluster, clock, start, logged, reflector } = setUp(t);
  cluster.willList(failure('unreachable'), failure('timeout'), failure('unavailable'), failure('throttled'));
  start();
  await clock.advance(12_000);
  assert.equal(cluster.lists.length, 5);
  assert.equal(logged('warn'), 1);
  const trouble = { sentence: 'cannot list jobs: throttled', isRefused: false, isUndefined: false };
  assert.deepEqual(reflector.state.trouble, trouble);
});

test('a handler that throws, or rejects, is counted and logged with the UID, and harms no other handler', async (t) => {
  const others: string[] = [];
  const { cluster, clock, counts, start, logger, cache } = setUp(t, {
    handlers: [
      ({ item }) => {
        if (item.uid === 'u1') throw new Error('a bug');
      },
      async ({ item }) => {
        await Promise.resolve();
        if (item.uid === 'u2') throw new Error('another bug');
      },
      ({ item }) => void others.push(item.uid),
    ],
  });
  const watch = new ScriptedWatch();
  cluster.willList(aPage('1', [aJob('u1', '1')])).willWatch(watch);
  start();
  await clock.advance(0);
  watch.event('ADDED', aJob('u2', '2')).event('ADDED', aJob('u3', '3'));
  await clock.advance(20_000);
  assert.deepEqual(others, ['u1', 'u2', 'u3']);
  assert.equal(counts.failed, 2);
  assert.deepEqual(
    logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields['uid']),
    ['u1', 'u2'],
  );
  assert.equal(cache.size, 3);
  assert.equal(cluster.watches[0]?.signal.aborted, false, 'the stream never stops for it');
  assert.equal(cluster.lists.length, 1);
});

test('an object of a list that has no identity is counted, the others are told', async (t) => {
  const { cluster, clock, counts, told, start } = setUp(t);
  cluster.willList(aPage('1', [{}, aJob('u1', '1')]));
  start();
  await clock.advance(0);
  assert.deepEqual(told, ['added u1@1']);
  assert.equal(counts.failed, 1);
});

test('a slow handler stops the reading, and is no silence of the server', async (t) => {
  let release = () => {};
  const { cluster, clock, start } = setUp(t, {
    handlers: [() => new Promise<void>((resolve) => (release = resolve))],
  });
  const watch = new ScriptedWatch();
  cluster.willList(aPage('1', [])).willWatch(watch);
  start();
  await clock.advance(0);
  assert.equal(watch.reads, 1);
  watch.event('ADDED', aJob('u1', '2')).event('ADDED', aJob('u2', '3'));
  await clock.advance(300_000);
  assert.equal(watch.reads, 1, 'nothing is read while an event waits for its handler');
  assert.equal(cluster.watches.length, 1, 'the idle watchdog waits for the handler');
  release();
  await clock.advance(0);
  assert.equal(watch.reads, 2);
  release();
  await clock.advance(0);
});

test('the rest of a chunk is dropped when the stream was aborted under way', async (t) => {
  let release = () => {};
  const told: string[] = [];
  const { cluster, clock, start } = setUp(t, {
    handlers: [
      ({ item }) => {
        told.push(item.uid);
        if (item.uid === 'slow') return new Promise<void>((resolve) => (release = resolve));
        return undefined;
      },
    ],
  });
  const lines = ['slow', 'stale'].map((uid) => JSON.stringify({ type: 'ADDED', object: aJob(uid, '2') }));
  const next = new ScriptedWatch();
  cluster.willList(aPage('1', []), aPage('9', []));
  cluster.willWatch(new ScriptedWatch().text(`garbage\n${lines.join('\n')}\n`), next);
  start();
  await clock.advance(6_000);
  assert.equal(cluster.watches[0]?.signal.aborted, true, 'a list became due');
  release();
  await clock.advance(0);
  assert.ok(!told.includes('stale'), told.join());
  next.fail(failure('unreachable'));
  await clock.advance(1_000);
  assert.equal(cluster.watches[2]?.resourceVersion, '9', 'what was slow does not set the clock back');
});

test('is synced only when the last page of the first list is delivered', async (t) => {
  let release = () => {};
  const { cluster, clock, start, reflector } = setUp(t, {
    handlers: [({ item }) => (item.uid === 'u2' ? new Promise<void>((resolve) => (release = resolve)) : undefined)],
  });
  cluster.willList(aPage('1', [aJob('u1', '1')], 'more'), aPage('1', [aJob('u2', '1')]));
  start();
  await clock.advance(1_000);
  assert.equal(reflector.state.synced, false);
  assert.equal(reflector.state.freshThroughAt, undefined);
  release();
  await clock.advance(0);
  assert.equal(reflector.state.synced, true);
});

test('is fresh through the begin of the list, then through each event and bookmark, once it is delivered', async (t) => {
  const { cluster, clock, start, reflector } = setUp(t);
  const watch = new ScriptedWatch();
  const startedAt = clock.now();
  cluster.willList(failure('unreachable'), aPage('1', [], 'more'), failure('gone'), aPage('1', [])).willWatch(watch);
  assert.equal(reflector.state.freshThroughAt, undefined);
  start();
  await clock.advance(10_000);
  assert.equal(reflector.state.freshThroughAt, startedAt + 800);
  assert.equal(reflector.state.ageMs, 9_200);
  watch.event('BOOKMARK', bookmark('5'));
  await clock.advance(5_000);
  assert.equal(reflector.state.freshThroughAt, startedAt + 10_000);
  assert.equal(reflector.state.ageMs, 5_000);
  watch.event('MODIFIED', aJob('u1', '6'));
  await clock.advance(0);
  assert.equal(reflector.state.freshThroughAt, startedAt + 15_000);
  watch.text('garbage\n');
  await clock.advance(1_000);
  assert.equal(reflector.state.freshThroughAt, startedAt + 15_000, 'what cannot be read proves nothing');
});

test('of several reflectors the least fresh one speaks for the kind, and all must be synced', async (t) => {
  const first = setUp(t, { namespace: 'a' });
  const second = setUp(t, { namespace: 'b' });
  const both = new ReflectorSet([first.reflector, second.reflector]);
  first.cluster.willList(aPage('1', []));
  second.cluster.willList(failure('forbidden'), aPage('1', []));
  first.start();
  second.start();
  await first.clock.advance(5_000);
  await second.clock.advance(5_000);
  assert.equal(both.hasSynced(), false);
  assert.equal(both.freshThrough('Job'), undefined);
  const told = both.states().flatMap(({ trouble }) => trouble?.sentence ?? []);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /^cannot list jobs in namespace b: forbidden/);
  await second.clock.advance(25_000);
  assert.equal(both.hasSynced(['Job']), true);
  assert.equal(both.freshThrough('Job'), first.reflector.state.freshThroughAt);
  assert.equal(both.ageMs('Job'), 5_000);
  assert.equal(both.freshThrough('Pod'), undefined, 'of a kind that is not watched nothing is known');
});

test('handlers of one event are called in their order, also when an earlier one waits', async () => {
  const order: string[] = [];
  const delivery = new Delivery<Identity>({
    logger: new RecordingLogger(),
    onFailure: () => {},
    handlers: [
      async ({ item }) => {
        await settle(1);
        order.push(`slow ${item.uid}`);
      },
      ({ item }) => void order.push(`quick ${item.uid}`),
    ],
  });
  const item = (uid: string) => ({ uid, name: uid, namespace: '', version: '1' });
  await delivery.deliver([
    { type: 'added', item: item('u1') },
    { type: 'added', item: item('u2') },
  ]);
  assert.deepEqual(order, ['slow u1', 'quick u1', 'slow u2', 'quick u2']);
});
