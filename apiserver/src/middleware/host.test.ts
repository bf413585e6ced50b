import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../testing/api.ts';

const settings = { allowedHosts: ['monitor.example.org', '*.apps.example.org'], externalHost: 'cron.example.com' };

const accepted = [
  '127.0.0.1',
  '127.0.0.1:8080',
  '10.1.2.3:80',
  '[::1]',
  '[::1]:8080',
  'localhost',
  'LOCALHOST:8080',
  'localhost.',
  'a.localhost:1',
  'cronjob-monitor',
  'cronjob-monitor:8080',
  'cronjob-monitor.ops.svc',
  'cronjob-monitor.ops.svc.cluster.local:8080',
  'monitor.example.org',
  'Monitor.Example.org.:443',
  'x.apps.example.org',
  'x.y.apps.example.org',
  'cron.example.com',
];

const refused = [
  'evil.example',
  'example.org',
  'monitor.example.org.evil.example',
  'evilapps.example.org',
  'apps.example.org',
  'cluster.local',
  'evil.svc.example',
  '127.0.0.1.evil.example',
  '127.0.0.1@evil.example',
  'localhost:8080:8080',
  'localhost:port',
  'a b',
  'a/b',
  '[::1',
  '[evil.example]',
  '..',
  '-',
];

test('accepts literals, local and cluster names, and what the configuration lists', async () => {
  await using api = await startApi({ settings });
  for (const host of accepted) {
    const { status } = await api.ask('/api/v1/config', { headers: { Host: host } });
    assert.equal(status, 200, host);
  }
});

test('refuses every other Host with 421, on every path and before anything else', async () => {
  await using api = await startApi({ settings });
  for (const host of refused) {
    const answer = await api.ask('/api/v1/config', { headers: { Host: host } });
    assert.equal(answer.status, 421, host);
    assert.equal(answer.error().code, 'HOST_NOT_ALLOWED');
  }
  for (const path of ['/', '/api/v1/nothing', '/api/v1/%zz', '/assets/x.js']) {
    const answer = await api.ask(path, {
      method: 'POST',
      headers: { Host: 'evil.example', Origin: 'http://evil.example' },
    });
    assert.equal(answer.status, 421, path);
  }
});

test('judges the target of a proxy request, not the header beside it', async () => {
  await using api = await startApi({ settings });
  const outside = await api.ask('http://evil.example/api/v1/config', { headers: { Host: 'localhost' } });
  assert.equal(outside.status, 421);
  const own = await api.ask('http://localhost/api/v1/config', { headers: { Host: 'localhost' } });
  assert.equal(own.status, 200);
});
