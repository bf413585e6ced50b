import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { acceptedKeys, configKeys, rowOf } from './keys.ts';
import { version } from './load-or-explain.ts';

test('every default is one that its own key takes', () => {
  for (const key of acceptedKeys) {
    const { default: text, kind } = rowOf(key);
    if (text !== null) assert.ok('value' in kind.parse(text), `${key} = ${text}`);
  }
});

test('every key says in one line what it is for', () => {
  for (const key of configKeys) assert.match(rowOf(key).doc, /^[A-Z/].*\.$/, key);
});

test('keys are lower case, and none is the block of another', () => {
  for (const key of acceptedKeys) {
    assert.match(key, /^[a-z0-9]+([-.][a-z0-9]+)*$/);
    assert.equal(
      acceptedKeys.some((other) => other.startsWith(`${key}.`)),
      false,
      key,
    );
  }
});

test('whatever could be a secret is marked as one', () => {
  const secrets = configKeys.filter((key) => rowOf(key).sensitive);
  assert.deepEqual(secrets, ['heartbeat-url', 'storage.postgres.password', 'storage.mysql.password']);
});

test('the version is that of the root package.json', () => {
  const root: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.equal((root as { version: string }).version, version);
});
