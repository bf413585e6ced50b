import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { RawObject, WatchedKind } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { ListOffer, ObjectCache, Reflector, type Projected } from '../../../controller/src/runtime/index.ts';
import {
  aNamespace,
  collect,
  prepare,
  raw,
  until,
  watchUntil,
  type Subject,
  type WatchLine,
} from '../contract-cluster.ts';
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
      // Where no CronJob changes, the server's cache learns of newer versions at the next list; a busy server now and then is late.
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

    test('a watch without a version brings what is there, the mark of its end, then changes', async () => {
      for (const name of ['six', 'seven']) await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob(name));
      const before = await versionNow();
      const abort = new AbortController();
      const request = { kind: 'CronJob', namespace, timeoutSeconds: 20 } as const;
      let isSuspended = false;
      const lines = await collect(
        await subject().client.watch(request, abort.signal),
        (seen) => {
          if (!isSuspended && seen.some(({ type }) => type === 'BOOKMARK')) {
            isSuspended = true;
            void raw(subject, 'PATCH', paths.cronJobs(namespace, 'six'), {
              body: { spec: { suspend: true } },
              ...merge,
            });
          }
          return seen.some(({ type }) => type === 'MODIFIED');
        },
        abort,
      );
      const end = lines.findIndex(({ type }) => type === 'BOOKMARK');
      assert.deepEqual(
        lines
          .slice(0, end)
          .map(said)
          .filter((line) => /six|seven/.test(line)),
        ['ADDED seven', 'ADDED six'],
        'in the order of their names',
      );
      assert.ok(lines.slice(0, end).every(({ type }) => type === 'ADDED'));
      const { annotations, resourceVersion } = lines[end]?.object.metadata ?? {};
      assert.deepEqual(annotations, { 'k8s.io/initial-events-end': 'true' });
      assert.ok(BigInt(resourceVersion) >= BigInt(before), 'as new as a list');
      assert.equal(said(lines.at(-1) as WatchLine), 'MODIFIED six');
    });

    test('a reflector lists by a stream, and finds by it what it has missed', async () => {
      const { client } = subject();
      const logger = new RecordingLogger();
      const cache = new ObjectCache<Projected>({});
      const told: string[] = [];
      let lists = 0;
      const reflector = new Reflector<Projected>({
        cluster: client,
        cache,
        namespace,
        clock: systemClock,
        logger,
        listOffer: new ListOffer(client),
        projection: { kind: 'CronJob', project: toSeen },
        handlers: [({ type, item }) => void told.push(`${type} ${item.name}`)],
        metrics: { listed: () => (lists += 1), restarted() {}, unreadableLine() {}, handlerFailed() {} },
      });
      const isThere = (name: string): boolean => cache.findByName(namespace, name) !== undefined;
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('eight'));
      const stop = new AbortController();
      const running = reflector.run(stop.signal);
      await until('the first list', async () => reflector.state.synced || undefined);
      assert.ok(isThere('eight'));
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('nine'));
      await until('the watch', async () => isThere('nine') || undefined);
      await prepare(subject, 'DELETE', paths.cronJobs(namespace, 'nine'), {});
      await until('the deletion', async () => !isThere('nine') || undefined);
      stop.abort();
      await running;
      assert.equal(lists, 1);
      assert.deepEqual(
        told.filter((line) => line.endsWith(' nine')),
        ['added nine', 'deleted nine'],
      );
      const inPages = logger.lines.filter(({ message }) => message.includes('in pages'));
      assert.deepEqual(inPages, [], 'the stream was whole');
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

function toSeen(object: RawObject): Projected {
  const { uid = '', name = '', namespace = '' } = object['metadata'] as Record<string, string>;
  return { uid, name, namespace };
}
