import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DigestedAlert } from './message.ts';
import {
  digestBody,
  digestDueAt,
  foldable,
  gather,
  isDigestOver,
  stormWindowMs,
  type DigestEntry,
  type WaitingDelivery,
} from './digest.ts';

const now = 1_000_000;
const waiting = (count: number, changes: Partial<WaitingDelivery> = {}): WaitingDelivery[] =>
  Array.from({ length: count }, (_, number) => ({
    id: String(number),
    severity: 'warning',
    createdAt: now - 60_001,
    ...changes,
  }));
const quarterMs = 15 * 60_000;

describe('a storm', () => {
  const entry = { cause: 'storm', entered: 20, fleet: 100, threshold: 20, isControllerStale: false } as const;
  const cases: readonly (readonly [string, Partial<Extract<DigestEntry, { cause: 'storm' }>>, string])[] = [
    ['is opened by twenty of a hundred CronJobs', {}, 'open'],
    ['is not opened by fewer than the threshold', { entered: 19 }, 'alone'],
    ['is not opened by less than a fifth of the fleet', { fleet: 101 }, 'alone'],
    [
      'is opened by any entry where the controller gives no sign of life',
      { entered: 1, isControllerStale: true },
      'open',
    ],
    ['is not opened by a stale controller alone', { entered: 0, isControllerStale: true }, 'alone'],
    ['is never opened with a threshold of 0', { threshold: 0, isControllerStale: true }, 'alone'],
  ];
  for (const [says, change, expected] of cases)
    test(says, () => assert.equal(gather({ ...entry, ...change }, undefined), expected));

  test('is joined by one alert more, is told at most every 15 min, and ends five minutes after the last', () => {
    const open = { id: 'd', cause: 'storm', openedAt: 0, lastEntryAt: 60_000, toldAt: 0 } as const;
    assert.equal(gather({ ...entry, entered: 1 }, open), 'join');
    assert.equal(digestDueAt(open, 60_000), quarterMs);
    assert.equal(isDigestOver(open, 60_000 + stormWindowMs - 1), false);
    assert.equal(isDigestOver(open, 60_000 + stormWindowMs), true);
  });
});

describe('a digest by scope', () => {
  const foldBy = { cause: 'platform', scope: 'node node-3' } as const;
  const entry = { cause: 'scope', foldBy, channel: { type: 'chat', isAlertmanager: false } } as const;
  const open = { id: 'd', cause: 'scope', openedAt: 1_000, lastEntryAt: 1_000, toldAt: undefined } as const;

  test('is opened by one alert, and joined by the next', () => {
    assert.equal(gather(entry, undefined), 'open');
    assert.equal(gather(entry, open), 'join');
  });

  test('gathers nothing without a route that folds, for paging, or for an Alertmanager', () => {
    for (const changed of [
      { foldBy: undefined },
      { channel: { type: 'paging', isAlertmanager: false } },
      { channel: { type: 'webhook', isAlertmanager: true } },
    ] as const) {
      assert.equal(gather({ ...entry, ...changed }, undefined), 'alone');
      assert.equal(gather({ ...entry, ...changed }, open), 'alone');
    }
  });

  test('waits 30 s, and 15 min between what it says', () => {
    assert.equal(digestDueAt(open, 20_000), 31_000);
    assert.equal(digestDueAt({ ...open, toldAt: 31_000 }, 40_000), 31_000 + quarterMs);
    assert.equal(digestDueAt({ ...open, toldAt: 31_000 }, 31_000 + quarterMs), 31_000 + quarterMs + 30_000);
  });
});

test('what the first pass finds is told together, unless it is one CronJob', () => {
  assert.equal(gather({ cause: 'firstPass', found: 2 }, undefined), 'open');
  assert.equal(gather({ cause: 'firstPass', found: 1 }, undefined), 'alone');
});

const chat = { type: 'chat', burst: 10 } as const;

test('more than a burst that waited over a minute becomes one digest', () => {
  assert.equal(foldable(waiting(11), chat, now).length, 11);
  assert.deepEqual(foldable(waiting(10), chat, now), []);
  assert.deepEqual(foldable(waiting(11, { createdAt: now - 60_000 }), chat, now), []);
});

test('critical messages are never folded, and paging never folds', () => {
  assert.deepEqual(foldable(waiting(20, { severity: 'critical' }), chat, now), []);
  assert.equal(foldable([...waiting(11), ...waiting(5, { severity: 'critical' })], chat, now).length, 11);
  assert.deepEqual(foldable(waiting(20), { type: 'paging', burst: 10 }, now), []);
});

test('a digest counts all by type and severity, worst first, and lists 500 by name', () => {
  const alert = (number: number, changes: Partial<DigestedAlert> = {}): DigestedAlert => ({
    id: String(number),
    type: 'jobFailed',
    subject: null,
    severity: 'warning',
    namespace: 'prod',
    name: `job-${String(number).padStart(4, '0')}`,
    since: '2026-11-21T01:00:00.000Z',
    state: 'active',
    endedAt: null,
    ...changes,
  });
  const many = Array.from({ length: 600 }, (_, number) => alert(599 - number));
  const ended = { state: 'resolved', endedAt: '2026-11-21T01:05:00.000Z' } as const;
  const body = digestBody([
    ...many.slice(1),
    alert(599, ended),
    alert(600, { type: 'jobStuck', severity: 'critical', namespace: 'a' }),
  ]);
  assert.deepEqual([body.total, body.recovered], [601, 1]);
  assert.deepEqual(body.counts, [
    { type: 'jobStuck', severity: 'critical', count: 1 },
    { type: 'jobFailed', severity: 'warning', count: 600 },
  ]);
  assert.equal(body.alerts.length, 500);
  assert.deepEqual(
    body.alerts.slice(0, 2).map(({ name }) => name),
    ['job-0600', 'job-0000'],
  );
});
