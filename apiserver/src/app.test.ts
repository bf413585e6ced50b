import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from './testing/api.ts';

/** Path, method, status and code of what no route answers. */
const unanswered: readonly (readonly [string, string, number, string])[] = [
  ['GET', '/api/v1/nothing', 404, 'NOT_FOUND'],
  ['GET', '/api/', 404, 'NOT_FOUND'],
  ['GET', '/api', 404, 'NOT_FOUND'],
  ['GET', '/api/v2/stats', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/config/', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/CONFIG', 404, 'NOT_FOUND'],
  ['GET', '/API/v1/config', 404, 'NOT_FOUND'],
  ['GET', '/api/v1/%zz', 400, 'INVALID_REQUEST'],
  ['GET', '/api/v1/%ff', 400, 'INVALID_REQUEST'],
  ['POST', '/api/v1/config', 405, 'METHOD_NOT_ALLOWED'],
  ['POST', '/api/v1/nothing', 404, 'NOT_FOUND'],
  ['PATCH', '/api/v1/health', 405, 'METHOD_NOT_ALLOWED'],
];

for (const [method, path, status, code] of unanswered) {
  test(`answers ${method} ${path} with ${status} ${code} in JSON`, async () => {
    await using api = await startApi();
    const answer = await api.ask(path, { method, headers: { Accept: 'application/json' } });
    assert.equal(answer.status, status);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    const error = answer.error();
    assert.equal(error.code, code);
    assert.equal(error.requestId, answer.headers['x-request-id']);
    assert.equal(answer.headers['cache-control'], 'no-store');
  });
}

test('a wrong method is told the right ones', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/config', { method: 'DELETE' });
  assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
  const error = answer.error();
  assert.deepEqual(error.details, { allowed: ['GET', 'HEAD', 'OPTIONS'] });
});

test('OPTIONS is 204 with Allow and without CORS', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/config', { method: 'OPTIONS', headers: { Origin: 'http://evil.example' } });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
  assert.equal(
    Object.keys(answer.headers).find((name) => name.startsWith('access-control')),
    undefined,
  );
});

test('HEAD is GET without a body', async () => {
  await using api = await startApi();
  const get = await api.ask('/api/v1/config');
  const head = await api.ask('/api/v1/config', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(head.headers['etag'], get.headers['etag']);
  assert.equal(head.headers['content-type'], get.headers['content-type']);
});

test('a read has a weak ETag and gives 304 to who has it already', async () => {
  await using api = await startApi();
  const first = await api.ask('/api/v1/config');
  assert.equal(first.status, 200);
  assert.equal(first.headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(first.headers['cache-control'], 'no-cache');
  const etag = String(first.headers['etag']);
  assert.match(etag, /^W\/"/);
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await api.ask('/api/v1/config', { headers: { 'If-None-Match': known } });
    assert.equal(again.status, 304, known);
    assert.equal(again.text, '');
    assert.equal(again.headers['etag'], etag);
  }
  const changed = await api.ask('/api/v1/config', { headers: { 'If-None-Match': '"other"' } });
  assert.equal(changed.status, 200);
});

test('keeps a harmless request id and makes one otherwise', async () => {
  await using api = await startApi();
  const kept = await api.ask('/api/v1/config', { headers: { 'X-Request-Id': 'a.b_c-1' } });
  assert.equal(kept.headers['x-request-id'], 'a.b_c-1');
  for (const sent of ['', 'a b', 'x'.repeat(65), 'ü', 'a;b']) {
    const made = await api.ask('/api/v1/config', { headers: { 'X-Request-Id': Buffer.from(sent).toString('latin1') } });
    assert.match(String(made.headers['x-request-id']), /^[A-Za-z0-9._-]{12}$/);
  }
});

test('every answer carries the security headers, errors too', async () => {
  await using api = await startApi();
  for (const path of ['/api/v1/config', '/api/v1/nothing', '/api/v1/%zz', '/nothing']) {
    const { headers } = await api.ask(path);
    const policy = String(headers['content-security-policy']);
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"]) {
      assert.ok(policy.split(';').includes(rule), `${path}: ${rule}`);
    }
    assert.ok(!policy.includes('unsafe'), path);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.match(String(headers['permissions-policy']), /camera=\(\)/);
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers['set-cookie'], undefined);
    assert.equal(headers['x-powered-by'], undefined);
  }
});

test('packs a large answer when the client can unpack it', async () => {
  const configView = { long: 'x'.repeat(4_000), sources: {} };
  await using api = await startApi({ settings: { configView } });
  const plain = await api.ask('/api/v1/config');
  assert.equal(plain.headers['content-encoding'], undefined);
  const packed = await api.ask('/api/v1/config', { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(packed.headers['content-encoding'], 'gzip');
  assert.equal(packed.headers['etag'], plain.headers['etag']);
  assert.match(String(packed.headers['vary']), /Accept-Encoding/i);
});

test('unknown parameters are refused by their names', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/config?pretty=1');
  assert.equal(answer.status, 400);
  const error = answer.error();
  assert.equal(error.message, 'pretty: is not a parameter of this endpoint');
  assert.deepEqual(error.details?.problems, [
    { in: 'query', field: 'pretty', message: 'is not a parameter of this endpoint', allowed: 'none' },
  ]);
});

test('measures requests by the pattern of their route', async () => {
  await using api = await startApi();
  await api.ask('/api/v1/config');
  await api.ask('/api/v1/secret-name');
  await api.ask('/api/v1/config', { method: 'BREW'.replace('BREW', 'PUT') });
  const text = await api.registry.metrics();
  assert.match(text, /api_request_duration_seconds_count\{method="GET",route="\/api\/v1\/config",status="200"\} 1/);
  assert.match(text, /api_request_duration_seconds_count\{method="GET",route="unknown",status="404"\} 1/);
  assert.match(text, /api_request_duration_seconds_count\{method="PUT",route="\/api\/v1\/config",status="405"\} 1/);
  assert.match(text, /cronjob_monitor_api_refused_total\{code="NOT_FOUND"\} 1/);
  assert.match(text, /cronjob_monitor_api_requests_in_flight 0/);
  assert.ok(!text.includes('secret-name'));
});

test('a stopping API takes no new requests and lets go of connections', async () => {
  await using api = await startApi();
  await api.api.stop();
  const answer = await api.ask('/api/v1/config');
  assert.equal(answer.status, 503);
  assert.equal(answer.error().code, 'SHUTTING_DOWN');
  assert.equal(answer.headers['connection'], 'close');
  assert.ok(api.problems.unreadyBecause().includes('it is stopping'));
});
