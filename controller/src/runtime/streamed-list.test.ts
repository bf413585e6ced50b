import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aPage, aRawObject, ScriptedWatch } from '@cronjob-monitor/shared/testing';

import { failure, aReflector as setUp } from '../testing/running-reflector.ts';

const aJob = aRawObject;
const bookmark = (resourceVersion: string) => ({ kind: 'Job', metadata: { resourceVersion } });
const end = (resourceVersion: string) => ({
  kind: 'Job',
  metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
});
const version = 'v1.35.4';

test('a server of 1.32 or later is asked for the list as the beginning of a watch, and goes on as the watch', async (t) => {
  const { cluster, clock, told, counts, start, reflector } = setUp(t, { version });
  const stream = new ScriptedWatch();
  cluster.willWatch(stream, new ScriptedWatch());
  start();
  stream.event('ADDED', aJob('u1', '7')).event('ADDED', aJob('u2', '3'));
  await clock.advance(0);
  assert.equal(cluster.watches[0]?.resourceVersion, undefined);
  assert.deepEqual([told, reflector.state.synced], [['added u1@7', 'added u2@3'], false]);
  stream.event('BOOKMARK', bookmark('9'));
  await clock.advance(0);
  assert.equal(reflector.state.synced, false, 'only the mark of the end is the end');
  stream.event('BOOKMARK', end('10')).event('MODIFIED', aJob('u1', '11'));
  await clock.advance(0);
  assert.equal(reflector.state.synced, true);
  assert.deepEqual(told.slice(2), ['updated u1@11']);
  stream.end();
  await clock.advance(2_000);
  assert.deepEqual([cluster.lists.length, counts.lists], [0, 1]);
  assert.equal(cluster.watches[1]?.resourceVersion, '11', 'the next watch goes on where this one ended');
});

for (const [server, isAsked] of [
  ['v1.31.9', false],
  ['v1.32.0-rc.1', true],
  ['v1.9.0', false],
  ['v2.0.0', true],
  ['unknown', false],
] as const) {
  test(`${server} ${isAsked ? 'streams lists' : 'is asked in pages'}`, async (t) => {
    const { cluster, clock, start } = setUp(t, { version: server });
    cluster.willList(aPage('1', []));
    start();
    await clock.advance(0);
    assert.deepEqual([cluster.lists.length, cluster.watches[0]?.resourceVersion], isAsked ? [0, undefined] : [1, '1']);
    assert.equal(cluster.asked, 1);
  });
}

test('an account that may not ask for the release lists in pages; one that gets no answer asks again', async (t) => {
  const forbidden = setUp(t, { version: failure('forbidden', { status: 403 }) });
  forbidden.cluster.willList(aPage('1', []));
  forbidden.start();
  await forbidden.clock.advance(0);
  assert.equal(forbidden.reflector.state.synced, true);

  const away = setUp(t, { version: failure('unreachable') });
  away.start();
  await away.clock.advance(10_000);
  assert.ok(away.cluster.asked > 2);
  assert.equal(away.reflector.state.trouble?.sentence, 'cannot list jobs: unreachable');
  away.cluster.release = version;
  away.cluster.willWatch(new ScriptedWatch().event('BOOKMARK', end('5')));
  await away.clock.advance(30_000);
  assert.deepEqual([away.reflector.state.synced, away.reflector.state.trouble], [true, undefined]);
  assert.deepEqual(
    away.logger.lines.map(({ message }) => message),
    ['the cluster does not answer', 'the cluster answers again'],
  );
});

test('a list that ends before its mark deletes nothing, and is asked for again after a while', async (t) => {
  const { cluster, clock, told, start, reflector } = setUp(t, { version });
  const first = new ScriptedWatch().event('ADDED', aJob('u1', '1')).event('ADDED', aJob('u2', '2'));
  const again = new ScriptedWatch().event('ADDED', aJob('u2', '2'));
  const cut = new ScriptedWatch().event('ADDED', aJob('u2', '2')).event('DELETED', aJob('u3', '8'));
  cluster.willWatch(first.event('BOOKMARK', end('5')), again, cut);
  start();
  await clock.advance(0);
  // A version that is too old has everything listed again.
  first.event('BOOKMARK', bookmark('6')).event('ERROR', { code: 410, reason: 'Expired' });
  await clock.advance(0);
  again.end();
  await clock.advance(0);
  assert.deepEqual(told, ['added u1@1', 'added u2@2'], 'u1 was not among what came so far');
  assert.equal(cluster.watches.length, 2);
  await clock.advance(800);
  assert.equal(cluster.watches.length, 3);
  cut.event('BOOKMARK', end('9'));
  await clock.advance(0);
  assert.deepEqual(told.slice(2), ['deleted u3@8', 'deleted u1@1 tombstone']);
  assert.equal(reflector.state.synced, true);
});

for (const [what, breakOff] of [
  ['ends', (stream: ScriptedWatch) => stream.end()],
  ['breaks', (stream: ScriptedWatch) => stream.fail(failure('unreachable'))],
  ['breaks in the middle of a line', (stream: ScriptedWatch) => stream.text('{"type":').fail(failure('unreachable'))],
  ['is ended by an error', (stream: ScriptedWatch) => stream.event('ERROR', { code: 500, reason: 'InternalError' })],
] as const) {
  test(`a stream that ${what} before its mark three times is given up for pages, until the next start`, async (t) => {
    const { cluster, clock, told, start, reflector, logger } = setUp(t, { version });
    const streams = [1, 2, 3].map(() => breakOff(new ScriptedWatch().event('ADDED', aJob('u1', '1'))));
    const watch = new ScriptedWatch();
    cluster.willWatch(...streams, watch).willList(aPage('4', [aJob('u2', '2')]), aPage('90', []));
    start();
    await clock.advance(10_000);
    assert.equal(reflector.state.synced, true);
    assert.equal(reflector.state.trouble, undefined);
    assert.deepEqual(told, ['added u1@1', 'added u2@2', 'deleted u1@1 tombstone']);
    assert.deepEqual(
      cluster.watches.map(({ resourceVersion }) => resourceVersion),
      [undefined, undefined, undefined, '4'],
    );
    assert.equal(cluster.lists[0]?.limit, 500);
    assert.equal(logger.lines.filter(({ message }) => message.includes('in pages')).length, 1);
    watch.event('ERROR', { code: 410, reason: 'Expired' });
    await clock.advance(10_000);
    assert.equal(cluster.lists.length, 2);
  });
}

for (const code of ['invalid', 'gone'] as const) {
  test(`a server that refuses the stream (${code}) is asked in pages at once, and that is no problem`, async (t) => {
    const { cluster, clock, start, reflector, logged } = setUp(t, { version });
    cluster.willWatch(failure(code, { status: 422 })).willList(aPage('1', []));
    start();
    await clock.advance(0);
    assert.equal(reflector.state.synced, true);
    assert.deepEqual([logged('warn'), logged('error'), reflector.state.trouble], [0, 0, undefined]);
  });
}

test('a stream that is silent before its mark is given up for pages', async (t) => {
  const { cluster, clock, start, reflector } = setUp(t, { version });
  cluster.willWatch(new ScriptedWatch().event('ADDED', aJob('u1', '1'))).willList(aPage('1', [aJob('u1', '1')]));
  start();
  await clock.advance(89_000);
  assert.deepEqual([reflector.state.synced, cluster.lists.length], [false, 0]);
  await clock.advance(1_001);
  assert.equal(reflector.state.synced, true);
});

for (const [what, line] of [
  ['garbage', '{"type":"ADD\n'],
  ['no event', '[]\n'],
  ['an object without a name', '{"type":"ADDED","object":{"metadata":{}}}\n'],
  ['a bookmark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n'],
] as const) {
  test(`a line of the list that is ${what} hides an object: nothing is deleted, and pages are asked for`, async (t) => {
    const { cluster, clock, told, counts, start } = setUp(t, { version });
    const first = new ScriptedWatch().event('ADDED', aJob('u1', '1')).event('BOOKMARK', end('5'));
    const broken = new ScriptedWatch().text(line).event('BOOKMARK', end('6'));
    cluster.willWatch(first.event('ERROR', { code: 410 }), broken).willList(aPage('7', [aJob('u1', '1')]));
    start();
    await clock.advance(2_000);
    assert.deepEqual(told, ['added u1@1']);
    assert.deepEqual([counts.unreadable, cluster.lists.length], [1, 1]);
  });
}

test('a forbidden stream names the right that is missing, and its end is told once', async (t) => {
  const { cluster, clock, start, reflector, logger } = setUp(t, { version });
  const stream = new ScriptedWatch().event('BOOKMARK', end('5'));
  cluster.willWatch(failure('forbidden', { status: 403 }), failure('forbidden', { status: 403 }), stream);
  start();
  await clock.advance(31_000);
  assert.match(
    reflector.state.trouble?.sentence ?? '',
    /^cannot watch jobs: forbidden \(watch jobs\): give the account/,
  );
  await clock.advance(30_000);
  assert.deepEqual([reflector.state.synced, reflector.state.trouble], [true, undefined]);
  assert.deepEqual(
    logger.lines.map(({ level, message }) => `${level} ${message}`),
    ['warn the cluster cannot be watched', 'info the cluster is watched again'],
  );
});

test('the list is as fresh as its request: what came and went before it may be lost', async (t) => {
  const blind: { fromAt: number; toAt: number }[] = [];
  const { cluster, clock, start, reflector } = setUp(t, { version, onBlind: (span) => blind.push(span) });
  const begunAt = clock.now();
  const first = new ScriptedWatch();
  const again = new ScriptedWatch();
  cluster.willWatch(first, again);
  start();
  await clock.advance(20_000);
  first.event('BOOKMARK', end('5'));
  await clock.advance(0);
  assert.equal(reflector.state.freshThroughAt, begunAt);
  await clock.advance(1_000);
  first.event('ERROR', { code: 410 });
  await clock.advance(1_000);
  again.event('BOOKMARK', end('9'));
  await clock.advance(0);
  assert.equal(blind.length, 1);
  assert.equal(blind[0]?.fromAt, begunAt);
  assert.ok((blind[0]?.toAt ?? 0) >= begunAt + 21_000);
});
