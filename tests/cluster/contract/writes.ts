import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ClusterError, type ClusterErrorCode } from '@cronjob-monitor/shared/kube';
import { aNamespace, prepare, raw, type Subject } from '../contract-cluster.ts';
import { aCronJob, aJob, paths } from '../kube-objects.ts';

const forever = new AbortController().signal;
const merge = { contentType: 'application/merge-patch+json' };
const is = (code: ClusterErrorCode) => (error: unknown) => error instanceof ClusterError && error.code === code;

/** Creates, conflicts, the patch kinds we send, and status subresources. */
export function writeContract(subject: Subject): void {
  describe('writes', () => {
    let namespace = '';
    before(async () => void (namespace = await aNamespace(subject)));

    test('a second Job of a name is refused as existing', async () => {
      const { client } = subject();
      const job = await client.createJob(namespace, aJob('once', { spec: { suspend: true } }), forever);
      assert.equal((job['metadata'] as { name: string }).name, 'once');
      await assert.rejects(client.createJob(namespace, aJob('once'), forever), is('alreadyExists'));
      assert.ok(await client.findJob({ namespace, name: 'once' }, forever));
      assert.equal(await client.findJob({ namespace, name: 'never' }, forever), undefined);
    });

    test('suspending patches that field alone, and raises the generation once', async () => {
      const { client } = subject();
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('pausing'));
      const key = { namespace, name: 'pausing' };
      const first = (await client.setSuspended(key, true, forever)) as {
        spec: { suspend: boolean; schedule: string };
        metadata: { generation: number; resourceVersion: string };
      };
      assert.deepEqual([first.spec.suspend, first.spec.schedule, first.metadata.generation], [true, '0 0 1 1 *', 2]);
      const again = (await client.setSuspended(key, true, forever)) as typeof first;
      assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
      await assert.rejects(client.setSuspended({ namespace, name: 'never' }, true, forever), is('notFound'));
    });

    test('health is applied as two annotations of ours, whatever others wrote there, and leaves with us', async () => {
      const { client } = subject();
      const annotations = { team: 'data', 'cronjob-monitor.io/health': 'forged' };
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('mirrored', { annotations }));
      const path = paths.cronJobs(namespace, 'mirrored');
      const { uid, generation } = (await raw(subject, 'GET', path)).body.metadata;
      const cronJob = { namespace, name: 'mirrored', uid };
      await client.applyHealth(cronJob, { health: 'Healthy/1', message: 'All is well.' }, forever);
      const { body: told } = await raw(subject, 'GET', path);
      assert.deepEqual(told.metadata.annotations, {
        team: 'data',
        'cronjob-monitor.io/health': 'Healthy/1',
        'cronjob-monitor.io/health-message': 'All is well.',
      });
      assert.equal(told.metadata.generation, generation);
      const own = told.metadata.managedFields.find(({ operation }: { operation: string }) => operation === 'Apply');
      assert.equal(own?.manager, 'cronjob-monitor');
      await client.applyHealth(cronJob, undefined, forever);
      assert.deepEqual((await raw(subject, 'GET', path)).body.metadata.annotations, { team: 'data' });
      const other = { ...cronJob, uid: '00000000-0000-0000-0000-000000000000' };
      const isRefused = (error: unknown): boolean => is('conflict')(error) || is('invalid')(error);
      await assert.rejects(client.applyHealth(other, { health: 'Healthy/1', message: '' }, forever), isRefused);
      await assert.rejects(client.applyHealth({ ...other, name: 'never' }, undefined, forever), isRefused);
      assert.equal((await raw(subject, 'GET', paths.cronJobs(namespace, 'never'))).status, 404);
    });

    test('a warning about a CronJob is an Event of it, and of one name there is one', async () => {
      const { client } = subject();
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('warned'));
      const { uid } = (await raw(subject, 'GET', paths.cronJobs(namespace, 'warned'))).body.metadata;
      const cronJob = { namespace, name: 'warned', uid };
      const at = Date.now();
      const warning = { name: 'warned.1', cronJob, reason: 'InvalidAnnotation', message: 'It counts as absent.', at };
      await client.createWarning(warning, forever);
      await assert.rejects(client.createWarning(warning, forever), is('alreadyExists'));
      const [told, ...more] = (await client.listEvents(namespace, uid, forever)).map((event) => ({
        ...event,
        uid: '',
      }));
      const { reason, message } = warning;
      const wanted = { uid: '', type: 'Warning', reason, message, count: 1, object: 'CronJob/warned', objectUid: uid };
      assert.deepEqual([told, more.length], [{ ...wanted, firstAt: told?.firstAt, lastAt: told?.firstAt }, 0]);
      assert.ok(Math.abs((told?.firstAt ?? 0) - at) < 1_000);
      const elsewhere = { ...warning, cronJob: { ...cronJob, namespace: `${namespace}-not-there` } };
      await assert.rejects(client.createWarning(elsewhere, forever), is('notFound'));
    });

    test('an update with an old version is a conflict, and changes nothing', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('contested'));
      const path = paths.cronJobs(namespace, 'contested');
      const { body: mine } = await raw(subject, 'GET', path);
      await raw(subject, 'PATCH', path, { body: { metadata: { labels: { by: 'other' } } }, ...merge });
      const { status, body } = await raw(subject, 'PUT', path, {
        body: { ...mine, spec: { ...mine.spec, suspend: true } },
      });
      assert.deepEqual([status, body.reason], [409, 'Conflict']);
      assert.equal((await raw(subject, 'GET', path)).body.spec.suspend, false);
    });

    test('a null in a merge patch removes a field', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('nulled', { labels: { a: '1', b: '2' } }));
      const body = { metadata: { labels: { a: null } } };
      const patched = await raw(subject, 'PATCH', paths.cronJobs(namespace, 'nulled'), { body, ...merge });
      assert.deepEqual(patched.body.metadata.labels, { b: '2' });
    });

    test('a JSON patch whose test fails is refused', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('tested'));
      const patch = (suspend: boolean) => ({
        body: [
          { op: 'test', path: '/spec/suspend', value: suspend },
          { op: 'replace', path: '/spec/suspend', value: true },
        ],
        contentType: 'application/json-patch+json',
      });
      const path = paths.cronJobs(namespace, 'tested');
      assert.equal((await raw(subject, 'PATCH', path, patch(true))).status, 422);
      assert.equal((await raw(subject, 'PATCH', path, patch(false))).body.spec.suspend, true);
    });

    test('a patch of no known kind is 415', async () => {
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('typed'));
      const answer = await raw(subject, 'PATCH', paths.cronJobs(namespace, 'typed'), {
        body: {},
        contentType: 'application/json',
      });
      assert.equal(answer.status, 415);
    });

    test('a schedule that cannot be parsed is refused', async () => {
      const answer = await raw(subject, 'POST', paths.cronJobs(namespace), {
        body: aCronJob('bad', { schedule: '60 * * * *' }),
      });
      assert.deepEqual(
        [answer.status, answer.body.reason, answer.body.details.causes[0].field],
        [422, 'Invalid', 'spec.schedule'],
      );
    });

    test('a status is written beside the spec, and an old version of it is a conflict', async () => {
      const { client } = subject();
      const monitor = await prepare(subject, 'POST', paths.monitors(namespace), {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'CronJobMonitor',
        metadata: { name: 'm' },
        spec: { sla: {} },
      });
      const key = { namespace, name: 'm' };
      const version = monitor.metadata.resourceVersion;
      await client.patchMonitorStatus(key, { phase: 'Active', totalCronJobs: 2 }, version, forever);
      const { body } = await raw(subject, 'GET', paths.monitors(namespace, 'm'));
      assert.deepEqual([body.status, body.metadata.generation], [{ phase: 'Active', totalCronJobs: 2 }, 1]);
      assert.equal(body.spec.sla.minSuccessRate, 95);
      await assert.rejects(client.patchMonitorStatus(key, { phase: 'Error' }, version, forever), is('conflict'));
      await client.patchMonitorStatus(key, { totalCronJobs: null, phase: 'Error' }, undefined, forever);
      assert.deepEqual((await raw(subject, 'GET', paths.monitors(namespace, 'm'))).body.status, { phase: 'Error' });
    });

    test('a channel has no namespace, and its status is written like any other', async () => {
      const { client } = subject();
      const channels = '/apis/cronjob-monitor.io/v1alpha1/alertchannels';
      await prepare(subject, 'POST', channels, {
        apiVersion: 'cronjob-monitor.io/v1alpha1',
        kind: 'AlertChannel',
        metadata: { name: namespace },
        spec: { type: 'chat', chat: { webhookSecretRef: { name: 'a', namespace: 'b', key: 'c' } } },
      });
      await client.patchChannelStatus(namespace, { ready: true }, undefined, forever);
      assert.equal((await raw(subject, 'GET', `${channels}/${namespace}`)).body.status.ready, true);
      await assert.rejects(client.patchChannelStatus('none', { ready: true }, undefined, forever), is('notFound'));
    });

    test('a namespace that is being deleted takes no more objects, and goes with what it holds', async () => {
      const doomed = await aNamespace(subject);
      await prepare(subject, 'POST', paths.cronJobs(doomed), aCronJob('inside'));
      await prepare(subject, 'DELETE', `/api/v1/namespaces/${doomed}`, {});
      const refused = await raw(subject, 'POST', paths.cronJobs(doomed), { body: aCronJob('late') });
      assert.ok([403, 404].includes(refused.status), String(refused.status));
    });
  });
}
