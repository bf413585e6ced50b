import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
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

test('refuses two Host headers: one of them is not the one that a proxy went by', async () => {
  await using api = await startApi({ settings });
  for (const [first, second] of [
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
    ['localhost', 'localhost'],
  ] as const) {
    const answer = await say(
      api.server.port,
      `GET /api/v1/config HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 400 [^]*Host: is given more than once/);
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

/** Headers of an unsafe call, and whether it comes from our own pages or a command line. */
const calls: readonly (readonly [Readonly<Record<string, string>>, boolean])[] = [
  [{}, true],
  [{ 'Sec-Fetch-Site': 'same-origin' }, true],
  [{ 'Sec-Fetch-Site': 'none' }, true],
  [{ 'Sec-Fetch-Site': 'same-site' }, false],
  [{ 'Sec-Fetch-Site': 'cross-site' }, false],
  [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost:8080' }, false],
  [{ 'Sec-Fetch-Site': 'same-origin', Origin: 'http://evil.example' }, true],
  [{ Origin: 'http://localhost:8080' }, true],
  [{ Origin: 'https://localhost:8080' }, true],
  [{ Origin: 'http://localhost' }, false],
  [{ Origin: 'http://localhost:8081' }, false],
  [{ Origin: 'http://evil.example' }, false],
  [{ Origin: 'null' }, false],
  [{ Origin: 'nonsense' }, false],
];

for (const [headers, ours] of calls) {
  test(`${ours ? 'lets through' : 'refuses'} an unsafe call with ${JSON.stringify(headers)}`, async () => {
    await using api = await startApi();
    const answer = await api.ask('/api/v1/config', { method: 'POST', headers: { Host: 'localhost:8080', ...headers } });
    assert.equal(answer.status, ours ? 405 : 403);
    if (!ours) assert.equal(answer.error().code, 'CROSS_SITE_REFUSED');
  });
}

test('a default port that one of the two leaves out makes no difference', async () => {
  await using api = await startApi();
  const headers = { Host: 'localhost:443', Origin: 'https://localhost' };
  assert.equal((await api.ask('/api/v1/config', { method: 'POST', headers })).status, 405);
});

test('safe methods are not asked where they come from', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/config', { headers: { 'Sec-Fetch-Site': 'cross-site' } });
  assert.equal(answer.status, 200);
});

test('it is asked before the path is looked at', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/nothing', { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } });
  assert.equal(answer.status, 403);
});

/** What is answered to these bytes: a client of HTTP sends no header twice that may come once. */
async function say(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(bytes);
  return text(socket);
}
