import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../testing/api.ts';

test('serves the page of the contract with files of its own alone', async () => {
  await using api = await startApi();
  const page = await api.ask('/swagger/');
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|http|\*/);
  const files = [...page.text.matchAll(/(?:src|href)="([^"/][^"]*)"/g)].map(([, file = '']) => file);
  assert.deepEqual(files, ['swagger-ui.css', 'swagger-ui-bundle.js', 'initializer.js']);
  for (const file of files) {
    const answer = await api.ask(`/swagger/${file}`);
    assert.equal(answer.status, 200, file);
    const again = await api.ask(`/swagger/${file}`, { headers: { 'If-None-Match': String(answer.headers['etag']) } });
    assert.equal(again.status, 304, file);
  }
  assert.doesNotMatch(page.text, /<script>|<style>| style=| on\w+=/);
});

test('leads to the page from the path without its slash', async () => {
  await using api = await startApi();
  const answer = await api.ask('/swagger');
  assert.deepEqual([answer.status, answer.headers['location']], [308, '/swagger/']);
});

test('has no other file, and takes no other method', async () => {
  await using api = await startApi();
  for (const path of ['/swagger/index.js', '/swagger/../package.json', '/swagger/%2e%2e/package.json', '/swagger/x/']) {
    const answer = await api.ask(path, { headers: { Accept: 'text/html' } });
    assert.ok(answer.status === 404, `${path} ${answer.status}`);
  }
  const post = await api.ask('/swagger/', { method: 'POST' });
  assert.deepEqual([post.status, post.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
});
