import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync, constants } from 'node:zlib';
import { startApi } from './testing/api.ts';

let uiFolder = '';
/** Rules that are alike, as those of a page are. */
const styles = Array.from(
  { length: 400 },
  (_, index) => `.a${(index * 7_919) % 997} { margin: ${index % 13}px; color: var(--c${index % 7}); }`,
).join('\n');

before(() => {
  uiFolder = mkdtempSync(join(tmpdir(), 'ui-'));
  mkdirSync(join(uiFolder, 'assets'));
  writeFileSync(join(uiFolder, 'index.html'), '<!doctype html><title>page</title>');
  writeFileSync(join(uiFolder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(uiFolder, 'notes.txt'), 'not served');
  writeFileSync(join(uiFolder, 'assets', 'app-1a2b.js'), 'console.log(1)');
  writeFileSync(join(uiFolder, 'assets', 'style-3c4d.css'), styles);
});
after(() => rmSync(uiFolder, { recursive: true }));

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('packs a file closer than an answer, whichever encodings a browser reads', async () => {
  await using api = await startApi({ uiFolder });
  const headers = { 'Accept-Encoding': 'gzip, deflate, br, zstd' };
  const answer = await new Promise<IncomingMessage>((resolve) => {
    get({ host: '127.0.0.1', port: api.server.port, path: '/assets/style-3c4d.css', headers }, resolve);
  });
  let bytes = 0;
  for await (const piece of answer) bytes += (piece as Buffer).length;
  assert.equal(answer.headers['content-encoding'], 'br');
  const packed = (quality: number) =>
    brotliCompressSync(styles, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }).length;
  assert.ok(bytes <= packed(6) + 8 && packed(6) + 8 < packed(4), `${bytes} bytes, ${packed(4)} as an answer`);
});

test('serves the page at / and at every path that a browser opens, dots in it or not', async () => {
  await using api = await startApi({ uiFolder });
  for (const path of ['/', '/alerts', '/cronjobs/prod/backup.v2', '/notes.txt', '/index.html', '/a/b.js?x=1']) {
    const answer = await api.ask(path, { headers: browser });
    assert.equal(answer.status, 200, path);
    assert.match(answer.text, /<title>page/);
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(answer.headers['cache-control'], 'no-cache');
  }
});

test('tells probes and scrapers that came to the wrong port so, and never that all is well', async () => {
  await using api = await startApi({ uiFolder });
  for (const [path, key] of [
    ['/healthz', 'probes.bind-address'],
    ['/readyz', 'probes.bind-address'],
    ['/metrics', 'metrics.bind-address'],
  ] as const) {
    const answer = await api.ask(path, { headers: { Accept: '*/*' } });
    assert.equal(answer.status, 404, path);
    assert.equal(answer.error().message, `${path} is served on the port of ${key}, not on this one`);
  }
});

/** Values of Accept, and whether they allow text/html. */
const accepts: readonly (readonly [string, boolean])[] = [
  ['text/html', true],
  ['*/*', true],
  ['text/*;q=0.5', true],
  ['application/json', false],
  ['application/json, text/html;q=0', false],
  ['image/png, */*;q=0', false],
];

test('gives the page only to who accepts it', async () => {
  await using api = await startApi({ uiFolder });
  for (const [accept, allowed] of accepts) {
    const answer = await api.ask('/alerts', { headers: { Accept: accept } });
    assert.equal(answer.status, allowed ? 200 : 404, accept);
    if (!allowed) assert.equal(answer.error().code, 'NOT_FOUND');
  }
});

test('serves assets for ever, and a missing one is 404, never the page', async () => {
  await using api = await startApi({ uiFolder });
  const asset = await api.ask('/assets/app-1a2b.js', { headers: browser });
  assert.equal(asset.status, 200);
  assert.equal(asset.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const path of ['/assets/gone.js', '/assets/', '/assets/../notes.txt', '/assets/%2e%2e/notes.txt']) {
    const missing = await api.ask(path, { headers: browser });
    assert.ok(missing.status === 404 || !missing.text.includes('not served'), path);
    if (path === '/assets/gone.js') assert.equal(missing.status, 404);
  }
});

test('serves icon and manifest, and 404 where they are missing', async () => {
  await using api = await startApi({ uiFolder });
  const icon = await api.ask('/favicon.svg', { headers: browser });
  assert.equal(icon.headers['content-type'], 'image/svg+xml');
  assert.equal(icon.headers['cache-control'], 'no-cache');
  assert.equal((await api.ask('/favicon.ico', { headers: browser })).status, 404);
});

test('an unchanged page is 304', async () => {
  await using api = await startApi({ uiFolder });
  const first = await api.ask('/', { headers: browser });
  const again = await api.ask('/', { headers: { ...browser, 'If-None-Match': String(first.headers['etag']) } });
  assert.equal(again.status, 304);
});

test('takes no other method', async () => {
  await using api = await startApi({ uiFolder });
  const answer = await api.ask('/', { method: 'POST', headers: browser });
  assert.equal(answer.status, 405);
  assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
  assert.equal((await api.ask('/', { method: 'OPTIONS' })).status, 204);
});
