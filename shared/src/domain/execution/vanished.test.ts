import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, slotAt } from '../../testing/index.ts';
import type { JobFacts } from './job.ts';
import { judgeVanished, type Vanishing } from './vanished.ts';

const goneAt = slotAt + 60_000;
const next = (changes: Partial<JobFacts> = {}): JobFacts => aJob({ slotAt: goneAt, createdAt: goneAt, ...changes });

/** [title, the Job, seen to go, policy, other Jobs, seconds since it went, verdict] */
const rows: [string, Partial<JobFacts>, boolean, 'Replace' | 'Allow' | undefined, JobFacts[], number, Vanishing][] = [
  ['a newer Job came at once', {}, true, 'Replace', [next()], 0, { status: 'replaced' }],
  [
    'a newer Job came just before',
    {},
    true,
    'Replace',
    [next({ createdAt: goneAt - 59_000 })],
    0,
    { status: 'replaced' },
  ],
  ['none has come yet', {}, true, 'Replace', [], 59, { undecidedUntilAt: goneAt + 60_000 }],
  ['none came within a minute', {}, true, 'Replace', [], 60, { status: 'deleted' }],
  ['one came much later', {}, true, 'Replace', [next({ createdAt: goneAt + 61_000 })], 90, { status: 'deleted' }],
  ['a Job of an older slot', {}, true, 'Replace', [next({ slotAt: slotAt - 60_000 })], 60, { status: 'deleted' }],
  [
    'a Job started by hand',
    {},
    true,
    'Replace',
    [next({ name: 'x', slotAt: undefined, manual: true })],
    60,
    { status: 'deleted' },
  ],
  ['another policy', {}, true, 'Allow', [next()], 0, { status: 'deleted' }],
  ['the CronJob is gone too', {}, true, undefined, [], 0, { status: 'deleted' }],
  [
    'a manual Job is never replaced',
    { name: 'x', slotAt: undefined, manual: true },
    true,
    'Replace',
    [next()],
    0,
    { status: 'deleted' },
  ],
  ['nobody watched', {}, false, 'Replace', [next()], 0, { status: 'unobserved' }],
];

for (const [title, changes, seen, policy, siblings, seconds, verdict] of rows) {
  test(`a Job is gone without an end: ${title}`, () => {
    const now = goneAt + seconds * 1000;
    assert.deepEqual(judgeVanished(aJob(changes), { at: goneAt, seen }, siblings, { policy, now }), verdict);
  });
}
