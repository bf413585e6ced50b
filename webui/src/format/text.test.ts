import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesText, listText, targetText } from './figures.ts';
import { commandFor, describeCronJob } from './kubectl.ts';
import { missingRight } from './rights.ts';
import { safeText, shortName } from './safe-text.ts';

describe('text from strangers', () => {
  test('passes as it is when it is harmless', () => {
    const plain = 'déjà vu 名前 🎉\tindented\nnext line';
    assert.equal(safeText(plain), plain);
  });

  test('shows terminal escapes and control characters as symbols', () => {
    assert.equal(safeText('\u001b[31mred\u0000\u007f'), '␛[31mred␀␡');
  });

  test('shows what turns the direction of writing, and what has no width', () => {
    assert.equal(safeText('a\u202eb\u200bc\ufeff'), 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+FEFF⟩');
  });
});

test('a long name keeps its beginning and its end, which tell names of one family apart', () => {
  assert.equal(shortName('nightly-backup', 14), 'nightly-backup');
  const short = ['a', 'b'].map((end) => shortName(`nightly-export-of-all-ledger-entries-${end}`, 22));
  assert.deepEqual(short, ['nightly-exp…-entries-a', 'nightly-exp…-entries-b']);
  assert.equal(short[0]?.length, 22);
});

test('bytes are told in the unit that leaves one to three digits', () => {
  assert.deepEqual([null, 0, 512, 1_536, 48_234_496, 3 * 1024 ** 3].map(bytesText), [
    'no data',
    '0 B',
    '512 B',
    '1.5 KiB',
    '46 MiB',
    '3.0 GiB',
  ]);
});

test('a list names some, and counts the rest', () => {
  assert.equal(listText([]), '');
  assert.equal(listText(['a', 'b']), 'a and b');
  assert.equal(listText(['a', 'b', 'c']), 'a, b and c');
  assert.equal(listText(['a', 'b', 'c', 'd', 'e']), 'a, b and 3 more');
});

test('a target keeps the decimals it was written with', () => {
  assert.deepEqual([95, 97.5, 99.95].map(targetText), ['95 %', '97.5 %', '99.95 %']);
});

test('commands name the namespace and the object', () => {
  assert.equal(describeCronJob({ namespace: 'prod', name: 'etl' }), 'kubectl -n prod describe cronjob etl');
  const run = { namespace: 'prod', cronJobName: 'etl', jobName: 'etl-1' };
  assert.equal(commandFor({ ...run, reason: 'OOMKilled' }), 'kubectl -n prod edit cronjob etl');
  assert.equal(commandFor({ ...run, reason: 'ImagePullBackOff' }), 'kubectl -n prod get cronjob etl -o yaml');
  assert.equal(commandFor({ ...run, reason: null }), 'kubectl -n prod describe job etl-1');
  const ofGroup = { ...run, reason: 'OOMKilled', cronJobName: '~etl' };
  assert.equal(commandFor(ofGroup), 'kubectl -n prod describe job etl-1');
});

test('a missing right is named with its namespace', () => {
  assert.equal(missingRight('trigger', 'prod'), 'Needs create jobs in prod');
  assert.equal(missingRight('prune', undefined), 'Needs post on /api/v1/admin/prune');
});
