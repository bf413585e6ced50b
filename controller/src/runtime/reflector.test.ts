import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aPage, aRawObject, ScriptedWatch } from '@cronjob-monitor/shared/testing';

import { failure, aReflector as setUp } from '../testing/running-reflector.ts';

/** When each of these calls was made, relative to the first, in whole milliseconds. */
const offsets = (asked: readonly { readonly atMs: number }[]) =>
  asked.map(({ atMs }) => Math.round(atMs - (asked[0]?.atMs ?? 0)));

const aJob = aRawObject;
const bookmark = (resourceVersion: string) => ({ kind: 'Job', metadata: { resourceVersion } });
const expired = { kind: 'Status', code: 410, reason: 'Expired' };

test('lists in pages of 500 without a version, then watches from the version of the list', async (t) => {
  const { cluster, clock, told, start, reflector } = setUp(t);
  cluster.willList(aPage('10', [aJob('u1', '1')], 'more'), aPage('10', [aJob('u2', '2')]));
  start();
  await clock.advance(0);
  assert.deepEqual(told, ['added u1@1', 'added u2@2']);
  assert.deepEqual(
    cluster.lists.map(({ kind, limit, continueToken }) => ({ kind, limit, continueToken })),
    [
      { kind: 'Job', limit: 500, continueToken: undefined },
      { kind: 'Job', limit: 500, continueToken: 'more' },
    ],
  );
  assert.equal(
    cluster.lists.some((request) => 'resourceVersion' in request),
    false,
  );
  assert.equal(cluster.watches[0]?.resourceVersion, '10');
  assert.equal(reflector.state.synced, true);
});

test('asks for watches of 240 to 300 s', async (t) => {
  for (const [random, timeoutSeconds] of [
    [0, 240],
    [0.999999, 300],
  ] as const) {
    const { cluster, clock, start } = setUp(t, { random });
    cluster.willList(aPage('1', []));
    start();
    await clock.advance(0);
    assert.equal(cluster.watches[0]?.timeoutSeconds, timeoutSeconds);
  }
});

test('a reflector of one namespace lists and watches that namespace', async (t) => {
  const { cluster, clock, start } = setUp(t, { namespace: 'team-a' });
  cluster.willList(aPage('1', []));
  start();
  await clock.advance(0);
  assert.equal(cluster.lists[0]?.namespace, 'team-a');
  assert.equal(cluster.watches[0]?.namespace, 'team-a');
});

test('tells what a watch brings, in the order of arrival', async (t) => {
  const { cluster, clock, told, start, cache } = setUp(t);
  const watch = new ScriptedWatch();
  cluster.willList(aPage('1', [])).willWatch(watch);
  start();
  await clock.advance(0);
  watch.event('ADDED', aJob('u1', '2')).event('MODIFIED', aJob('u1', '3')).event('DELETED', aJob('u1', '4'));
  await clock.advance(0);
  assert.deepEqual(told, ['added u1@2', 'updated u1@3', 'deleted u1@4']);
  assert.equal(cache.size, 0);
});

test('a watch that ends by time is followed by one from the last version, at once', async (t) => {
  const { cluster, clock, counts, start } = setUp(t);
  const first = new ScriptedWatch();
  const second = new ScriptedWatch();
  cluster.willList(aPage('1', [])).willWatch(first, second);
  start();
  await clock.advance(5_000);
  first.event('BOOKMARK', bookmark('77')).end();
  await clock.advance(0);
  second.event('ADDED', aJob('u1', '80'));
  await clock.advance(2_000);
  second.end();
  await clock.advance(0);
  assert.deepEqual(offsets(cluster.watches), [0, 5_000, 7_000]);
  assert.deepEqual(
    cluster.watches.map((watch) => watch.resourceVersion),
    ['1', '77', '80'],
  );
  assert.equal(counts.lists, 1);
  assert.equal(counts.restarts, 2);
});

test('a watch that ends within a second without an event counts as an error', async (t) => {
  const { cluster, clock, start } = setUp(t);
  const empty = () => new ScriptedWatch().end();
  cluster.willList(aPage('1', [])).willWatch(empty(), empty(), empty());
  start();
  await clock.advance(10_000);
  assert.deepEqual(offsets(cluster.watches), [0, 800, 2_400, 5_600]);
});

test('a watch that ends within a second with an event does not', async (t) => {
  const { cluster, clock, start } = setUp(t);
  cluster.willList(aPage('1', [])).willWatch(new ScriptedWatch().event('ADDED', aJob('u1', '2')).end());
  start();
  await clock.advance(100);
  assert.deepEqual(offsets(cluster.watches), [0, 0]);
});

for (const form of ['HTTP', 'ERROR event'] as const) {
  test(`410 as ${form} on a watch is answered by a full list, which finds what was missed`, async (t) => {
    const { cluster, clock, told, start, logged } = setUp(t);
    const watch = new ScriptedWatch().event('ADDED', aJob('u1', '5'));
    cluster.willList(aPage('1', []), aPage('90', [aJob('u2', '70')]));
    if (form === 'HTTP') cluster.willWatch(watch.end(), failure('gone', { status: 410 }));
    else cluster.willWatch(watch.event('ERROR', expired));
    start();
    await clock.advance(0);
    assert.deepEqual(told, ['added u1@5', 'added u2@70', 'deleted u1@5 tombstone']);
    assert.equal(cluster.lists.length, 2);
    assert.equal(cluster.watches.at(-1)?.resourceVersion, '90');
    assert.equal(logged('warn'), 0, 'it is part of normal operation');
  });
}

test('lists and 410 that bring nothing do not chase each other', async (t) => {
  const { cluster, clock, start } = setUp(t);
  for (let n = 0; n < 4; n += 1) cluster.willList(aPage('1', [])).willWatch(failure('gone', { status: 410 }));
  start();
  await clock.advance(6_000);
  assert.deepEqual(offsets(cluster.lists), [0, 800, 2_400, 5_600]);
});

test('410 on continue starts the list again, the third time in a row without a limit', async (t) => {
  const { cluster, clock, told, start } = setUp(t);
  for (let n = 0; n < 3; n += 1)
    cluster.willList(aPage('1', [aJob('u1', '1')], 'old'), failure('gone', { status: 410 }));
  cluster.willList(aPage('9', [aJob('u2', '2')]));
  start();
  await clock.advance(0);
  const begun = cluster.lists.filter((request) => request.continueToken === undefined);
  assert.deepEqual(
    begun.map((request) => request.limit),
    [500, 500, 500, undefined],
  );
  assert.deepEqual(offsets(cluster.lists), [0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(told, ['added u1@1', 'added u2@2', 'deleted u1@1 tombstone']);
});

test('a watch without a byte for 90 s is given up, and resumed where it stood', async (t) => {
  const { cluster, clock, told, start } = setUp(t);
  const dead = new ScriptedWatch();
  const alive = new ScriptedWatch();
  cluster.willList(aPage('1', [])).willWatch(dead, alive);
  start();
  await clock.advance(60_000);
  dead.event('BOOKMARK', bookmark('20'));
  await clock.advance(89_999);
  assert.equal(cluster.watches.length, 1);
  await clock.advance(1);
  assert.equal(cluster.watches[0]?.signal.aborted, true);
  assert.equal(cluster.watches[1]?.resourceVersion, '20');
  dead.event('ADDED', aJob('late', '21'));
  alive.event('ADDED', aJob('u1', '22'));
  await clock.advance(0);
  assert.deepEqual(told, ['added u1@22'], 'an aborted stream has no say any more');
  assert.equal(cluster.lists.length, 1);
});

test('a watch whose head never comes is given up as well', async (t) => {
  const { cluster, clock, start } = setUp(t);
  cluster.willList(aPage('1', []));
  start();
  await clock.advance(90_000);
  assert.equal(cluster.watches.length, 2);
});

test('two watches in a row without a byte are followed by a list where the server is behind their version, as a restored one is', async (t) => {
  const { cluster, clock, start } = setUp(t);
  cluster
    .willList(aPage('999', []), aPage('5', []), aPage('5', []))
    .willWatch(new ScriptedWatch(), new ScriptedWatch());
  start();
  await clock.advance(180_000);
  assert.equal(cluster.lists.length, 3, 'one to begin with, one for the version, one for all');
  assert.equal(cluster.watches.at(-1)?.resourceVersion, '5');
});

test('a server that is only slow is watched on from the last version, and everything is listed after four watches without a byte', async (t) => {
  const { cluster, clock, start } = setUp(t);
  cluster
    .willList(aPage('999', []), aPage('1001', []), aPage('1001', []), aPage('1002', []))
    .willWatch(...Array.from({ length: 4 }, () => new ScriptedWatch()));
  start();
  await clock.advance(359_000);
  assert.deepEqual(
    cluster.watches.map(({ resourceVersion }) => resourceVersion),
    ['999', '999', '999', '999'],
  );
  await clock.advance(2_000);
  assert.equal(cluster.watches.at(-1)?.resourceVersion, '1002');
});

for (const [name, error] of [
  ['a connection that cannot be made', failure('unreachable')],
  ['408', failure('timeout', { status: 408 })],
  ['500', failure('unavailable', { status: 500 })],
  ['503', failure('unavailable', { status: 503 })],
  ['an answer that is none', failure('badAnswer')],
  ['an error of unknown nature', new TypeError('undefined is not a function')],
] as const) {
  test(`${name} is tried again after 0.8 s, doubling to 30 s, for ever`, async (t) => {
    const { cluster, clock, start } = setUp(t);
    cluster.willList(...Array.from({ length: 10 }, () => error));
    start();
    await clock.advance(400_000);
    const waits = offsets(cluster.lists).map((at, n, all) => at - (all[n - 1] ?? 0));
    assert.deepEqual(waits, [0, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000, 30_000]);
  });
}

test('the back-off has full jitter', async (t) => {
  const { cluster, clock, start } = setUp(t, { random: 0.25 });
  cluster.willList(failure('unreachable'), failure('unreachable'), aPage('1', []));
  start();
  await clock.advance(1_000);
  assert.deepEqual(offsets(cluster.lists), [0, 200, 600]);
});

test('a broken connection resumes at the last version', async (t) => {
  const { cluster, clock, told, start } = setUp(t);
  const broken = new ScriptedWatch().event('ADDED', aJob('u1', '7')).fail(failure('unreachable'));
  cluster.willList(aPage('1', [])).willWatch(broken);
  start();
  await clock.advance(800);
  assert.deepEqual(told, ['added u1@7']);
  assert.deepEqual(
    cluster.watches.map((watch) => watch.resourceVersion),
    ['1', '7'],
  );
  assert.deepEqual(offsets(cluster.watches), [0, 800]);
});

test('two minutes of health make the next failure a first one; less does not', async (t) => {
  for (const [healthyMs, waitMs] of [
    [119_000, 3_200],
    [121_000, 800],
  ] as const) {
    const { cluster, clock, start } = setUp(t);
    const watch = new ScriptedWatch();
    cluster.willList(failure('unreachable'), failure('unreachable'), aPage('1', [])).willWatch(watch);
    start();
    await clock.advance(2_400);
    assert.equal(cluster.watches.length, 1);
    for (let passed = 0; passed < healthyMs; passed += 1_000) {
      watch.event('BOOKMARK', bookmark(`${passed}`));
      await clock.advance(1_000);
    }
    watch.fail(failure('unreachable'));
    await clock.advance(waitMs - 1);
    assert.equal(cluster.watches.length, 1, `after ${healthyMs}`);
    await clock.advance(1);
    assert.equal(cluster.watches.length, 2, `after ${healthyMs}`);
  }
});

for (const [code, status] of [
  ['throttled', 429],
  ['unavailable', 503],
] as const) {
  test(`${status} with Retry-After waits at least that long`, async (t) => {
    const { cluster, clock, start } = setUp(t, { random: 0 });
    cluster.willList(failure(code, { status, retryAfterMs: 7_000 }), aPage('1', []));
    start();
    await clock.advance(6_999);
    assert.equal(cluster.lists.length, 1);
    await clock.advance(1);
    assert.equal(cluster.lists.length, 2);
  });
}

test('a Retry-After that is shorter than the back-off does not shorten it', async (t) => {
  const { cluster, clock, start } = setUp(t);
  const refusal = failure('throttled', { status: 429, retryAfterMs: 1_000 });
  cluster.willList(failure('unreachable'), failure('unreachable'), refusal);
  start();
  await clock.advance(5_600);
  assert.deepEqual(offsets(cluster.lists), [0, 800, 2_400, 5_600]);
});

test('401 reads the credentials again and retries at once, after that with back-off', async (t) => {
  const { cluster, clock, start, logged, reflector } = setUp(t);
  const unauthorized = () => failure('unauthorized', { status: 401 });
  cluster.willList(unauthorized());
  start();
  await clock.advance(0);
  assert.deepEqual(offsets(cluster.lists), [0, 0]);
  assert.equal(cluster.reloads, 1);
  assert.equal(logged('warn'), 0);

  const again = setUp(t);
  again.cluster.willList(unauthorized(), unauthorized(), unauthorized(), aPage('1', []));
  again.start();
  await again.clock.advance(2_400);
  assert.deepEqual(offsets(again.cluster.lists), [0, 0, 800, 2_400]);
  assert.equal(again.cluster.reloads, 3);
  assert.equal(again.logged('warn'), 1);
  assert.equal(reflector.state.trouble, undefined);
});
