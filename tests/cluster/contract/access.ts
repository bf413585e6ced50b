import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { apiRequest } from '../../realcluster/api-request.ts';
import { aNamespace, prepare, until, type Subject } from '../contract-cluster.ts';
import { paths } from '../kube-objects.ts';

const forever = new AbortController().signal;

/** Tokens, roles, and the reviews the API asks for. */
export function accessContract(subject: Subject): void {
  describe('access', () => {
    let namespace = '';
    before(async () => void (namespace = await aNamespace(subject)));

    test('the administrator is known by token, and may do everything', async () => {
      const { client, address } = subject();
      const identity = await client.reviewToken(address.token ?? '', forever);
      assert.ok(identity);
      assert.ok(identity.groups.includes('system:masters'));
      const question = { verb: 'delete', group: 'batch', resource: 'cronjobs', namespace };
      assert.equal(await client.reviewAccess(identity, question, forever), true);
    });

    for (const token of ['', 'garbage', 'a.b.c']) {
      test(`no user is known by the token ${JSON.stringify(token)}`, async () => {
        assert.equal(await subject().client.reviewToken(token, forever), undefined);
      });
    }

    test('a wrong token is 401, none is anonymous and 403', async () => {
      const { url, ca } = subject().address;
      assert.equal((await apiRequest({ url, ca, token: 'wrong' }, 'GET', paths.cronJobs(namespace))).status, 401);
      assert.equal((await apiRequest({ url, ca }, 'GET', paths.cronJobs(namespace))).status, 403);
    });

    test('an account may what its role says, there and no more', async () => {
      const { client, address } = subject();
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      await prepare(subject, 'POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
        metadata: { name: 'reader' },
      });
      await prepare(subject, 'POST', `${rbac}/roles`, {
        metadata: { name: 'reader' },
        rules: [{ apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['list'] }],
      });
      await prepare(subject, 'POST', `${rbac}/rolebindings`, {
        metadata: { name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      });
      const tokens = `/api/v1/namespaces/${namespace}/serviceaccounts/reader/token`;
      const { status } = await prepare(subject, 'POST', tokens, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      });
      const identity = await client.reviewToken(status.token, forever);
      assert.equal(identity?.user, `system:serviceaccount:${namespace}:reader`);
      const may = (verb: string, where: string): Promise<boolean> =>
        client.reviewAccess(identity, { verb, group: 'batch', resource: 'cronjobs', namespace: where }, forever);
      await until('the role takes effect', async () => ((await may('list', namespace)) ? true : undefined));
      assert.deepEqual([await may('delete', namespace), await may('list', 'default')], [false, false]);

      const asReader = { url: address.url, ca: address.ca, token: status.token };
      assert.equal((await apiRequest(asReader, 'GET', paths.cronJobs(namespace))).status, 200);
      const refused = await apiRequest(asReader, 'GET', paths.jobs(namespace));
      assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden']);
    });

    test('a path is reviewed like a resource', async () => {
      const { client } = subject();
      const nobody = { user: 'nobody', uid: undefined, groups: [], extra: {} };
      assert.equal(await client.reviewAccess(nobody, { verb: 'get', path: '/metrics' }, forever), false);
    });

    test('the cluster has a version and a UID of its own', async () => {
      const { client } = subject();
      assert.match(await client.version(forever), /^v1\.\d+\./);
      assert.match(await client.clusterUid(forever), /^[0-9a-f-]{36}$/);
      assert.ok(Math.abs(client.clockSkewMs() ?? Infinity) < 60_000);
    });

    test('a Secret comes decoded, with its labels', async () => {
      const secrets = `/api/v1/namespaces/${namespace}/secrets`;
      await prepare(subject, 'POST', secrets, {
        metadata: { name: 'hook', labels: { 'cronjob-monitor.io/channel-secret': 'true' } },
        stringData: { url: 'https://example.org/hook' },
      });
      const secret = await subject().client.findSecret({ namespace, name: 'hook' }, forever);
      assert.equal(secret?.values.get('url'), 'https://example.org/hook');
      assert.equal(secret.labels['cronjob-monitor.io/channel-secret'], 'true');
      assert.equal(await subject().client.findSecret({ namespace, name: 'none' }, forever), undefined);
    });
  });
}
