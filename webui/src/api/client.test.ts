import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test';
import { act, ApiError, get, onTokenRefused, urlOf, useToken } from './client.ts';

/** What was asked, and what the next answers are. */
let asked: { url: string; headers: Headers; init: RequestInit }[] = [];
let answers: (() => Response)[] = [];
const realFetch = globalThis.fetch;

beforeEach(() => {
  asked = [];
  answers = [];
  globalThis.fetch = async (url, init = {}) => {
    asked.push({ url: typeof url === 'string' ? url : '', headers: new Headers(init.headers), init });
    const next = answers.shift();
    if (!next) throw new TypeError('fetch failed');
    return next();
  };
});
afterEach(() => {
  globalThis.fetch = realFetch;
  useToken(null);
});

const json =
  (value: unknown, init: ResponseInit = {}) =>
  () =>
    new Response(JSON.stringify(value), init);

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ApiError);
  return error;
}

describe('an address of the API', () => {
  test('joins lists and leaves out what is empty', () => {
    assert.equal(
      urlOf('cronjobs', { status: ['critical', 'warning'], search: '', ns: [], recent: 0, force: false, x: undefined }),
      '/api/v1/cronjobs?status=critical%2Cwarning&recent=0&force=false',
    );
  });
});

describe('a question', () => {
  test('is asked once in full and then conditionally; the same answer is told as unchanged', async () => {
    answers = [
      json({ a: 1 }, { headers: { etag: 'W/"1"', date: 'Sat, 21 Nov 2026 14:03:00 GMT' } }),
      () => new Response(null, { status: 304 }),
    ];
    const first = await get<{ a: number }>('once');
    assert.deepEqual(first, { value: { a: 1 }, changed: true, servedAt: Date.parse('2026-11-21T14:03:00Z') });
    const second = await get<{ a: number }>('once');
    assert.equal(asked[1]?.headers.get('if-none-match'), 'W/"1"');
    assert.deepEqual([second.value, second.changed], [{ a: 1 }, false]);
  });

  test('carries the token of this tab, and none when there is none', async () => {
    answers = [json({}), json({})];
    await get('token');
    useToken('secret');
    await get('token');
    assert.deepEqual(
      asked.map(({ headers }) => headers.get('authorization')),
      [null, 'Bearer secret'],
    );
  });

  test('whose token is refused is told to whoever asked to hear of it; the question who we are answers itself', async () => {
    let told = 0;
    const stop = onTokenRefused(() => (told += 1));
    const error = { code: 'UNAUTHENTICATED', message: 'No longer', requestId: 'q7Zk' };
    answers = Array.from({ length: 3 }, () => json({ error }, { status: 401 }));
    await failureOf(get('stats'));
    await failureOf(get('whoami'));
    assert.equal(told, 1);
    stop();
    await failureOf(get('stats'));
    assert.equal(told, 1);
  });

  test('that is refused throws the sentence of the server, its code and the request id', async () => {
    const error = { code: 'FORBIDDEN', message: 'You may not', requestId: 'q7Zk', details: { verb: 'list' } };
    answers = [json({ error }, { status: 403 })];
    const failure = await failureOf(get('refused'));
    assert.deepEqual(
      [failure.message, failure.code, failure.status, failure.requestId, failure.details?.verb],
      ['You may not', 'FORBIDDEN', 403, 'q7Zk', 'list'],
    );
  });

  test('says when to try again', async () => {
    const error = { code: 'DATABASE_UNAVAILABLE', message: 'No connection', requestId: 'x' };
    answers = [json({ error }, { status: 503, headers: { 'retry-after': '5' } })];
    assert.equal((await failureOf(get('later'))).retryAfterSeconds, 5);
  });

  test('that something else than the service answers is a failure with a request id where there is one', async () => {
    answers = [() => new Response('<html>bad gateway', { status: 502, headers: { 'x-request-id': 'edge' } })];
    const failure = await failureOf(get('proxy'));
    assert.deepEqual([failure.code, failure.status, failure.requestId], ['BAD_ANSWER', 502, 'edge']);
  });

  test('that nobody answers is a failure of status 0', async () => {
    const failure = await failureOf(get('nobody'));
    assert.deepEqual([failure.code, failure.status], ['UNREACHABLE', 0]);
  });

  test('takes the body of an unhealthy service as an answer', async () => {
    answers = [json({ status: 'unhealthy' }, { status: 503 })];
    assert.deepEqual((await get<{ status: string }>('health')).value, { status: 'unhealthy' });
  });

  test('that is aborted throws the reason and no failure of the service', async (t: TestContext) => {
    const abort = new AbortController();
    globalThis.fetch = async (_url, init) => {
      abort.abort(new Error('left'));
      throw init?.signal?.reason;
    };
    t.after(() => (globalThis.fetch = realFetch));
    await assert.rejects(get('aborted', {}, abort.signal), /left/);
  });
});

test('what changes something sends JSON only when it has a body', async () => {
  answers = [json({ success: true }), json({ success: true })];
  await act('POST', 'cronjobs/a/b/trigger', undefined, { force: true });
  await act('POST', 'admin/prune', { olderThanDays: 30 });
  assert.deepEqual(
    asked.map(({ url, headers, init }) => [url, init.method, headers.get('content-type'), init.body]),
    [
      ['/api/v1/cronjobs/a/b/trigger?force=true', 'POST', null, undefined],
      ['/api/v1/admin/prune', 'POST', 'application/json', '{"olderThanDays":30}'],
    ],
  );
});
