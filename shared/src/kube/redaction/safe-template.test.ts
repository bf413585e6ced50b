import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '../../domain/index.ts';
import { packTemplate } from '../translate/template-text.ts';
import { templateText } from '../translate/template-text.ts';
import { toSafeTemplate } from './safe-template.ts';

const redact = createRedactor();
const safe = (spec: unknown, key = 'k'): unknown =>
  toSafeTemplate(packTemplate(templateText(spec)) ?? '', { key, redact });

const podOf = (container: object) => ({ template: { spec: { containers: [{ name: 'main', ...container }] } } });

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

test('bytes that this service did not pack say nothing', () => {
  assert.equal(toSafeTemplate('garbage', { key: 'k', redact }), undefined);
});
