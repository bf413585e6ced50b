import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { aTemporaryFolder, FakeClock, RecordingLogger } from '../testing/index.ts';
import { createCertificateSource, type ValidPair, createOwnCertificate, type KeyPair } from './certificate-source.ts';

const startAt = Date.UTC(2026, 10, 21, 7, 53);
const aPair = () => createOwnCertificate({ names: ['a'], addresses: [], now: startAt, lifetimeMs: 86_400_000 });

/** A folder as Kubernetes mounts a Secret: the files are links into a folder that is swapped as a whole. */
async function aMountedSecret(t: TestContext, first: KeyPair) {
  const folder = aTemporaryFolder(t);
  let version = 0;
  const swap = (pair: KeyPair) => {
    version += 1;
    mkdirSync(join(folder, `..v${version}`));
    writeFileSync(join(folder, `..v${version}`, 'tls.crt'), pair.certificate);
    writeFileSync(join(folder, `..v${version}`, 'tls.key'), pair.key);
    symlinkSync(`..v${version}`, join(folder, '..next'));
    renameSync(join(folder, '..next'), join(folder, '..data'));
  };
  swap(first);
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name));

  const clock = new FakeClock(startAt);
  const logger = new RecordingLogger();
  const files = { certificatePath: join(folder, 'tls.crt'), keyPath: join(folder, 'tls.key') };
  const source = createCertificateSource({ files, clock, logger });
  const changes: ValidPair[] = [];
  const stopping = new AbortController();
  t.after(() => stopping.abort());
  return {
    folder,
    swap,
    clock,
    logger,
    source,
    changes,
    watch: () => source.watch((pair) => changes.push(pair), stopping.signal),
  };
}

/** Reading files takes real time, about as long as reading one here: time goes on until `done`. */
async function advanceUntil(clock: FakeClock, done: () => boolean): Promise<void> {
  for (let step = 0; step < 200 && !done(); step += 1) {
    await clock.advance(50);
    await readFile(import.meta.filename);
  }
}

test('files are used as they are, until a swap gives others within 10 s', async (t) => {
  const [one, two] = [await aPair(), await aPair()];
  const { source, swap, clock, changes, watch, logger } = await aMountedSecret(t, one);
  assert.equal((await source.first()).certificate, one.certificate);
  watch();
  await clock.advance(60_000);
  assert.equal(changes.length, 0);
  swap(two);
  const swappedAtMs = clock.monotonicMs();
  await advanceUntil(clock, () => changes.length > 0);
  assert.equal(changes[0]?.key, two.key);
  assert.ok(clock.monotonicMs() - swappedAtMs <= 10_000);
  assert.equal(logger.lines.at(-1)?.message, 'the certificate was replaced');
});

test('a pair that does not fit is told once, the old one stays, and a good one comes through', async (t) => {
  const [one, two] = [await aPair(), await aPair()];
  const { source, swap, clock, changes, watch, logger } = await aMountedSecret(t, one);
  await source.first();
  watch();
  swap({ certificate: two.certificate, key: one.key });
  await advanceUntil(clock, () => logger.lines.length > 0);
  await advanceUntil(clock, () => false);
  assert.equal(changes.length, 0);
  assert.equal(logger.lines.length, 1);
  swap(two);
  await advanceUntil(clock, () => changes.length > 0);
  assert.equal(changes[0]?.certificate, two.certificate);
});

test('files that go away are told once, and the old one stays', async (t) => {
  const { source, folder, clock, changes, watch, logger } = await aMountedSecret(t, await aPair());
  await source.first();
  watch();
  unlinkSync(join(folder, '..data'));
  await advanceUntil(clock, () => logger.lines.length > 0);
  await advanceUntil(clock, () => false);
  assert.equal(logger.lines.length, 1);
  assert.equal(changes.length, 0);
});

test('a start with files that do not fit says what is wrong, and never what is in them', async (t) => {
  const good = await aPair();
  for (const [wrong, message] of [
    [{ ...good, certificate: 'hunter2' }, 'no certificate in PEM'],
    [{ ...good, key: 'hunter2' }, 'no unencrypted private key in PEM'],
    [{ ...good, key: (await aPair()).key }, 'the certificate and the key do not belong together'],
  ] as const) {
    const { source } = await aMountedSecret(t, wrong);
    await assert.rejects(source.first(), { message });
  }
});

test('without files one of our own is made, and made again ten days before it ends', async () => {
  const clock = new FakeClock(startAt);
  const source = createCertificateSource({ files: undefined, clock, logger: new RecordingLogger() });
  const first = await source.first();
  assert.equal(first.expiresAt, startAt + 30 * 86_400_000);
  const changes: ValidPair[] = [];
  const stopping = new AbortController();
  clock.stepWall(20 * 86_400_000 - 10_000);
  source.watch((pair) => changes.push(pair), stopping.signal);
  await clock.advance(10_000);
  assert.equal(changes.length, 0);
  await advanceUntil(clock, () => changes.length > 0);
  assert.ok((changes[0]?.expiresAt ?? 0) > first.expiresAt);
  stopping.abort();
  await clock.advance(0);
});

test('our own certificate is for a server, on P-256, valid from an hour ago, with its names and its key', async () => {
  const now = Date.UTC(2026, 10, 21, 7, 53);
  const pair = await createOwnCertificate({
    names: ['monitor-0', 'localhost'],
    addresses: ['127.0.0.1', '::1'],
    now,
    lifetimeMs: 86_400_000,
  });
  const certificate = new X509Certificate(pair.certificate);
  const key = createPrivateKey(pair.key);
  assert.equal(certificate.checkPrivateKey(key), true);
  assert.equal(key.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.equal(certificate.verify(certificate.publicKey), true);
  assert.equal(certificate.validFromDate.getTime(), now - 3_600_000);
  assert.equal(certificate.validToDate.getTime(), now + 86_400_000);
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(certificate.checkHost('monitor-0'), 'monitor-0');
  assert.equal(certificate.checkHost('elsewhere'), undefined);
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1');
});

test('no two have the same key', async () => {
  const make = () => createOwnCertificate({ names: ['a'], addresses: [], now: 0, lifetimeMs: 1000 });
  assert.notEqual((await make()).key, (await make()).key);
});
