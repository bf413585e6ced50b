import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSimilar } from './similar-names.ts';

const backup = { namespace: 'data', name: 'nightly-backup' };

test('a name is found by letters that are missing, wrong, too many or swapped, in any of its words', () => {
  for (const typed of [
    'nightly',
    'nghtly bckp',
    'nigthly',
    'backip',
    'nightlly',
    'NIGHTLY',
    'data backup',
    'data/bckp',
    'ly-back',
  ])
    assert.ok(isSimilar(typed, backup), typed);
});

test('a name is not found by words that are not its own, by short guesses, or by two mistakes', () => {
  for (const typed of ['report', 'nightly report', 'bu', 'xx', 'prod backup', 'bukcap', 'yltghin', 'ckp'])
    assert.ok(!isSimilar(typed, backup), typed);
});
