import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { TLSSocket } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { loadConfig } from '../config/index.ts';
import { aTemporaryFolder, FakeClock, RecordingLogger } from '../testing/index.ts';
import { createOwnCertificate } from './certificate.ts';
import { createConfiguredMetrics } from './configured-metrics.ts';
import { createProcessMetrics } from './metrics/index.ts';
import type { Review } from './review-cache.ts';

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

test('without security it answers everybody by HTTP and asks nobody', async (t) => {
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

test('reviews hold as long as the configuration says', async (t) => {
  const { port, clock, reviewed } = await listening(t, '--auth.token-cache=10s');
  await scrape(port, as('allowed'));
  await scrape(port, as('allowed'));
  assert.equal(reviewed.length, 1);
  await clock.advance(10_000);
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
