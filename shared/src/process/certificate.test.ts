import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createOwnCertificate } from './certificate.ts';

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
