import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ClusterError, toMicroTime, type ClusterErrorCode } from '@cronjob-monitor/shared/kube';
import { aNamespace, raw, type Subject } from '../contract-cluster.ts';
import { paths } from '../kube-objects.ts';

const forever = new AbortController().signal;
const is = (code: ClusterErrorCode) => (error: unknown) => error instanceof ClusterError && error.code === code;

/** What a leader election rests on: one winner for each write. */
export function leaseContract(subject: Subject): void {
  describe('leases', () => {
    let namespace = '';
    before(async () => void (namespace = await aNamespace(subject)));

    const lease = {
      holder: 'replica-1',
      leaseDurationSeconds: 15,
      acquireTime: toMicroTime(Date.UTC(2026, 10, 21, 12, 0, 0, 123)),
      renewTime: toMicroTime(Date.UTC(2026, 10, 21, 12, 0, 0, 456)),
      transitions: 0,
    };

    test('a Lease that is not there is absent, not an error', async () => {
      assert.equal(await subject().client.findLease({ namespace, name: 'none' }, forever), undefined);
    });

    test('a Lease comes back as it was written', async () => {
      const key = { namespace, name: 'round-trip' };
      const { resourceVersion, ...created } = await subject().client.createLease(key, lease, forever);
      assert.deepEqual(created, lease);
      assert.deepEqual(await subject().client.findLease(key, forever), { ...lease, resourceVersion });
    });

    test('of two that create a Lease one is told that it exists', async () => {
      const key = { namespace, name: 'created-twice' };
      const both = await Promise.allSettled([
        subject().client.createLease(key, lease, forever),
        subject().client.createLease(key, { ...lease, holder: 'replica-2' }, forever),
      ]);
      const losers = both.filter((one) => one.status === 'rejected');
      assert.equal(losers.length, 1);
      assert.ok(losers.every(({ reason }) => is('alreadyExists')(reason)));
    });

    test('of two that renew from one version one gets a conflict', async () => {
      const key = { namespace, name: 'renewed-twice' };
      const held = await subject().client.createLease(key, lease, forever);
      const both = await Promise.allSettled([
        subject().client.replaceLease(key, { ...held, transitions: 1 }, forever),
        subject().client.replaceLease(key, { ...held, holder: 'replica-2' }, forever),
      ]);
      const losers = both.filter((one) => one.status === 'rejected');
      assert.equal(losers.length, 1);
      assert.ok(losers.every(({ reason }) => is('conflict')(reason)));
    });

    test('a released Lease has no holder', async () => {
      const key = { namespace, name: 'released' };
      const held = await subject().client.createLease(key, lease, forever);
      const released = await subject().client.replaceLease(
        key,
        { ...held, holder: '', leaseDurationSeconds: 1 },
        forever,
      );
      assert.equal(released.holder, '');
    });

    test('an instant with three decimals is refused', async () => {
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'coarse' },
        spec: { renewTime: '2026-11-21T12:00:00.123Z' },
      };
      assert.equal((await raw(subject, 'POST', paths.leases(namespace), { body })).status, 400);
    });
  });
}
