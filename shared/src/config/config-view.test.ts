import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSetting, shownText, shownValue, withoutUser } from './config-view.ts';

test('a setting is told as key, value and source', () => {
  assert.equal(
    describeSetting('ui.port', { given: '1', source: { from: 'flag', flag: '--ui.port' } }),
    'ui.port = 1 (flag --ui.port)',
  );
  assert.equal(
    describeSetting('ui.port', { given: '1', source: { from: 'environment', variable: 'MONITOR_UI_PORT' } }),
    'ui.port = 1 (environment MONITOR_UI_PORT)',
  );
  assert.equal(
    describeSetting('ui.port', { given: '1', source: { from: 'file', path: './config.yaml', line: 9 } }),
    'ui.port = 1 (file ./config.yaml line 9)',
  );
  assert.equal(describeSetting('ui.port', { given: '8080', source: { from: 'default' } }), 'ui.port = 8080 (default)');
});

test('a secret is never told, a list is told between commas, nothing is told as none', () => {
  assert.equal(shownValue('storage.mysql.password', 'hunter2'), '***');
  assert.equal(shownValue('storage.mysql.password', ''), '***');
  assert.equal(shownValue('ignored-namespaces', ['a', 'b']), 'a,b');
  assert.equal(shownValue('cluster.name', undefined), 'none');
});

test('a URL loses its user and its query', () => {
  assert.equal(withoutUser('https://u:p@a.example:1/b?token=x#y'), 'https://a.example:1/b');
  assert.equal(withoutUser('https://a.example/b@c'), 'https://a.example/b@c');
  assert.equal(withoutUser('a@b?c'), 'a@b?c');
  assert.equal(shownValue('ui.external-url', 'http://u:p@a/?q'), 'http://a/');
});

test('text from outside stays on its line and cannot steer a terminal', () => {
  assert.equal(shownText('plain text'), 'plain text');
  assert.equal(shownText(''), '""');
  assert.equal(shownText(' 8080'), '" 8080"');
  assert.equal(shownText('a\nb\u001b[2J'), '"a\\nb\\u001b[2J"');
  assert.equal(shownText('a\u009b\u202eb\u2028'), '"a\\u{9b}\\u{202e}b\\u{2028}"');
  assert.equal(shownText('x'.repeat(300)).length, 201);
});
