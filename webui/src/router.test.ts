import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addressOf, inCluster, placeOf, routes, type PageName } from './router.svelte.ts';

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

  test('stays in the cluster that is shown, unless it names another one or is no page of ours', () => {
    const rows: readonly (readonly [address: string, led: string])[] = [
      ['/', '/?cluster=eu'],
      ['/cronjobs/a/b?part=runs#L120', '/cronjobs/a/b?part=runs&cluster=eu#L120'],
      ['/alerts?cluster=us', '/alerts?cluster=us'],
      ['/alerts#a?b', '/alerts?cluster=eu#a?b'],
      ['/swagger/', '/swagger/'],
      ['/api/v1/cronjobs', '/api/v1/cronjobs'],
      ['#L120', '#L120'],
      ['//elsewhere/alerts', '//elsewhere/alerts'],
      ['https://runbooks.example/a?b=c', 'https://runbooks.example/a?b=c'],
    ];
    for (const [address, led] of rows) assert.equal(inCluster(address, 'eu'), led);
    assert.equal(inCluster('/alerts', ''), '/alerts');
  });

  test('can lead into another cluster, whose name may be hostile', () => {
    const address = addressOf('alerts', {}, { view: 'history', cluster: 'a&b=c' });
    assert.equal(address, '/alerts?view=history&cluster=a%26b%3Dc');
    assert.equal(inCluster(address, 'eu'), address);
  });

  test('of every page leads to that page', () => {
    const params = { namespace: 'n', name: 'm', jobName: 'j', id: 'i' };
    for (const page of Object.keys(routes) as PageName[]) assert.equal(placeOf(addressOf(page, params)).page, page);
  });
});
