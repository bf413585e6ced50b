import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { test, type TestContext } from 'node:test';
import tls, { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { FakeClock, aTemporaryFolder, RecordingLogger } from '../testing/index.ts';
import { type CertificateSource, type ValidPair, createOwnCertificate } from './certificate-source.ts';
import { createMetricsListener, SharedText, createConfiguredMetrics } from './metrics-listener.ts';
import type { Review } from './review-cache.ts';
import { loadConfig } from '../config/index.ts';
import { createProcessMetrics } from './metrics/index.ts';

const address = { host: '127.0.0.1', port: 0 };
const text = '# HELP up Up.\n# TYPE up gauge\nup 1\n';

interface Told {
  scraped: number;
  expiresAt: number;
  rendered: number;
}

function someMetrics(pieces: readonly string[] = [text]) {
  const told: Told = { scraped: 0, expiresAt: 0, rendered: 0 };
  return {
    told,
    render: async function* () {
      told.rendered += 1;
      yield* pieces;
    },
    scraped: () => void (told.scraped += 1),
    certificateExpires: (at: number) => void (told.expiresAt = at),
  };
}

async function plain(t: TestContext, metrics = someMetrics()) {
  const listener = createMetricsListener({ address, secure: undefined, metrics, clock: new FakeClock() });
  const port = await listener.start();
  t.after(() => listener.stop());
  return { port, ...metrics };
}

async function aPair(expiresAt = 2_000_000_000_000): Promise<ValidPair> {
  const pair = await createOwnCertificate({
    names: ['localhost'],
    addresses: ['127.0.0.1'],
    now: Date.now(),
    lifetimeMs: 3_600_000,
  });
  return { ...pair, expiresAt };
}

/** A listener by HTTPS whose reviews answer by the token itself; `rotate` hands it another certificate. */
async function secured(t: TestContext) {
  const pair = await aPair();
  let rotate: (pair: ValidPair) => void = () => {};
  const certificates: CertificateSource = {
    first: async () => pair,
    watch: (onChange) => {
      rotate = onChange;
    },
  };
  const reviews = { ask: async (token: string) => token as Review | 'unavailable' };
  const metrics = someMetrics();
  const listener = createMetricsListener({
    address,
    secure: { certificates, reviews },
    metrics,
    clock: new FakeClock(),
  });
  const port = await listener.start();
  t.after(() => listener.stop());
  return { port, pair, rotate: (next: ValidPair) => rotate(next), told: metrics.told };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

function ask(port: number, options: https.RequestOptions = {}): Promise<Answer> {
  const send = options.ca === undefined ? http.request : https.request;
  return new Promise((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port, path: '/metrics', agent: false, ...options }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.on('error', reject).end();
  });
}

test('without security /metrics answers everyone by HTTP', async (t) => {
  const { port, told } = await plain(t);
  const { status, headers, body } = await ask(port);
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  assert.equal(body.toString(), text);
  assert.equal(told.scraped, 1);
});

test('HEAD answers without making the text', async (t) => {
  const { port, told } = await plain(t);
  const { status, body } = await ask(port, { method: 'HEAD' });
  assert.equal(status, 200);
  assert.equal(body.length, 0);
  assert.equal(told.rendered, 0);
});

test('another path is 404, another method 405', async (t) => {
  const { port } = await plain(t);
  assert.equal((await ask(port, { path: '/' })).status, 404);
  assert.equal((await ask(port, { path: '/metrics/' })).status, 404);
  assert.equal((await ask(port, { path: '/metrics?name[]=up' })).status, 200);
  const { status, headers } = await ask(port, { method: 'POST' });
  assert.equal(status, 405);
  assert.equal(headers.allow, 'GET, HEAD');
});

test('gzip comes when it is asked for', async (t) => {
  const { port } = await plain(t);
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', '*']) {
    const { headers, body } = await ask(port, { headers: { 'accept-encoding': accepted } });
    assert.equal(headers['content-encoding'], 'gzip', accepted);
    assert.equal(gunzipSync(body).toString(), text);
  }
  for (const accepted of ['', 'br', 'gzip;q=0', 'gzipped']) {
    const { headers } = await ask(port, { headers: { 'accept-encoding': accepted } });
    assert.equal(headers['content-encoding'], undefined, accepted);
  }
});

test('two scrapes at once share one text', async (t) => {
  const metrics = someMetrics();
  let goOn: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const render = async function* () {
    metrics.told.rendered += 1;
    yield text;
    await gate;
  };
  const { port } = await plain(t, { ...metrics, render });
  const scrapes = [ask(port), ask(port)];
  await new Promise((resolve) => setTimeout(resolve, 50));
  goOn();
  assert.deepEqual(
    (await Promise.all(scrapes)).map(({ body }) => body.toString()),
    [text, text],
  );
  assert.equal(metrics.told.rendered, 1);
});

test('a text that cannot be made to its end does not look whole', async (t) => {
  const metrics = someMetrics();
  const render = async function* () {
    yield text;
    throw new Error('broken');
  };
  const { port } = await plain(t, { ...metrics, render });
  await assert.rejects(ask(port), { code: 'ECONNRESET' });
});

test('with security each caller is answered as the review of the token says', async (t) => {
  const { port, pair } = await secured(t);
  const as = (authorization?: string) =>
    ask(port, { ca: pair.certificate, ...(authorization === undefined ? {} : { headers: { authorization } }) });
  assert.equal((await as('Bearer allowed')).body.toString(), text);
  assert.equal((await as('bearer allowed')).status, 200);
  for (const nobody of [undefined, 'Bearer unauthenticated', 'Bearer', 'Basic allowed', 'allowed']) {
    const { status, headers, body } = await as(nobody);
    assert.equal(status, 401, nobody);
    assert.equal(headers['www-authenticate'], 'Bearer');
    assert.equal(body.toString().includes('up 1'), false);
  }
  assert.equal((await as('Bearer denied')).status, 403);
  const away = await as('Bearer unavailable');
  assert.equal(away.status, 503);
  assert.equal(away.headers['retry-after'], '5');
  assert.equal((await ask(port, { ca: pair.certificate, path: '/' })).status, 404);
});

test('plain HTTP on the secure port is cut', async (t) => {
  const { port } = await secured(t);
  const socket = net.connect(port, '127.0.0.1', () => socket.write('GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n'));
  const received: Buffer[] = [];
  socket.on('data', (piece) => received.push(piece)).on('error', () => {});
  await new Promise((resolve) => socket.on('close', resolve));
  assert.equal(Buffer.concat(received).includes('HTTP/1.1'), false);
});

test('TLS before 1.2 is refused', async (t) => {
  const { port, pair } = await secured(t);
  const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const socket = tls.connect({ port, host: '127.0.0.1', ca: pair.certificate, ...versions });
  const outcome = await new Promise((resolve) =>
    socket.on('secureConnect', () => resolve('connected')).on('error', () => resolve('refused')),
  );
  socket.destroy();
  assert.equal(outcome, 'refused');
});

test('a new certificate is used for the next connection, and its end is told', async (t) => {
  const { port, pair, rotate, told } = await secured(t);
  assert.equal(told.expiresAt, pair.expiresAt);
  const next = await aPair(2_100_000_000_000);
  rotate(next);
  assert.equal(told.expiresAt, next.expiresAt);
  const headers = { authorization: 'Bearer allowed' };
  assert.equal((await ask(port, { ca: next.certificate, headers })).status, 200);
  await assert.rejects(ask(port, { ca: pair.certificate, headers }));
});

async function all(text: AsyncIterable<string>): Promise<string> {
  let whole = '';
  for await (const piece of text) whole += piece;
  return whole;
}

test('readers that come while it is made get the whole of one text', async () => {
  let made = 0;
  let goOn: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const text = new SharedText(async function* () {
    made += 1;
    yield `a${made}`;
    await gate;
    yield 'b';
  });
  const first = all(text.read());
  await new Promise((resolve) => setImmediate(resolve));
  const second = all(text.read());
  goOn();
  assert.deepEqual(await Promise.all([first, second]), ['a1b', 'a1b']);
  assert.equal(await all(text.read()), 'a2b');
});

test('an error reaches every reader, and the next one tries again', async () => {
  let made = 0;
  const text = new SharedText(async function* () {
    made += 1;
    yield 'a';
    if (made === 1) throw new Error('broken');
  });
  const readers = await Promise.allSettled([all(text.read()), all(text.read())]);
  assert.deepEqual(
    readers.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await all(text.read()), 'a');
});

/** The listener of these flags, whose reviews answer by the token itself. */
async function listening(t: TestContext, ...flags: readonly string[]) {
  const argv = ['--metrics.bind-address=127.0.0.1:0', ...flags];
  const { loaded, problems } = loadConfig({ entryPoint: 'standalone', argv, environment: {}, filePaths: [] });
  assert.ok(loaded, problems.join('\n'));
  const clock = new FakeClock(Date.now());
  const metrics = createProcessMetrics({ entryPoint: 'standalone', version: '0.1.0', clock });
  const reviewed: string[] = [];
  const review = async (token: string): Promise<Review> => {
    reviewed.push(token);
    return token as Review;
  };
  const listener = createConfiguredMetrics({
    config: loaded.config,
    metrics,
    review,
    clock,
    logger: new RecordingLogger(),
  });
  const port = await listener?.start();
  t.after(() => listener?.stop());
  return { port, clock, reviewed };
}

function scrape(
  port: number | undefined,
  options: https.RequestOptions = {},
): Promise<{ status: number; from: string }> {
  return new Promise((resolve, reject) => {
    const all = { host: '127.0.0.1', port, path: '/metrics', agent: false, rejectUnauthorized: false, ...options };
    https
      .request(all, (response) => {
        const from = response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().fingerprint256 : '';
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode ?? 0, from }));
      })
      .on('error', reject)
      .end();
  });
}

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('0 is no listener at all', async (t) => {
  assert.equal((await listening(t, '--metrics.bind-address=0')).port, undefined);
});

test('without security it answers every caller by HTTP and asks no review', async (t) => {
  const { port, reviewed } = await listening(t, '--metrics.secure=false');
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /^go_goroutines \d/m);
  await assert.rejects(scrape(port));
  assert.deepEqual(reviewed, []);
});

test('by itself it makes its certificate and asks the cluster about each token', async (t) => {
  const { port } = await listening(t);
  assert.equal((await scrape(port)).status, 401);
  assert.equal((await scrape(port, as('unauthenticated'))).status, 401);
  assert.equal((await scrape(port, as('denied'))).status, 403);
  assert.equal((await scrape(port, as('allowed'))).status, 200);
});

test('a scraper is reviewed once a minute, however often it scrapes', async (t) => {
  const { port, clock, reviewed } = await listening(t);
  await scrape(port, as('allowed'));
  await scrape(port, as('allowed'));
  assert.equal(reviewed.length, 1);
  await clock.advance(60_000);
  await scrape(port, as('allowed'));
  assert.equal(reviewed.length, 2);
});

test('a certificate of files is shown, and the one that replaces it too', async (t) => {
  const pair = () =>
    createOwnCertificate({ names: ['localhost'], addresses: ['127.0.0.1'], now: Date.now(), lifetimeMs: 3_600_000 });
  const [first, second] = [await pair(), await pair()];
  const folder = aTemporaryFolder(t, { 'tls.crt': first.certificate, 'own.key': first.key });
  const { port, clock } = await listening(t, `--metrics.cert-path=${folder}`, '--metrics.cert-key=own.key');
  const nameOf = (text: string): string => new X509Certificate(text).fingerprint256;
  assert.equal((await scrape(port, as('allowed'))).from, nameOf(first.certificate));
  writeFileSync(`${folder}/tls.crt`, second.certificate);
  writeFileSync(`${folder}/own.key`, second.key);
  let shown = '';
  for (let turn = 0; turn < 200 && shown !== nameOf(second.certificate); turn += 1) {
    // Files are looked at by the clock and read by the system.
    await clock.advance(10_000);
    shown = (await scrape(port, as('allowed'))).from;
  }
  assert.equal(shown, nameOf(second.certificate));
});
