import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearest } from './nearest.ts';

const candidates = [
  'storage.type',
  'ui.port',
  'scheduler.prune-interval',
  'log-level',
  'metrics.cert-path',
  'webhook.cert-path',
];

test('finds what a slip of the keyboard meant', () => {
  assert.equal(findNearest('storage.typ', candidates), 'storage.type');
  assert.equal(findNearest('storage.tpye', candidates), 'storage.type');
  assert.equal(findNearest('log_level', candidates), 'log-level');
  assert.equal(findNearest('UI.Port', candidates), 'ui.port');
  assert.equal(findNearest('scheduler.prune-intervall', candidates), 'scheduler.prune-interval');
});

test('finds a key by its last part, unless several have it', () => {
  assert.equal(findNearest('prune-interval', candidates), 'scheduler.prune-interval');
  assert.equal(findNearest('cert-path', candidates), undefined);
});

test('finds nothing where nothing comes near', () => {
  for (const text of ['', 'a', 'ab', 'port', 'something.else']) {
    assert.equal(findNearest(text, ['ui', 'api', ...candidates.slice(2)]), undefined, text);
  }
});
