import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../testing/api.ts';

/** Headers of an unsafe call, and whether it comes from our own pages or a command line. */
const calls: readonly (readonly [Readonly<Record<string, string>>, boolean])[] = [
  [{}, true],
  [{ 'Sec-Fetch-Site': 'same-origin' }, true],
  [{ 'Sec-Fetch-Site': 'none' }, true],
  [{ 'Sec-Fetch-Site': 'same-site' }, false],
  [{ 'Sec-Fetch-Site': 'cross-site' }, false],
  [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost:8080' }, false],
  [{ 'Sec-Fetch-Site': 'same-origin', Origin: 'http://evil.example' }, true],
  [{ Origin: 'http://localhost:8080' }, true],
  [{ Origin: 'https://localhost:8080' }, true],
  [{ Origin: 'http://localhost' }, false],
  [{ Origin: 'http://localhost:8081' }, false],
  [{ Origin: 'http://evil.example' }, false],
  [{ Origin: 'null' }, false],
  [{ Origin: 'nonsense' }, false],
];

for (const [headers, ours] of calls) {
  test(`${ours ? 'lets through' : 'refuses'} an unsafe call with ${JSON.stringify(headers)}`, async () => {
    await using api = await startApi();
    const answer = await api.ask('/api/v1/config', { method: 'POST', headers: { Host: 'localhost:8080', ...headers } });
    assert.equal(answer.status, ours ? 405 : 403);
    if (!ours) assert.equal(answer.error().code, 'CROSS_SITE_REFUSED');
  });
}

test('a default port that one of the two leaves out makes no difference', async () => {
  await using api = await startApi();
  const headers = { Host: 'localhost:443', Origin: 'https://localhost' };
  assert.equal((await api.ask('/api/v1/config', { method: 'POST', headers })).status, 405);
});

test('safe methods are not asked where they come from', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/config', { headers: { 'Sec-Fetch-Site': 'cross-site' } });
  assert.equal(answer.status, 200);
});

test('it is asked before the path is looked at', async () => {
  await using api = await startApi();
  const answer = await api.ask('/api/v1/nothing', { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } });
  assert.equal(answer.status, 403);
});
