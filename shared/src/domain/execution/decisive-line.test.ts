import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { maskLine } from '../text/mask-line.ts';
import { decisiveLine, decisiveLines, findAgain } from './decisive-line.ts';
import type { Evidence } from './evidence.ts';

describe('the decisive line of a log', () => {
  /** [what, log, where a pattern was found, number, text, why] */
  const rows: readonly (readonly [string, string, number | undefined, number, string, string])[] = [
    ['is the one with the hit of a pattern', 'begin\nno space left\nerror: late\n', 9, 2, 'no space left', 'pattern'],
    ['is the first when the hit is at the beginning', 'no space left\nerror: late\n', 0, 1, 'no space left', 'pattern'],
    ['is the last that speaks of an error', 'error: one\nERROR two\nbye\n', undefined, 2, 'ERROR two', 'word'],
    ['is a panic', 'panic: nil map\ngoroutine 1 [running]:\n', undefined, 1, 'panic: nil map', 'word'],
    ['is an exception', 'java.io.IOException: gone\n\tat a.B.c\n', undefined, 1, 'java.io.IOException: gone', 'word'],
    ['is what was killed', 'heap 467 MiB\nKilled\n\n', undefined, 2, 'Killed', 'word'],
    [
      'speaks of an error, not of none',
      'Fatal: x\n0 errors\nno exceptions\nerrors=0\n',
      undefined,
      1,
      'Fatal: x',
      'word',
    ],
    [
      'is what did not work, where no line speaks of an error',
      'kex: read: Connection reset by peer\nConnection closed\n',
      undefined,
      1,
      'kex: read: Connection reset by peer',
      'word',
    ],
    ['is an error before what did not work since', 'error: one\nclean-up failed\n', undefined, 1, 'error: one', 'word'],
    ['is the last that is not empty, else', 'one\ntwo\n \n\n', undefined, 2, 'two', 'lastLine'],
    ['is no word that has one in it', 'a skilled worker\nbye', undefined, 2, 'bye', 'lastLine'],
    ['turns no text around it', 'error \u202egnp.exe\u001b[0m', undefined, 1, 'error gnp.exe', 'word'],
  ];
  for (const [what, log, hitAt, number, text, by] of rows)
    test(what, () => assert.deepEqual(decisiveLine(log, hitAt), { number, text, by }));

  test('is none of an empty log', () => {
    for (const log of ['', '\n', ' \n\t\n']) assert.equal(decisiveLine(log), undefined);
  });

  test('has at most 500 characters, and its number is that of the log whatever stands in it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 600 })), fc.nat(20), (lines, at) => {
        const log = [
          ...lines.slice(0, at),
          'fatal: it ended',
          ...lines.slice(at).map((line) => line.replace(/[a-z]/gi, '')),
        ];
        const text = log.join('\n');
        const line = decisiveLine(text);
        assert.ok(line && line.text.length <= 500);
        const words = /error|fatal|panic|exception|\bkilled/i;
        if (line.by === 'word') assert.match(text.split('\n')[line.number - 1] ?? '', words);
      }),
    );
  });
});

const piece = (name: string, body: string | undefined): Evidence => ({
  owner: 'job',
  kind: 'logs',
  name,
  cronJobUid: 'cronjob',
  createdAt: 1,
  capturedAt: 2,
  body,
  truncated: false,
  unavailable: body === undefined ? 'podGone' : undefined,
});

describe('the decisive lines of a run', () => {
  test('are one an attempt, of the container that failed, and none of one without a log', () => {
    const logs = [
      piece('p1/setup', 'error: not this\n'),
      piece('p1/main', 'error: first\n'),
      piece('p2/main', undefined),
      piece('p3/main', 'bye\n'),
      piece('p3/proxy', 'error: another container\n'),
    ];
    assert.deepEqual(decisiveLines(logs, { container: 'main' }), [
      { pod: 'p1', container: 'main', number: 1, text: 'error: first', by: 'word' },
      { pod: 'p3', container: 'main', number: 1, text: 'bye', by: 'lastLine' },
    ]);
  });

  test('have the two lines before them, as far as they say something', () => {
    const before = (log: string) => decisiveLines([piece('p1/main', log)], { container: 'main' })[0]?.before;
    assert.deepEqual(before('one\n two\nthree\nerror: it\n'), [' two', 'three']);
    assert.deepEqual(before('one\n\nerror: it\n'), ['one']);
    assert.equal(before('error: it\n'), undefined);
  });

  test('that a pattern was found in once are found in every attempt that says the same', () => {
    const logs = [
      piece('p1/main', 'disk 98 % full at 02:16\nerror: gave up\n'),
      piece('p2/main', 'ready\ndisk 99 % full at 02:34\nerror: gave up\n'),
    ];
    const lines = decisiveLines(logs, { container: 'main' }, { log: 'p2/main', at: 6 });
    assert.deepEqual(
      lines.map(({ number, by }) => [number, by]),
      [
        [1, 'pattern'],
        [2, 'pattern'],
      ],
    );
  });

  test('are found again in the end of the same log, and not where they are cut off', () => {
    const line = { number: 400, text: 'error: disk 99 % full', by: 'word' as const };
    assert.equal(findAgain(line, 'a\nerror: disk 99 % full\nb\n')?.number, 2);
    assert.equal(findAgain(line, 'b\n'), undefined);
  });
});

describe('a masked line', () => {
  for (const [one, other] of [
    ['2026-11-23T02:52:54.118Z ERROR chunk 12/160', '2026-11-21T02:10:01Z ERROR chunk 160/160'],
    ['Nov 23 02:52:54 node kernel: out of memory', 'Nov 9 12:00:00 node kernel: out of memory'],
    ['pod nightly-backup-29402280-x7kqm took 12.5s', 'pod nightly-backup-29402281-p9d7c took 300ms'],
    ['request 7b1c0a34-5d9e-4c1a-9f00-0000000000aa failed', 'request 00000000-5d9e-4c1a-9f00-0000000000ab failed'],
    ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8', 'commit 0123456789abcdef'],
  ] as const)
    test(`says the same: ${one}`, () => assert.equal(maskLine(one), maskLine(other)));

  for (const [one, other] of [
    ['error: no space left', 'error: no route'],
    ['facade added', 'decade faded'],
    ['connected to db-1', 'connected to cache-1'],
  ] as const)
    test(`says something else: ${one}`, () => assert.notEqual(maskLine(one), maskLine(other)));
});
