import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlder, otherInstallationOf, type StatusMark } from './other-installation.ts';

const minute = 60_000;
const now = Date.parse('2026-11-21T12:00:00Z');
const own = { name: 'monitoring', sinceAt: now - 1_000 * minute, startedAt: now - 30 * minute, met: new Set<number>() };
const mark = (changes: Partial<StatusMark>): StatusMark => ({
  name: 'elsewhere',
  sinceAt: now - 500 * minute,
  writtenAt: now - minute,
  ...changes,
});

test('a writer with another database is another installation, for 10 minutes', () => {
  assert.equal(otherInstallationOf([mark({})], own, now)?.name, 'elsewhere');
  assert.equal(otherInstallationOf([mark({ writtenAt: now - 10 * minute + 1 })], own, now)?.name, 'elsewhere');
  assert.equal(otherInstallationOf([mark({ writtenAt: now - 10 * minute })], own, now), undefined);
});

test('the same database is the same installation, wherever it runs now', () => {
  assert.equal(otherInstallationOf([mark({ sinceAt: own.sinceAt })], own, now), undefined);
});

test('what our own name wrote before we started was ourselves with another database; after, it is another', () => {
  const same = { name: own.name, sinceAt: own.sinceAt - minute };
  assert.equal(otherInstallationOf([mark({ ...same, writtenAt: own.startedAt })], own, now), undefined);
  const met = new Set([same.sinceAt]);
  const before = mark({ ...same, writtenAt: now - 9 * minute });
  const restarted = { ...own, startedAt: now - minute };
  assert.equal(otherInstallationOf([before], restarted, now), undefined);
  assert.equal(otherInstallationOf([before], { ...restarted, met }, now)?.sinceAt, same.sinceAt, 'seen at work before');
  const written = now - minute;
  assert.equal(otherInstallationOf([mark({ ...same, writtenAt: written })], own, now)?.sinceAt, same.sinceAt);
});

test('of several the oldest is told, and of two exactly one is older', () => {
  const marks = [mark({ name: 'b' }), mark({ name: 'a', sinceAt: now - 600 * minute }), mark({ name: 'c' })];
  assert.equal(otherInstallationOf(marks, own, now)?.name, 'a');
  const [one, other] = [mark({ name: 'a' }), mark({ name: 'b' })];
  assert.deepEqual([isOlder(one, other), isOlder(other, one)], [true, false]);
});
