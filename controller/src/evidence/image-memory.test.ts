import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '@cronjob-monitor/shared/testing';
import { createImageMemory } from './capture.ts';

const podsOf = (imageId: string | undefined) => [aPod({ containers: [aContainer({ imageId })] })];

test('images are kept when they are seen first and when they change', () => {
  const memory = createImageMemory();
  const news = ['a', 'a', 'b', 'b', 'a'].map((id) => memory.isNews('c', podsOf(id)));
  assert.deepEqual(news, [true, false, true, false, true]);
  assert.equal(memory.isNews('other', podsOf('a')), true);
});

test('and now and then, so that they are found without a long search', () => {
  const memory = createImageMemory();
  const news = Array.from({ length: 61 }, () => memory.isNews('c', podsOf('a')));
  assert.deepEqual(
    news.flatMap((isNews, run) => (isNews ? [run] : [])),
    [0, 30, 60],
  );
});

test('pods whose images are not known are no news', () => {
  const memory = createImageMemory();
  assert.equal(memory.isNews('c', podsOf(undefined)), false);
  assert.equal(memory.isNews('c', []), false);
});
