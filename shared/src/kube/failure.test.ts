import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock, goldenCases, type GoldenStep } from '../testing/index.ts';
import { ClusterError, type ClusterErrorCode } from './cluster.ts';
import { errorCode, retryAfterMs, toAnswerError, toConnectionError } from './failure.ts';

const clock = new FakeClock(Date.parse('2026-11-21T07:53:00Z'));
const asked = { verb: 'list', resource: 'cronjobs' };

function errorOf(status: number, body: unknown, headers: Record<string, string> = {}): ClusterError {
  return toAnswerError(asked, { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, clock);
}

/** [status, reason, code] */
const rows: [number, string | undefined, ClusterErrorCode][] = [
  [400, 'BadRequest', 'invalid'],
  [401, 'Unauthorized', 'unauthorized'],
  [403, 'Forbidden', 'forbidden'],
  [404, 'NotFound', 'notFound'],
  [405, 'MethodNotAllowed', 'invalid'],
  [406, 'NotAcceptable', 'invalid'],
  [408, undefined, 'timeout'],
  [409, 'Conflict', 'conflict'],
  [409, 'AlreadyExists', 'alreadyExists'],
  [410, 'Expired', 'gone'],
  [410, 'Gone', 'gone'],
  [500, 'Expired', 'gone'],
  [413, 'RequestEntityTooLarge', 'invalid'],
  [415, 'UnsupportedMediaType', 'invalid'],
  [422, 'Invalid', 'invalid'],
  [429, undefined, 'throttled'],
  [429, 'TooManyRequests', 'throttled'],
  [500, 'InternalError', 'unavailable'],
  [503, 'ServiceUnavailable', 'unavailable'],
  [504, 'Timeout', 'unavailable'],
  [301, undefined, 'badAnswer'],
];

for (const [status, reason, code] of rows) {
  test(`answer ${status} ${reason ?? 'without a reason'} is ${code}`, () => {
    const error = errorOf(status, reason === undefined ? 'no' : { kind: 'Status', reason });
    assert.equal(error.code, code);
    assert.equal(error.status, status);
    assert.equal(error.reason, reason);
  });
}

/** Every recorded answer that is an error, once for each status and reason. */
function recordedErrors(): GoldenStep[] {
  const topics = ['auth', 'edge', 'leases', 'lists', 'overload', 'pod-logs', 'watch', 'writes'];
  const steps = topics.flatMap((topic) => goldenCases(topic)).flatMap(({ steps }) => steps);
  return steps.filter(({ response }) => response.status >= 400);
}

test('every recorded refusal is understood, with the sentence of the server', () => {
  const errors = recordedErrors();
  for (const { request, response } of errors) {
    const error = errorOf(response.status, response.body ?? '', response.headers);
    const name = `${request.method} ${request.path}: ${error.message}`;
    assert.notEqual(error.code, 'badAnswer', name);
    assert.ok(error.message.startsWith(`list cronjobs: ${response.status}`), name);
    const { message } = (response.body ?? {}) as { message?: string };
    if (message !== undefined && message.length < 150 && !message.includes('oken'))
      assert.ok(error.message.includes(message.slice(0, 20)), name);
    assert.ok(error.message.length <= 320, name);
  }
  assert.ok(errors.length > 100, `${errors.length} refusals`);
});

test('a refusal by a server that is full is plain text and says when to come back', () => {
  const error = errorOf(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
  assert.equal(error.message, 'list cronjobs: 429: Too many requests, please try again later.');
  assert.equal(error.retryAfterMs, 1000);
  assert.equal(error.reason, undefined);
});

test('the sentence of the server is cut at 200 characters and holds no secrets', () => {
  assert.equal(errorOf(400, { message: 'x'.repeat(5000) }).message, `list cronjobs: 400: ${'x'.repeat(200)}`);
  assert.equal(errorOf(400, { message: 'bad token: abcdef' }).message, 'list cronjobs: 400: bad token: ***');
  assert.equal(errorOf(400, { message: 'two\nlines\u001b[1m' }).message, 'list cronjobs: 400: two lines [1m');
});

test('a page of another server is not repeated', () => {
  assert.equal(errorOf(502, '<html><body>Bad gateway</body></html>').message, 'list cronjobs: 502');
  assert.equal(errorOf(500, '{"error": {"secret": 1}}').message, 'list cronjobs: 500');
  assert.equal(errorOf(500, '[1').message, 'list cronjobs: 500');
});

/** [Retry-After, Date, milliseconds] */
const waits: [string | undefined, string | undefined, number | undefined][] = [
  ['7', undefined, 7000],
  [' 0 ', undefined, 0],
  ['Sat, 21 Nov 2026 07:53:30 GMT', undefined, 30_000],
  ['Sat, 21 Nov 2026 07:53:30 GMT', 'Sat, 21 Nov 2026 07:53:20 GMT', 10_000],
  ['Sat, 21 Nov 2026 07:00:00 GMT', undefined, 0],
  ['-5', undefined, undefined],
  ['1.5', undefined, undefined],
  ['soon', undefined, undefined],
  [undefined, undefined, undefined],
];

for (const [value, date, ms] of waits) {
  test(`Retry-After ${value ?? 'absent'}${date === undefined ? '' : ' against the date of the answer'}`, () => {
    assert.equal(retryAfterMs({ 'retry-after': value, date }, clock), ms);
  });
}

test('a call without an answer tells the code of the connection and nothing else of it', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6443'), { code: 'ECONNREFUSED' });
  const error = toConnectionError(asked, new TypeError('fetch failed', { cause: refused }));
  assert.equal(error.code, 'unreachable');
  assert.equal(error.message, 'list cronjobs: the connection failed (ECONNREFUSED)');
  assert.equal(error.cause, undefined);
  const slow = toConnectionError(asked, Object.assign(new Error('slow'), { code: 'UND_ERR_CONNECT_TIMEOUT' }));
  assert.equal(slow.code, 'timeout');
  assert.equal(toConnectionError(asked, 'what').message, 'list cronjobs: the connection failed');
});

test('an error of the cluster stays what it is', () => {
  const error = new ClusterError('gone', { ...asked, message: 'gone' });
  assert.equal(toConnectionError(asked, error), error);
});

test('a code that is no code is not told', () => {
  assert.equal(errorCode(Object.assign(new Error('x'), { code: 'has a secret' })), undefined);
  assert.equal(errorCode(Object.assign(new Error('x'), { code: 20 })), undefined);
  assert.equal(errorCode(undefined), undefined);
});
