import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { createProbes } from './listen.ts';

interface Answer {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly body: string;
}

async function aProbe(t: TestContext, reasons: readonly string[]) {
  const probes = createProbes({ address: { host: '127.0.0.1', port: 0 }, unreadyBecause: () => reasons });
  const port = await probes.start();
  t.after(() => probes.stop());
  return (path: string, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.on('end', () => resolve({ status: response.statusCode, allow: response.headers.allow, body }));
      });
      asked.on('error', reject).end();
    });
}

test('both probes answer ok', async (t) => {
  const ask = await aProbe(t, []);
  assert.deepEqual(await ask('/healthz'), { status: 200, allow: undefined, body: 'ok' });
  assert.deepEqual(await ask('/readyz?verbose'), { status: 200, allow: undefined, body: 'ok' });
  assert.equal((await ask('/readyz', 'HEAD')).status, 200);
});

test('readiness tells each reason on a line of its own, and health asks no other server', async (t) => {
  const ask = await aProbe(t, ['the database is away', 'caches are not filled']);
  assert.deepEqual(await ask('/readyz'), {
    status: 503,
    allow: undefined,
    body: 'the database is away\ncaches are not filled',
  });
  assert.equal((await ask('/healthz')).status, 200);
});

test('nothing else is served', async (t) => {
  const ask = await aProbe(t, []);
  assert.equal((await ask('/')).status, 404);
  assert.equal((await ask('/healthz/')).status, 404);
  assert.deepEqual(await ask('/healthz', 'POST'), { status: 405, allow: 'GET, HEAD', body: 'method not allowed' });
});

test('a port that is taken is told with the key of the listener', async (t) => {
  const first = createProbes({ address: { host: '127.0.0.1', port: 0 }, unreadyBecause: () => [] });
  const port = await first.start();
  t.after(() => first.stop());
  const second = createProbes({ address: { host: '127.0.0.1', port }, unreadyBecause: () => [] });
  await assert.rejects(second.start(), {
    message: `probes.bind-address cannot listen at 127.0.0.1:${port}: EADDRINUSE`,
  });
  await second.stop();
});

test('without a host it listens on every address', async (t) => {
  const probes = createProbes({ address: { host: undefined, port: 0 }, unreadyBecause: () => [] });
  const port = await probes.start();
  t.after(() => probes.stop());
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } });
  assert.equal(await answer.text(), 'ok');
});
