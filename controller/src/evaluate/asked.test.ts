import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedCronJobs } from './watchers.ts';
import { allParts } from './asked-parts.ts';

test('many events about one CronJob are one question, with all that any of them asks', () => {
  const asked = new AskedCronJobs();
  asked.add(['a', 'b'], ['deadMan']);
  asked.add(['a'], ['suspended']);
  const { uids, parts } = asked.take();
  assert.deepEqual(
    [uids, [...parts].sort()],
    [
      ['a', 'b'],
      ['deadMan', 'suspended'],
    ],
  );
});

test('what was taken is not asked again', () => {
  const asked = new AskedCronJobs();
  asked.add(['a']);
  assert.deepEqual([...asked.take().parts], [...allParts]);
  assert.deepEqual(asked.take().uids, []);
});
