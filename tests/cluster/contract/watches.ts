import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { WatchedKind } from '@cronjob-monitor/shared/kube';
import { aNamespace, collect, prepare, raw, watchUntil, type Subject, type WatchLine } from '../contract-cluster.ts';
import { aCronJob, paths } from '../kube-objects.ts';

const merge = { contentType: 'application/merge-patch+json' };
const said = ({ type, object }: WatchLine): string => `${type} ${object.metadata.name}`;

/** Start points, resuming, bookmarks, and the three ways in which a version is too old. */
export function watchContract(subject: Subject): void {
  describe('watches', () => {
    let namespace = '';
    before(async () => void (namespace = await aNamespace(subject)));

    const versionNow = async (kind: WatchedKind = 'CronJob'): Promise<string> =>
      (await subject().client.listPage({ kind, namespace }, new AbortController().signal)).resourceVersion;

    /** Through the product's client. */
    const watch = async (
      resourceVersion: string,
      enough: (lines: readonly WatchLine[]) => boolean,
      timeoutSeconds = 20,
    ): Promise<WatchLine[]> => {
      const abort = new AbortController();
      const request = { kind: 'CronJob', namespace, resourceVersion, timeoutSeconds } as const;
      return collect(await subject().client.watch(request, abort.signal), enough, abort);
    };

    const aLife = async (name: string): Promise<void> => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob(name));
      const suspend = { body: { spec: { suspend: true } }, ...merge };
      await raw(subject, 'PATCH', paths.cronJobs(namespace, name), suspend);
      await raw(subject, 'PATCH', paths.cronJobs(namespace, name), suspend); // changes nothing, tells nothing
      await prepare(subject, 'DELETE', paths.cronJobs(namespace, name), {});
    };

    test('a watch from a list tells what came after, each write once', async () => {
      const from = await versionNow();
      const watching = watch(from, (lines) => lines.length === 3);
      await aLife('one');
      const lines = await watching;
      assert.deepEqual(lines.map(said), ['ADDED one', 'MODIFIED one', 'DELETED one']);
      const versions = lines.map(({ object }) => BigInt(object.metadata.resourceVersion));
      assert.ok(versions.every((version, n) => version > (versions[n - 1] ?? BigInt(from))));
      assert.equal(lines[0]?.object.kind, 'CronJob');
    });

    test('a watch resumes at any version that it has told', async () => {
      const from = await versionNow();
      await aLife('two');
      const [added] = await watch(from, (lines) => lines.length === 1);
      const rest = await watch(added?.object.metadata.resourceVersion, (lines) => lines.length === 2);
      assert.deepEqual(rest.map(said), ['MODIFIED two', 'DELETED two']);
    });

    test('the server ends a watch by time, with a bookmark shortly before', async () => {
      const from = await versionNow();
      await prepare(subject, 'POST', paths.leases(namespace), { metadata: { name: 'passing' }, spec: {} });
      // Where no CronJob changes, the server's cache learns of newer versions when somebody lists; a busy server now and then is late.
      let lines: WatchLine[] = [];
      for (let tries = 0; lines.length === 0 && tries < 3; tries++) {
        assert.ok(BigInt(await versionNow()) > BigInt(from));
        lines = await watch(from, () => false, 8);
      }
      assert.deepEqual([...new Set(lines.map(({ type }) => type))], ['BOOKMARK'], 'one, or two of a busy server');
      const { kind, metadata } = lines[0]?.object ?? {};
      assert.equal(kind, 'CronJob');
      assert.ok(BigInt(metadata.resourceVersion) >= BigInt(from));
    });

    test('an object that stops matching a selector is DELETED as it was, with the new version', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('three', { labels: { in: 'yes' } }));
      const { body } = await raw(subject, 'GET', paths.cronJobs(namespace, 'three'));
      const from = body.metadata.resourceVersion;
      await raw(subject, 'PATCH', paths.cronJobs(namespace, 'three'), {
        body: { metadata: { labels: { in: 'no' } } },
        ...merge,
      });
      await raw(subject, 'PATCH', paths.cronJobs(namespace, 'three'), {
        body: { metadata: { labels: { in: 'yes' } } },
        ...merge,
      });
      const query = `?watch=1&labelSelector=in%3Dyes&resourceVersion=${from}&timeoutSeconds=20`;
      const [gone, back] = await watchUntil(subject, paths.cronJobs(namespace) + query, (lines) => lines.length === 2);
      assert.deepEqual([gone?.type, gone?.object.metadata.labels.in, back?.type], ['DELETED', 'yes', 'ADDED']);
      assert.ok(BigInt(gone?.object.metadata.resourceVersion) > BigInt(from));
    });

    test('deleted and created anew under one name: two objects, by UID', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('four'));
      const from = await versionNow();
      await prepare(subject, 'DELETE', paths.cronJobs(namespace, 'four'), {});
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('four'));
      const [gone, made] = await watch(from, (lines) => lines.length === 2);
      assert.deepEqual([gone?.type, made?.type], ['DELETED', 'ADDED']);
      assert.notEqual(gone?.object.metadata.uid, made?.object.metadata.uid);
    });

    test('custom resources are watched like all others', async () => {
      const from = await versionNow('CronJobMonitor');
      await prepare(subject, 'POST', paths.monitors(namespace), {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'm' },
        spec: {},
      });
      const abort = new AbortController();
      const request = { kind: 'CronJobMonitor', namespace, resourceVersion: from, timeoutSeconds: 20 } as const;
      const chunks = await subject().client.watch(request, abort.signal);
      const [added] = await collect(chunks, (lines) => lines.length === 1, abort);
      assert.equal(added && said(added), 'ADDED m');
    });

    test('a version that is too old is one ERROR event of 410 in an answer of 200', async () => {
      const from = await versionNow();
      await aLife('five');
      await subject().forgetHistory();
      const lines = await watch(from, () => false);
      assert.deepEqual(
        lines.map(({ type, object }) => [type, object.kind, object.code, object.reason]),
        [['ERROR', 'Status', 410, 'Expired']],
      );
    });
  });
}
