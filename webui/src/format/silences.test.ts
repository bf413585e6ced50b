import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Silence } from '@cronjob-monitor/shared/contract';
import { endAt, silenceChoices, silenceEnd } from './ends.ts';
import { endingText, endsSoonText, matcherText } from './silences.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };
const at = (clock: string): string => `2026-11-21T${clock}.000Z`;

describe('a silence', () => {
  const rows: readonly (readonly [Parameters<typeof matcherText>[0], string])[] = [
    [{ all: true }, 'Every alert of the whole fleet'],
    [{ namespaces: ['prod'], cronjobs: ['backup'] }, 'Alerts of prod/backup'],
    [{ namespaces: ['prod'], cronjobs: ['a', 'b'] }, 'Alerts of prod/a and prod/b'],
    [{ namespaces: ['prod', 'data'], cronjobs: ['a'] }, 'Alerts of a in prod and data'],
    [
      {
        refs: [
          { namespace: 'prod', name: 'a' },
          { namespace: 'data', name: 'b' },
        ],
      },
      'Alerts of prod/a and data/b',
    ],
    [{ namespaces: ['prod'] }, 'Alerts in prod'],
    [{ types: ['jobFailed'], severities: ['warning'] }, 'Warning failed run alerts'],
    [{ monitor: { namespace: 'prod', name: 'dr' } }, 'Alerts of monitor prod/dr'],
    [{ alertId: '0-9f3c21aa' }, 'Alerts that are the one alert #9f3c21aa'],
  ];
  for (const [matcher, text] of rows) test(`holds: ${text}`, () => assert.equal(matcherText(matcher), text));

  const silence = { state: 'active', endsAt: at('14:15:00'), mutedNow: 2 } as Silence; // what the warning looks at

  test('that ends soon over what still holds is warned of', () => {
    assert.equal(endsSoonText(silence, nowMs), 'over 2 alerts that still hold');
    assert.equal(endsSoonText({ ...silence, mutedNow: 1 }, nowMs), 'over 1 alert that still holds');
  });
  for (const [title, changes] of [
    ['later', { endsAt: at('14:34:00') }],
    ['over nothing', { mutedNow: 0 }],
    ['but has not begun', { state: 'scheduled' }],
    ['and is over', { endsAt: at('14:00:00') }],
  ] as const)
    test(`that ends ${title} is not`, () => assert.equal(endsSoonText({ ...silence, ...changes }, nowMs), undefined));

  test('says what its early end brings', () => {
    assert.match(endingText(silence), /^2 alerts that it holds are told now/);
    assert.match(endingText({ ...silence, mutedNow: 0 }), /nothing is sent/);
    assert.match(endingText({ ...silence, state: 'scheduled' }), /has not begun/);
  });
});

test('a silence that is set at a row ends at a whole minute, or when its CronJob succeeds', () => {
  assert.deepEqual(silenceEnd('1h', { ...viewer, nowMs: nowMs + 20_000 }), {
    asked: { endsAt: '2026-11-21T15:04:00.000Z' },
    words: 'until 15:04',
  });
  assert.deepEqual(silenceEnd('success', viewer), { asked: { untilSuccess: true }, words: 'until it succeeds' });
});

describe('the end of what a person sets', () => {
  const instant = (text: string): number => Date.parse(text);
  const rows: readonly (readonly [string, string, string])[] = [
    ['2026-11-21T14:03:20Z', 'UTC', '2026-11-22T09:00:00Z'],
    ['2026-11-21T06:00:00Z', 'UTC', '2026-11-21T09:00:00Z'],
    ['2026-11-21T09:00:00Z', 'UTC', '2026-11-22T09:00:00Z'],
    ['2026-11-21T06:30:00Z', 'Europe/Zurich', '2026-11-21T08:00:00Z'],
    // The night in which the clocks go forward, and the one in which they go back.
    ['2026-03-28T20:00:00Z', 'Europe/Zurich', '2026-03-29T07:00:00Z'],
    ['2026-10-24T20:00:00Z', 'Europe/Zurich', '2026-10-25T08:00:00Z'],
  ];
  for (const [now, timeZone, end] of rows)
    test(`is the next 09:00 of ${timeZone} after ${now}`, () =>
      assert.equal(endAt('morning', { nowMs: instant(now), timeZone }), instant(end)));

  test('is said to be tomorrow unless it is still today', () => {
    const morning = (now: string) => silenceChoices({ nowMs: instant(now), timeZone: 'UTC' })[2]?.words;
    assert.equal(morning('2026-11-21T14:03:20Z'), 'until tomorrow 09:00');
    assert.equal(morning('2026-11-21T02:10:00Z'), 'until 09:00');
  });

  test('or some hours away', () => assert.equal(endAt('4h', viewer) - nowMs, 4 * 3_600_000));
});
