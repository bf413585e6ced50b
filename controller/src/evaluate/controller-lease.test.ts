import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, type LeaseRecord } from '@cronjob-monitor/shared/kube';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createControllerLease } from './controller-lease.ts';

const renewed = (renewTime: string): LeaseRecord => ({
  resourceVersion: '1',
  holder: 'node-1_x',
  leaseDurationSeconds: 15,
  acquireTime: renewTime,
  renewTime,
  transitions: 0,
});

function aWatch(t: { after(fn: () => void): void }) {
  const clock = new FakeClock();
  const term = new AbortController();
  t.after(() => term.abort());
  const cluster: { lease: LeaseRecord | ClusterError | undefined; asked: unknown[]; startedAt: number | undefined } = {
    lease: renewed('2020-01-01T00:00:00.000000Z'),
    asked: [],
    startedAt: undefined,
  };
  const lease = createControllerLease({
    cluster: {
      findLease(key) {
        cluster.asked.push(key);
        return cluster.lease instanceof Error ? Promise.reject(cluster.lease) : Promise.resolve(cluster.lease);
      },
    },
    newestStartAt: () => cluster.startedAt,
    clock,
  });
  lease.watch(term.signal);
  return { clock, term, cluster, lease };
}

test('a Lease that is not renewed for a minute is stale, whatever time it names; a renewal ends that', async (t) => {
  const { clock, cluster, lease } = aWatch(t);
  await clock.advance(59_999);
  assert.equal(lease.isStale(), false);
  await clock.advance(1);
  assert.equal(lease.isStale(), true);
  cluster.lease = renewed('2020-01-01T00:01:00.000000Z');
  await clock.advance(30_000);
  assert.equal(lease.isStale(), false);
  assert.deepEqual(cluster.asked[0], { namespace: 'kube-system', name: 'kube-controller-manager' });
  assert.equal(cluster.asked.length, 4);
});

test('who starts Jobs is alive, though its Lease is not renewed', async (t) => {
  const { clock, cluster, lease } = aWatch(t);
  cluster.startedAt = clock.now() - 1;
  await clock.advance(90_000);
  assert.equal(lease.isStale(), true, 'the start was before');
  cluster.startedAt = clock.now();
  assert.equal(lease.isStale(), false);
});

const forbidden = new ClusterError('forbidden', { verb: 'get', resource: 'leases', message: 'get leases: forbidden' });
for (const [title, answer] of [
  ['cannot be read', forbidden],
  ['is not there', undefined],
] as const) {
  test(`a Lease that ${title} is no sign of anything`, async (t) => {
    const { clock, cluster, lease } = aWatch(t);
    cluster.lease = answer;
    await clock.advance(300_000);
    assert.equal(lease.isStale(), false);
  });
}

test('an answer that stays out for a while says nothing, and counting begins anew', async (t) => {
  const { clock, cluster, lease } = aWatch(t);
  const before = cluster.lease;
  await clock.advance(60_000);
  cluster.lease = forbidden;
  await clock.advance(30_000);
  assert.equal(lease.isStale(), false);
  cluster.lease = before;
  await clock.advance(60_000);
  assert.equal(lease.isStale(), false);
  await clock.advance(30_000);
  assert.equal(lease.isStale(), true);
});

test('the API server is not asked when the term is over', async (t) => {
  const { clock, term, cluster } = aWatch(t);
  await clock.advance(1);
  term.abort();
  await clock.advance(300_000);
  assert.equal(cluster.asked.length, 1);
});
