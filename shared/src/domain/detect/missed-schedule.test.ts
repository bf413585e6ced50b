import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missedSchedule, type JudgedSlot, type MissedScheduleRule } from './missed-schedule.ts';

const outcomes = { m: 'missed', s: 'matched', l: 'late', f: 'skippedForbid', d: 'skippedDeadline' } as const;

/** Slots written newest first, an hour apart. */
function slots(text: string): JudgedSlot[] {
  return [...text].map((letter, index) => ({
    at: (text.length - index) * 3_600_000,
    outcome: outcomes[letter as keyof typeof outcomes],
    cause: undefined,
  }));
}

const rule: MissedScheduleRule = { enabled: true, threshold: 1, skipWarnAfter: undefined };
const cases: {
  says: string;
  more?: Partial<MissedScheduleRule>;
  slots: string;
  paused?: boolean;
  count?: number;
  reason?: string;
}[] = [
  { says: 'one missed run is enough by default', slots: 'ms', count: 1, reason: 'missed' },
  { says: 'a later run that starts ends it', slots: 'sm' },
  { says: 'a late start ends it too', slots: 'lm' },
  { says: 'missed runs in a row are counted', slots: 'mmms', count: 3, reason: 'missed' },
  { says: 'stays quiet below the threshold', more: { threshold: 2 }, slots: 'ms' },
  { says: 'skips behind a long run are no misses', slots: 'fffs' },
  {
    says: 'a skip between two misses does not break the row',
    more: { threshold: 2 },
    slots: 'mfms',
    count: 2,
    reason: 'missed',
  },
  {
    says: 'warns after so many skips, if asked to',
    more: { skipWarnAfter: 3 },
    slots: 'fdfs',
    count: 3,
    reason: 'skipped',
  },
  { says: 'fewer skips are no warning', more: { skipWarnAfter: 3 }, slots: 'ffs' },
  { says: 'a paused CronJob misses nothing', slots: 'mms', paused: true },
  { says: 'switched off', more: { enabled: false }, slots: 'mmm' },
];

for (const { says, more, slots: text, paused, count, reason } of cases) {
  test(`missedSchedule: ${says}`, () => {
    const verdict = missedSchedule({ ...rule, ...more }, { slots: slots(text), paused: paused ?? false });
    assert.deepEqual(
      verdict.kind === 'holds' ? [verdict.count, verdict.reason] : [],
      count === undefined ? [] : [count, reason],
    );
  });
}

test('missedSchedule: what was due before a suspension is not told anew as the CronJob resumes', () => {
  const hour = 3_600_000;
  const pauses = [{ fromAt: 3.5 * hour, toAt: 5.5 * hour }];
  const misses = (text: string) => {
    const verdict = missedSchedule(rule, { slots: slots(text), paused: false, pauses });
    return verdict.kind === 'holds' ? verdict.count : 0;
  };
  assert.equal(misses('mms'), 0, 'both were due before it');
  // Slots of one, two, three and six hours: those between were suspended, and are none of these.
  const [before, after] = [slots('mms'), { at: 6 * hour, outcome: 'missed', cause: undefined } as const];
  const verdict = missedSchedule(rule, { slots: [after, ...before], paused: false, pauses });
  assert.equal(verdict.kind === 'holds' ? verdict.count : 0, 1, 'the first that was due after it counts alone');
});

test('missedSchedule began with the first run that did not come, and names the last', () => {
  const verdict = missedSchedule(rule, { slots: slots('mms'), paused: false });
  assert.ok(verdict.kind === 'holds');
  assert.equal(verdict.since, 2 * 3_600_000);
  assert.equal(verdict.detail['lastSlotAt'], 3 * 3_600_000);
});

test('missedSchedule began with the row that was long enough first, though the other one is so later', () => {
  const sinceHours = (text: string, more: Partial<MissedScheduleRule>) => {
    const verdict = missedSchedule({ ...rule, ...more }, { slots: slots(text), paused: false });
    return verdict.kind === 'holds' && [verdict.reason, verdict.since / 3_600_000];
  };
  assert.deepEqual(sinceHours('mffs', { skipWarnAfter: 2 }), ['missed', 2], 'the run that was skipped for too long');
  assert.deepEqual(sinceHours('fmfs', { skipWarnAfter: 2 }), ['missed', 3], 'a missed run was enough before');
  assert.deepEqual(sinceHours('mffms', { skipWarnAfter: 2, threshold: 2 }), ['missed', 3]);
});

test('missedSchedule says whose fault the last run that did not come is, also where the row goes on', () => {
  const platform = { cause: 'platform', scope: 'cluster' } as const;
  const [last, ...before] = slots('mms');
  assert.ok(last);
  const verdict = missedSchedule(rule, { slots: [{ ...last, fault: platform }, ...before], paused: false });
  assert.deepEqual(verdict.kind === 'holds' && verdict.detail['fault'], platform);
});
