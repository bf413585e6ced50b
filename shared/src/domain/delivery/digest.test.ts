import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DigestedAlert } from './message.ts';
import { digestBody, foldable, type WaitingDelivery } from './digest.ts';

const now = 1_000_000;
const waiting = (count: number, changes: Partial<WaitingDelivery> = {}): WaitingDelivery[] =>
  Array.from({ length: count }, (_, number) => ({
    id: String(number),
    severity: 'warning',
    createdAt: now - 60_001,
    ...changes,
  }));
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
  const body = digestBody([...many, alert(600, { type: 'jobStuck', severity: 'critical', namespace: 'a' })]);
  assert.equal(body.total, 601);
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
