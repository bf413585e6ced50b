import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedWords, type EarlierWords, judgingWordsOf, unwrittenWords, withEarlierWords } from './words.ts';
import { minuteMs } from '../duration.ts';

const now = Date.parse('2026-03-02T12:00:00Z');
const ago = (minutes: number): number => now - minutes * minuteMs;
const says = (grace?: string) => judgingWordsOf({ annotations: grace === undefined ? {} : { grace } }, undefined);
const until = (minutes: number, grace?: string): EarlierWords => ({ untilAt: ago(minutes), words: says(grace) });
const writes = (minutes: number) => [{ at: ago(minutes), fields: ['grace'] }];

test('of what an owner says that alone is kept by which runs are judged', () => {
  const words = judgingWordsOf({ annotations: { grace: '5m', severity: 'critical' } }, { annotations: { owner: 'a' } });
  assert.deepEqual(words, { cronJob: { grace: '5m' }, ofNamespace: {} });
  assert.deepEqual(changedWords(words, judgingWordsOf({}, { annotations: { grace: '5m' } })), ['grace']);
});

test('what was changed while nothing looked counts until it was written, else until the look before', () => {
  const row = { words: says('5m'), earlier: [], seenAt: ago(60) };
  const present = (written: readonly { at: number; fields: string[] }[]) => ({
    words: says('9m'),
    writes: written,
    now,
  });
  assert.deepEqual(unwrittenWords(row, [], present(writes(30))), [until(30, '5m')]);
  assert.deepEqual(unwrittenWords(row, [], present(writes(90))), [until(60, '5m')], 'that was known already');
  assert.deepEqual(unwrittenWords(row, [], present([])), [until(60, '5m')]);
  assert.deepEqual(unwrittenWords({ ...row, words: says('9m') }, [], present(writes(30))), [], 'nothing was changed');
});

test('what was seen to change counts until then, and is added once', () => {
  const present = { words: says('9m'), writes: writes(10), now };
  const seen = [until(20, '5m'), until(10)];
  const row = { words: says('5m'), earlier: [], seenAt: ago(60) };
  assert.deepEqual(unwrittenWords(row, seen, present), seen);
  assert.deepEqual(unwrittenWords({ ...row, earlier: [until(20, '5m')], words: says() }, seen, present), [until(10)]);
  assert.deepEqual(unwrittenWords({ ...row, earlier: seen, words: says('9m') }, seen, present), []);
  const lost = { ...row, words: says('1m') };
  assert.deepEqual(unwrittenWords(lost, seen, present), [until(60, '1m'), ...seen], 'an edit before them was not seen');
});

test('so much is kept as may still be asked about', () => {
  const day = 24 * 60;
  const kept = withEarlierWords([until(20 * day, '1m'), until(2 * day, '2m')], [until(2 * day, '3m'), until(1)]);
  assert.deepEqual(kept, [until(2 * day, '2m'), until(1)]);
  assert.deepEqual(withEarlierWords([until(20 * day, '1m')], []), [until(20 * day, '1m')], 'the last change is kept');
  const many = Array.from({ length: 12 }, (_, index) => until(20 - index, `${index + 1}m`));
  assert.deepEqual(withEarlierWords([], many), many.slice(-8));
});
