import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessQuestion, Identity } from './cluster.ts';
import { reviewScrape } from './reviews.ts';

const ana: Identity = { user: 'ana', uid: undefined, groups: [], extra: {} };
const never = new AbortController().signal;

/** A cluster that knows one token and asks what it was asked. */
function clusterThat(mayGet: boolean) {
  const asked: AccessQuestion[] = [];
  return {
    asked,
    reviewToken: async (token: string) => (token === 'good' ? ana : undefined),
    reviewAccess: async (_identity: Identity, question: AccessQuestion) => {
      asked.push(question);
      return mayGet;
    },
  };
}

test('a token that stands for no user is asked no further', async () => {
  const cluster = clusterThat(true);
  assert.equal(await reviewScrape(cluster, 'bad', never), 'unauthenticated');
  assert.deepEqual(cluster.asked, []);
});

test('a token of a user is asked for get on /metrics', async () => {
  const cluster = clusterThat(true);
  assert.equal(await reviewScrape(cluster, 'good', never), 'allowed');
  assert.deepEqual(cluster.asked, [{ verb: 'get', path: '/metrics' }]);
  assert.equal(await reviewScrape(clusterThat(false), 'good', never), 'denied');
});
