import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { maskLine } from '../text/mask-line.ts';
import { logDifference } from './side-by-side.ts';

/** `+2 text`: what this run has alone, `-` the other, with the number of its first line. */
const told = (here: string, there: string): string[] =>
  logDifference(here, there).map(
    ({ kind, from, lines }) => `${{ same: ' ', here: '+', there: '-' }[kind]}${from} ${lines.join('|')}`,
  );

test('two logs are told in the order of both, numbers, times and ids aside', () => {
  const here = '2026-11-23T02:00:00Z dumping 19 tables\nzstd level 9\nchunk 1/160\nWARN upload lags\nKilled\n';
  const there = '2026-11-21T02:00:07Z dumping 19 tables\nchunk 1/158\nuploaded 41.0 GiB, done\n';
  assert.deepEqual(told(here, there), [
    ' 1 2026-11-23T02:00:00Z dumping 19 tables',
    '+2 zstd level 9',
    ' 3 chunk 1/160',
    '+4 WARN upload lags|Killed',
    '-3 uploaded 41.0 GiB, done',
  ]);
});

test('equal logs are one piece, and an empty one has none', () => {
  assert.deepEqual(told('a\nb\n', 'a\nb'), [' 1 a|b']);
  assert.deepEqual(told('', 'a\n'), ['-1 a']);
  assert.deepEqual(told('', ''), []);
});

test('of logs that have nothing in common each is told whole, at once', () => {
  const letters = (first: number): string =>
    Array.from({ length: 4_000 }, (_, line) =>
      [...String(line)].map((digit) => String.fromCharCode(first + Number(digit))).join(''),
    ).join('\n');
  const pieces = logDifference(letters(97), letters(107));
  assert.deepEqual(
    pieces.map(({ kind, lines }) => [kind, lines.length]),
    [
      ['here', 4_000],
      ['there', 4_000],
    ],
  );
});

test('of a long log the end is compared, under its own numbers', () => {
  const long = Array.from({ length: 5_010 }, (_, line) => `line ${line}`).join('\n');
  const [first] = logDifference(long, long);
  assert.deepEqual([first?.kind, first?.from, first?.lines.length], ['same', 11, 5_000]);
});

test('the pieces put together are both logs', () => {
  const log = fc
    .array(fc.constantFrom('a', 'b', 'c 1', 'c 2', 'd'), { maxLength: 30 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(log, log, (here, there) => {
      const pieces = logDifference(here, there);
      const linesOf = (own: 'here' | 'there'): string[] =>
        pieces.flatMap(({ kind, lines }) => (kind === 'same' || kind === own ? lines : []));
      assert.deepEqual(linesOf('here'), here === '' ? [] : here.split('\n'));
      assert.deepEqual(linesOf('there').map(maskLine), there === '' ? [] : there.split('\n').map(maskLine));
    }),
  );
});
