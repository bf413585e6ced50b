import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test, type TestContext } from 'node:test';
import { act, ApiError, download, get, onTokenRefused, openStream, urlOf, useClusters, useToken } from './client.ts';

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

  test('whose token is refused is told to the one who listens for it; the question who we are answers itself', async () => {
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

  test('without an answer is a failure of status 0', async () => {
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

describe('a service with several clusters', () => {
  afterEach(() => useClusters());

  test('is asked of the one that is shown, whatever is asked and done', async () => {
    let shown = 'eu-west';
    useClusters({ shown: () => shown, learn: () => Promise.resolve() });
    answers = [json({}), json({}), () => new Response(''), () => new Response(''), json({})];
    await get('alerts', { limit: 5 });
    await act('POST', 'cronjobs/a/b/trigger');
    await download('cronjobs', { format: 'csv' });
    await openStream({ carry: 'rows' }, {}, new AbortController().signal);
    shown = 'eu';
    await get('stats');
    assert.deepEqual(
      asked.map(({ url }) => url),
      [
        '/api/v1/alerts?limit=5&cluster=eu-west',
        '/api/v1/cronjobs/a/b/trigger?cluster=eu-west',
        '/api/v1/cronjobs?format=csv&cluster=eu-west',
        '/api/v1/events/stream?carry=rows&cluster=eu-west',
        '/api/v1/stats?cluster=eu',
      ],
    );
  });

  test('is asked of another one, or of all, where the question says so', () => {
    useClusters({ shown: () => 'eu', learn: () => Promise.resolve() });
    assert.equal(urlOf('cronjobs', { cluster: 'us' }), '/api/v1/cronjobs?cluster=us');
    assert.equal(urlOf('incidents', { cluster: '' }), '/api/v1/incidents');
  });

  test('that is not known yet is learnt from the rows of a list, which is asked for again', async () => {
    let shown: string | undefined;
    useClusters({ shown: () => shown, learn: async () => void (shown = 'eu') });
    answers = [json({ items: [{ cluster: 'eu' }, { cluster: 'us' }] }), json({ items: [{ cluster: 'eu' }] })];
    assert.deepEqual((await get('cronjobs')).value, { items: [{ cluster: 'eu' }] });
    assert.deepEqual(
      asked.map(({ url }) => url),
      ['/api/v1/cronjobs', '/api/v1/cronjobs?cluster=eu'],
    );
  });

  test('gives the rows of all where all are asked for, and none is learnt from rows without a name', async () => {
    let learnt = 0;
    useClusters({ shown: () => undefined, learn: async () => void learnt++ });
    answers = [json({ items: [{ cluster: 'eu' }] }), json({ items: [{ name: 'a' }] })];
    await get('incidents', { cluster: '' });
    await get('alerts');
    assert.equal(learnt, 0);
  });
});
