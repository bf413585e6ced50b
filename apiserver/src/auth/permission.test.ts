import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilities, type Ability } from '@cronjob-monitor/shared/contract';
import { isNamespaced, missingRight, questionOf } from './permission.ts';

/** security.md section 7: ability, verb, resource, and whether it is asked in the namespace. */
const table: Readonly<Record<Ability, readonly [string, string, boolean] | 'known'>> = {
  read: ['list', 'cronjobs', true],
  readLogs: ['get', 'pods/log', true],
  readMonitors: ['list', 'cronjobmonitors', true],
  preview: ['create', 'cronjobmonitors', true],
  readChannels: ['list', 'alertchannels', false],
  testPattern: 'known',
  trigger: ['create', 'jobs', true],
  suspend: ['patch', 'cronjobs', true],
  deleteHistory: ['delete', 'cronjobs', true],
  acknowledge: ['update', 'cronjobmonitors', true],
  silence: ['update', 'cronjobmonitors', true],
  testChannel: ['update', 'alertchannels', false],
  redrive: ['update', 'alertchannels', false],
  readConfig: ['get', '/api/v1/config', false],
  prune: ['post', '/api/v1/admin/prune', false],
};

for (const ability of abilities) {
  test(`${ability} asks for what the table says`, () => {
    const row = table[ability];
    const question = questionOf(ability, { namespace: 'prod' });
    if (row === 'known') {
      assert.equal(question, undefined);
      return;
    }
    assert.ok(question);
    const [verb, resource, inNamespace] = row;
    assert.deepEqual(missingRight(question), { verb, resource, namespace: inNamespace ? 'prod' : undefined });
    assert.equal(isNamespaced(ability), inNamespace);
  });
}

test('groups are those of the resources', () => {
  const groupOf = (ability: Ability) => (questionOf(ability, {}) as { group?: string }).group;
  assert.deepEqual(
    ['read', 'trigger', 'readLogs', 'silence', 'redrive'].map((ability) => groupOf(ability as Ability)),
    ['batch', 'batch', '', 'cronjob-monitor.io', 'cronjob-monitor.io'],
  );
  const logs = questionOf('readLogs', { namespace: 'prod' });
  assert.deepEqual(logs, {
    verb: 'get',
    group: '',
    resource: 'pods',
    subresource: 'log',
    namespace: 'prod',
  });
});

test('a path is asked about itself', () => {
  assert.deepEqual(questionOf('readConfig', { path: '/api/v1/admin/storage-stats' }), {
    verb: 'get',
    path: '/api/v1/admin/storage-stats',
  });
});
