import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Koa from 'koa';
import type { ApiState } from '../context.ts';
import { serve, type TestServer } from '../testing/http.ts';
import { caching, compression } from './caching.ts';

function ask(port: number, encoding: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/`, { headers: { 'accept-encoding': encoding } });
}

describe('an answer that several requests share', () => {
  const items = Array.from({ length: 500 }, (_, number) => ({ number, name: `job-${number}` }));
  const body = { items };
  let made = 0;
  let server: TestServer;

  before(async () => {
    const app = new Koa<ApiState>();
    app.use(compression());
    app.use(caching({ authenticated: false }));
    app.use((ctx) => {
      ctx.body = body;
    });
    const counted = { toJSON: () => (made++, items) };
    Object.assign(body, { items: counted });
    const answer = app.callback();
    server = await serve((request, response) => void answer(request, response));
  });
  after(() => server.close());

  it('is made into text once, and says the same in every encoding', async () => {
    for (const encoding of ['identity', 'gzip', 'gzip', 'br', 'br']) {
      const answer = await ask(server.port, encoding);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-encoding'), encoding === 'identity' ? null : encoding);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.match(answer.headers.get('vary') ?? '', /Accept-Encoding/i);
      assert.deepEqual(await answer.json(), { items });
    }
    assert.equal(made, 1);
  });

  it('is sent as it is to a client that refuses every encoding, that of plain text too', async () => {
    const answer = await ask(server.port, 'identity;q=0');
    assert.deepEqual([answer.status, answer.headers.get('content-encoding')], [200, null]);
    assert.deepEqual(await answer.json(), { items });
  });

  it('is packed by codecs that others can read', async () => {
    const text = JSON.stringify({ items });
    for (const [encoding, unpack] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const { headers, bytes } = await raw(server.port, { 'accept-encoding': encoding });
      assert.equal(headers['content-encoding'], encoding);
      assert.ok(bytes.length < text.length / 2);
      assert.equal(unpack(bytes).toString('utf8'), text);
    }
  });

  it('is not sent again to who has it', async () => {
    const first = await raw(server.port, { 'accept-encoding': 'gzip' });
    const again = await raw(server.port, { 'accept-encoding': 'gzip', 'if-none-match': String(first.headers['etag']) });
    assert.equal(again.status, 304);
    assert.equal(again.bytes.length, 0);
  });
});

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** The answer as it came: `fetch` unpacks it, and asks for a new one by itself. */
async function raw(port: number, headers: Record<string, string>): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const sent = request({ host: '127.0.0.1', port, headers, agent: false }, (answer) => {
    const pieces: Buffer[] = [];
    answer.on('data', (piece: Buffer) => pieces.push(piece));
    answer.on('end', () =>
      resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(pieces) }),
    );
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
