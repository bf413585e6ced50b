import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '@cronjob-monitor/shared/domain';
import { StartSkew } from './observed-starts.ts';

const now = Date.parse('2026-03-02T12:00:00Z');

test('few starts say nothing of the cluster', () => {
  const skew = new StartSkew();
  for (let count = 0; count < 19; count++) skew.add(now, 9_000);
  assert.equal(skew.p99Ms(now), 0);
});

test('the 99th percentile of the last hour counts, what is older does not', () => {
  const skew = new StartSkew();
  for (let count = 0; count < 50; count++) skew.add(now - 90 * minuteMs, 600_000);
  for (let count = 1; count <= 100; count++) skew.add(now - minuteMs, count * 100);
  assert.equal(skew.p99Ms(now), 9_900);
});

test('what was saved speaks for an hour, until there are enough starts of our own', () => {
  const skew = new StartSkew({ p99Ms: 45_000, at: now - 10 * minuteMs });
  assert.equal(skew.p99Ms(now), 45_000);
  for (let count = 0; count < 20; count++) skew.add(now, 1_000);
  assert.equal(skew.p99Ms(now + minuteMs), 1_000);
  assert.equal(new StartSkew({ p99Ms: 45_000, at: now - 61 * minuteMs }).p99Ms(now), 0);
});
