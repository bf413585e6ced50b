import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Judged, Part, Verdict } from '@cronjob-monitor/shared/domain';
import { dueWishesOf } from './asked-parts.ts';

const of = { cronJobId: 7, monitorId: 3 };
const quiet = (dueAt?: number): Verdict => ({ kind: 'quiet', reason: 'withinLimit', dueAt });
const judged = (...answers: [Judged['type'], Judged['subject'], Verdict][]): Judged[] =>
  answers.map(([type, subject, verdict]) => ({ type, subject, verdict }));
const wish = (parts: Part[], ...answers: Parameters<typeof judged>) =>
  dueWishesOf(of, judged(...answers), new Set(parts)).map(({ kind, at }) => [kind, at]);

test('the earliest instant of what was asked is the one that is due', () => {
  assert.deepEqual(
    wish(
      ['deadMan', 'suspended'],
      ['deadManTriggered', undefined, quiet(500)],
      ['jobSuspended', undefined, quiet(300)],
    ),
    [['presence', 300]],
  );
});

test('without an instant nothing is due any more', () => {
  assert.deepEqual(wish(['deadMan'], ['deadManTriggered', undefined, quiet()]), [['presence', undefined]]);
});

test('what holds is asked at each tick and needs no instant', () => {
  const holds: Verdict = {
    kind: 'holds',
    since: 1,
    reason: 'noSuccessWithin',
    count: 1,
    detail: {},
    figures: { measured: undefined, limit: undefined, unit: undefined },
  };
  assert.deepEqual(wish(['deadMan'], ['deadManTriggered', undefined, holds]), [['presence', undefined]]);
});

test('a verdict that waits is due when it can be told', () => {
  const waits: Verdict = { kind: 'undecided', reason: 'tooFewRuns', dueAt: 900 };
  assert.deepEqual(wish(['finishBy'], ['slaBreached', 'finishBy', waits]), [['finishBy', 900]]);
});

test('what was not asked leaves its instant as it is', () => {
  assert.deepEqual(wish(['jobFailed'], ['jobFailed', undefined, quiet()]), []);
});

test('what is open about a group of Jobs is asked again when it is let go', () => {
  assert.deepEqual(dueWishesOf(of, [], new Set<Part>(['deadMan']), 700), [{ ...of, kind: 'presence', at: 700 }]);
});
