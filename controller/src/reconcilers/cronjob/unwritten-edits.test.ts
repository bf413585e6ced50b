import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJobFacts, NamespaceFacts } from '@cronjob-monitor/shared/domain';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { WordSightings } from './unwritten-edits.ts';

const receivedAt = Date.UTC(2026, 10, 21, 4, 30);
const live = { receivedAt, unwatchedSinceAt: undefined };

const saying = (maxDuration: string | undefined, writtenAt?: number): CronJobFacts => ({
  ...aCronJob({ uid: 'a', namespace: 'prod', name: 'backup' }),
  ...(maxDuration !== undefined && { annotations: { 'max-duration': maxDuration } }),
  ...(writtenAt !== undefined && { wordWrites: [{ at: writtenAt, fields: ['max-duration'] }] }),
});

function aNamespace(grace?: string): NamespaceFacts {
  const named = { uid: 'n', name: 'prod', labels: {}, monitoredFrom: [], deletingAt: undefined };
  return { ...named, ...(grace !== undefined && { annotations: { grace } }) };
}

const sightingsOf = (cronJob: CronJobFacts, namespace = aNamespace()): WordSightings =>
  new WordSightings({
    cronJobs: { valuesIn: () => [cronJob] },
    namespaces: { findByName: () => namespace },
  });

test('what a CronJob said counts until the news of another word, or until that was written where the news is late', () => {
  const sightings = sightingsOf(saying('1h'));
  sightings.cronJobChanged({ before: saying('2h'), item: saying('1h') }, live);
  const words = { cronJob: { 'max-duration': '2h' }, ofNamespace: {} };
  assert.deepEqual(sightings.listOf('a'), [{ untilAt: receivedAt, words }]);

  const later = sightingsOf(saying('1h'));
  const at = receivedAt - 90_000;
  later.cronJobChanged({ before: saying('2h'), item: saying('1h', at) }, live);
  assert.deepEqual(later.listOf('a'), [{ untilAt: at, words }]);
  later.cronJobGone('a');
  assert.deepEqual(later.listOf('a'), []);
});

test('a change of which nothing tells when it was made counts from where the watch was silent', () => {
  const sightings = sightingsOf(saying(undefined));
  const unwatchedSinceAt = receivedAt - 600_000;
  sightings.cronJobChanged({ before: saying('2h'), item: saying(undefined) }, { receivedAt, unwatchedSinceAt });
  assert.deepEqual(
    sightings.listOf('a').map(({ untilAt }) => untilAt),
    [unwatchedSinceAt],
  );
});

test('what a Namespace said counts for its CronJobs, and any other change of either is none', () => {
  const sightings = sightingsOf(saying('1h'), aNamespace('5m'));
  sightings.namespaceChanged({ before: aNamespace(), item: aNamespace('5m') }, live);
  sightings.cronJobChanged({ before: saying('1h'), item: { ...saying('1h'), suspended: true } }, live);
  const words = { cronJob: { 'max-duration': '1h' }, ofNamespace: {} };
  assert.deepEqual(sightings.listOf('a'), [{ untilAt: receivedAt, words }]);
  sightings.namespaceChanged({ before: aNamespace('5m'), item: { ...aNamespace('5m'), labels: { a: 'b' } } }, live);
  assert.equal(sightings.listOf('a').length, 1);
});

test('what a row of an earlier process says, and is not so any more, counts until it was written otherwise', () => {
  const at = receivedAt - 90_000;
  const row = {
    words: { cronJob: { 'max-duration': '2h' }, ofNamespace: {} },
    earlier: [],
    seenAt: receivedAt - 600_000,
  };
  const now = saying('1h', at);
  assert.deepEqual(sightingsOf(now).listSince(now, row, receivedAt), [{ untilAt: at, words: row.words }]);
});
