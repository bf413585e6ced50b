import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError, decodeChannelSpec, type SecretContent, type SecretRules } from '@cronjob-monitor/shared/kube';
import { lookAtSecrets } from './reconcile.ts';

const canary = 'https://hooks.example.org/services/canary';
const never = new AbortController().signal;
const { spec } = decodeChannelSpec({
  spec: { type: 'chat', chat: { webhookSecretRef: { name: 'chat', namespace: 'ops', key: 'url' } } },
});

async function look(
  content: SecretContent | undefined | ClusterError,
  rules: SecretRules = { namespaces: ['ops'], labelled: [] },
): Promise<{ findings: unknown[]; reads: number }> {
  let reads = 0;
  assert.ok(spec);
  const cluster = {
    findSecret() {
      reads++;
      return content instanceof ClusterError ? Promise.reject(content) : Promise.resolve(content);
    },
  };
  const looks = await lookAtSecrets(spec, { cluster, rules }, never);
  return { findings: looks.map(({ finding }) => finding), reads };
}

const secret = (value: string, labels: Record<string, string> = {}): SecretContent => ({
  labels,
  resourceVersion: '7',
  values: new Map([['url', value]]),
});

test('a Secret with an address can be used', async () => {
  assert.deepEqual((await look(secret(canary))).findings, [{ state: 'usable' }]);
});

test('a Secret in a namespace that is not allowed is not even read', async () => {
  assert.deepEqual(await look(secret(canary), { namespaces: ['monitoring'], labelled: [] }), {
    findings: [{ state: 'notAllowed' }],
    reads: 0,
  });
});

test('where a label is required, a Secret without it is refused', async () => {
  const rules = { namespaces: ['*'], labelled: ['ops'] };
  assert.deepEqual((await look(secret(canary), { ...rules, labelled: ['monitoring'] })).findings, [
    { state: 'usable' },
  ]);
  assert.deepEqual((await look(secret(canary), rules)).findings, [{ state: 'unlabelled' }]);
  const labelled = secret(canary, { 'cronjob-monitor.io/channel-secret': 'true' });
  assert.deepEqual((await look(labelled, rules)).findings, [{ state: 'usable' }]);
});

test('a missing Secret, a missing key and a missing right are told apart', async () => {
  assert.deepEqual((await look(undefined)).findings, [{ state: 'notFound' }]);
  assert.deepEqual((await look({ ...secret(canary), values: new Map() })).findings, [{ state: 'keyMissing' }]);
  const forbidden = new ClusterError('forbidden', { verb: 'get', resource: 'secrets', message: 'no' });
  assert.deepEqual((await look(forbidden)).findings, [{ state: 'noRight' }]);
});

for (const value of ['not an address', 'ftp://example.org/', 'https://user:canary@example.org/']) {
  test(`a value that cannot be sent to is refused without telling it: ${value.slice(0, 8)}`, async () => {
    const { findings } = await look(secret(value));
    assert.equal((findings[0] as { state: string }).state, 'unusable');
    assert.doesNotMatch(JSON.stringify(findings), /canary|example\.org/);
  });
}

test('a Secret that is not a key of a paging service is refused before it is sent as one', async () => {
  const { spec: paging } = decodeChannelSpec({
    spec: { type: 'paging', paging: { routingKeySecretRef: { name: 'database', namespace: 'ops', key: 'password' } } },
  });
  assert.ok(paging);
  const content: SecretContent = { labels: {}, resourceVersion: '7', values: new Map([['password', 'canary canary']]) };
  const cluster = { findSecret: () => Promise.resolve(content) };
  const [found] = await lookAtSecrets(paging, { cluster, rules: { namespaces: ['ops'], labelled: [] } }, never);
  assert.equal(found?.finding.state, 'unusable');
  assert.doesNotMatch(JSON.stringify(found), /canary/);
});

test('an API server that does not answer is no finding: the look is repeated', async () => {
  const away = new ClusterError('unreachable', { verb: 'get', resource: 'secrets', message: 'no connection' });
  await assert.rejects(look(away), { code: 'unreachable' });
});
