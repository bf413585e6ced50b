import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTemplatePool, packTemplate, toSafeTemplate, unpackTemplate } from './packed-template.ts';
import { createRedactor } from '../../domain/index.ts';
import { templateText } from './template-hash.ts';

const redact = createRedactor();
const safe = (spec: unknown, key = 'k'): unknown =>
  toSafeTemplate(packTemplate(templateText(spec)) ?? '', { key, redact });

const podOf = (container: object) => ({ template: { spec: { containers: [{ name: 'main', ...container }] } } });

test('a template comes back as it was packed, in far less room', () => {
  const text = templateText(
    podOf({
      image: 'backup:1.4',
      imagePullPolicy: 'IfNotPresent',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m' } },
      env: [{ name: 'ÄÖ\u{1f600}', value: 'x' }],
    }),
  );
  const packed = packTemplate(text) ?? '';
  assert.equal(unpackTemplate(packed), text);
  assert.ok(packed.length < text.length / 2, `${packed.length} of ${text.length}`);
});

test('one that is too large is not kept, and one that is none says nothing', () => {
  assert.equal(packTemplate(randomBytes(16 * 1024).toString('base64')), undefined);
  assert.equal(packTemplate('x'.repeat(1024 * 1024)), undefined);
  assert.equal(toSafeTemplate('garbage', { key: 'k', redact }), undefined);
});

test('literal values of variables are keyed hashes; names and references stay', () => {
  const spec = podOf({
    env: [
      { name: 'MODE', value: 'full' },
      { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
    ],
    envFrom: [{ configMapRef: { name: 'settings' } }],
  });
  const text = JSON.stringify(safe(spec));
  assert.doesNotMatch(text, /full/);
  assert.match(text, /"name":"MODE","value":"hash:[0-9a-f]{16}"/);
  assert.match(text, /"secretKeyRef":\{"key":"password","name":"db"\}/);
  assert.match(text, /"configMapRef":\{"name":"settings"\}/);
  assert.equal(JSON.stringify(safe(spec)), text);
  assert.notEqual(JSON.stringify(safe(spec, 'another key')), text);
});

test('secrets in arguments and commands do not show, and their change does', () => {
  const spec = (secret: string) =>
    podOf({
      command: ['sh', '-c', `curl -H "Authorization: Bearer ${secret}" https://x`],
      args: ['--password', secret, `--token=${secret}`, '--level', 'full', `postgres://u:${secret}@db/x`],
    });
  const [one, other] = ['correct-horse-battery', 'another-horse-battery'].map((secret) =>
    JSON.stringify(safe(spec(secret))),
  );
  assert.doesNotMatch(one ?? '', /correct|horse/);
  assert.match(one ?? '', /--password.*--level.*full/);
  assert.notEqual(one, other);
});

test('equal templates are held once', () => {
  const pool = createTemplatePool();
  let asked = 0;
  const textOf = () => `text ${asked++}`;
  const first = pool.packedOf('h1', textOf);
  assert.equal(pool.packedOf('h1', textOf), first);
  assert.notEqual(pool.packedOf('h2', textOf), first);
  assert.equal(asked, 2);
});
