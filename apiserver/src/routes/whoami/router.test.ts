import assert from 'node:assert/strict';
import { test } from 'node:test';
import { abilities, type Whoami } from '@cronjob-monitor/shared/contract';
import { startApi } from '../../testing/api.ts';

test('mode none asks for no identity, and every caller may do everything', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/whoami?namespace=prod');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers['etag'], undefined);
  assert.deepEqual(answer.json(), {
    mode: 'none',
    authenticated: false,
    user: null,
    namespace: 'prod',
    readOnly: false,
    defaultTimeZone: 'UTC',
    can: Object.fromEntries(abilities.map((ability) => [ability, true])),
  });
  assert.equal(((await api.ask('/api/v1/whoami')).json() as Whoami).namespace, null);
});

test('while read-only no caller may change anything', async () => {
  await using api = await startApi({ settings: { readOnly: true } });
  const { can, readOnly } = (await api.ask('/api/v1/whoami')).json() as Whoami;
  assert.equal(readOnly, true);
  const allowed = abilities.filter((ability) => can[ability]);
  assert.deepEqual(allowed, [
    'read',
    'readLogs',
    'readMonitors',
    'preview',
    'readChannels',
    'testPattern',
    'readConfig',
  ]);
});
