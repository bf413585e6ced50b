import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTemplatePool, packTemplate, unpackTemplate } from './template-text.ts';
import { templateText } from './template-text.ts';

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

test('one that is too large is not kept', () => {
  assert.equal(packTemplate(randomBytes(16 * 1024).toString('base64')), undefined);
  assert.equal(packTemplate('x'.repeat(1024 * 1024)), undefined);
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
