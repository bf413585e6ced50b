import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressOf, placeOf, routes, type PageName } from './router.svelte.ts';

describe('an address', () => {
  const rows: readonly (readonly [path: string, page: string, params?: Record<string, string>])[] = [
    ['/', 'dashboard'],
    ['/cronjobs', 'cronjobs'],
    ['/cronjobs/', 'cronjobs'],
    ['/cronjobs/prod/backup.v2', 'cronjob', { namespace: 'prod', name: 'backup.v2' }],
    ['/cronjobs/prod/a/runs/a-1', 'run', { namespace: 'prod', name: 'a', jobName: 'a-1' }],
    ['/monitors/prod/dr', 'monitor', { namespace: 'prod', name: 'dr' }],
    ['/alerts/019ab2c4', 'alert', { id: '019ab2c4' }],
    ['/channels/team-chat', 'channel', { name: 'team-chat' }],
    ['/drills/019a', 'drill', { id: '019a' }],
    ['/settings', 'settings'],
    ['/cronjobs/prod', 'unknown'],
    ['/cronjobs/prod/a/runs', 'unknown'],
    ['/favicon.php', 'unknown'],
    ['/cronjobs/prod/%E0%A4%A', 'unknown'],
  ];
  for (const [path, page, params = {}] of rows) {
    test(`${path} is the page ${page}`, () => assert.deepEqual(placeOf(path), { page, params }));
  }

  test('of a page with hostile names comes back as it was', () => {
    const params = { namespace: 'a/b', name: '?x=1#y', jobName: '../..%2f' };
    assert.deepEqual(placeOf(new URL(addressOf('run', params), 'http://x').pathname), { page: 'run', params });
  });

  test('leaves out what is empty', () => {
    assert.equal(addressOf('cronjobs', {}, { status: 'critical', ns: '', q: undefined }), '/cronjobs?status=critical');
    assert.equal(addressOf('cronjobs', {}, { q: 'a b&c' }), '/cronjobs?q=a+b%26c');
  });

  test('of every page leads to that page', () => {
    const params = { namespace: 'n', name: 'm', jobName: 'j', id: 'i' };
    for (const page of Object.keys(routes) as PageName[]) assert.equal(placeOf(addressOf(page, params)).page, page);
  });
});
