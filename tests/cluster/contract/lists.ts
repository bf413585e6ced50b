import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ClusterError } from '@cronjob-monitor/shared/kube';
import { aNamespace, prepare, raw, type Subject } from '../contract-cluster.ts';
import { aCronJob, paths } from '../kube-objects.ts';

const forever = new AbortController().signal;
const nameOf = (object: unknown): string => (object as { metadata: { name: string } }).metadata.name;

/** Paging, selectors and versions of lists. */
export function listContract(subject: Subject): void {
  describe('lists', () => {
    let namespace = '';
    before(async () => {
      namespace = await aNamespace(subject);
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
        await prepare(
          subject,
          'POST',
          paths.cronJobs(namespace),
          aCronJob(name, { labels: { half: name < 'd' ? '1' : '2' } }),
        );
      }
    });

    test('pages hold what one list holds, each once, at one version', async () => {
      const { client } = subject();
      const names: string[] = [];
      const versions = new Set<string>();
      let continueToken: string | undefined;
      do {
        const page = await client.listPage({ kind: 'CronJob', namespace, limit: 3, continueToken }, forever);
        assert.ok(page.items.length <= 3);
        names.push(...page.items.map(nameOf));
        versions.add(page.resourceVersion);
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      assert.deepEqual(names, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
      assert.equal(versions.size, 1);
    });

    test('a page does not show what was created after the first one', async () => {
      const { client } = subject();
      const first = await client.listPage({ kind: 'CronJob', namespace, limit: 5 }, forever);
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('z'));
      const second = await client.listPage(
        { kind: 'CronJob', namespace, limit: 5, continueToken: first.continueToken },
        forever,
      );
      assert.deepEqual(second.items.map(nameOf), ['f', 'g']);
      await prepare(subject, 'DELETE', paths.cronJobs(namespace, 'z'), {});
    });

    test('a list over all namespaces has those of this one', async () => {
      const page = await subject().client.listPage({ kind: 'CronJob' }, forever);
      const here = page.items.filter(
        (item) => (item as { metadata: { namespace: string } }).metadata.namespace === namespace,
      );
      assert.equal(here.length, 7);
    });

    test('a page says how many are left, unless a selector is given', async () => {
      const plain = await raw(subject, 'GET', `${paths.cronJobs(namespace)}?limit=2`);
      assert.equal(plain.body.metadata.remainingItemCount, 5);
      const selected = await raw(subject, 'GET', `${paths.cronJobs(namespace)}?limit=2&labelSelector=half%3D2`);
      assert.deepEqual(selected.body.items.map(nameOf), ['d', 'e']);
      assert.equal(selected.body.metadata.remainingItemCount, undefined);
    });

    test('items of a list carry no kind, the list does', async () => {
      const { body } = await raw(subject, 'GET', paths.cronJobs(namespace));
      assert.deepEqual([body.kind, body.items[0].kind], ['CronJobList', undefined]);
    });

    test('a field selector that is not supported is refused', async () => {
      const { status, body } = await raw(
        subject,
        'GET',
        `${paths.cronJobs(namespace)}?fieldSelector=spec.suspend%3Dtrue`,
      );
      assert.deepEqual([status, body.reason], [400, 'BadRequest']);
    });

    test('a resource of a custom group that is not there is 404 without a Status', async () => {
      const { status, body } = await raw(subject, 'GET', '/apis/cronjob-monitor.io/v1alpha1/nothings');
      assert.deepEqual([status, body], [404, '404 page not found\n']);
    });

    test('a continue token that is too old is 410, and the list can be started again', async () => {
      const { client } = subject();
      const { continueToken } = await client.listPage({ kind: 'CronJob', namespace, limit: 3 }, forever);
      await prepare(subject, 'POST', paths.cronJobs(namespace), aCronJob('later'));
      await subject().forgetHistory();
      const late = client.listPage({ kind: 'CronJob', namespace, limit: 3, continueToken }, forever);
      await assert.rejects(late, (error) => error instanceof ClusterError && error.code === 'gone');
      assert.equal((await client.listPage({ kind: 'CronJob', namespace }, forever)).items.length, 8);
    });
  });
}
