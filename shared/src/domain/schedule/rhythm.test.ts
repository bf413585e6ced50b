import assert from 'node:assert/strict';
import test from 'node:test';
import { rhythmOf, type Rhythm } from './rhythm.ts';

const now = Date.UTC(2026, 10, 21, 8, 0, 30);
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

function rhythm(text: string, zone = 'UTC'): Rhythm {
  const found = rhythmOf(text, zone, now);
  assert.ok(typeof found === 'object', text);
  return found;
}

test('the longest wait and the usual one of a schedule', () => {
  const rows: [text: string, largest: number, usual: number][] = [
    ['* * * * *', minuteMs, minuteMs],
    ['*/20 * * * *', 20 * minuteMs, 20 * minuteMs],
    ['0 2 * * *', dayMs, dayMs],
    ['0 9 * * 1-5', 3 * dayMs, dayMs],
    ['0,5,10 * * * *', 50 * minuteMs, 5 * minuteMs],
    ['@monthly', 31 * dayMs, 31 * dayMs],
    ['0 0 29 2 *', 4 * 365 * dayMs + dayMs, 4 * 365 * dayMs + dayMs],
    ['@every 90m', 90 * minuteMs, 90 * minuteMs],
  ];
  for (const [text, largest, usual] of rows) {
    const { largestGapMs, usualGapMs } = rhythm(text);
    assert.equal(largestGapMs, largest, text);
    assert.equal(usualGapMs, usual, text);
  }
  assert.equal(rhythm('0 4 * * *', 'Europe/Berlin').largestGapMs, dayMs + hourMs, 'the night when the clocks go back');
  assert.equal(rhythm('0 2 * * *', 'Europe/Berlin').largestGapMs, 2 * dayMs - hourMs, 'the night without two o’clock');
});

test('what cannot come round says why', () => {
  assert.equal(rhythmOf('61 * * * *', 'UTC', now), 'ScheduleInvalid');
  assert.equal(rhythmOf('0 2 * * *', 'Europe/Atlantis', now), 'ZoneUnknown');
  assert.equal(rhythmOf('0 0 31 2 *', 'UTC', now), 'ScheduleNeverFires');
});

test('a zone in the text is seen, and it wins', () => {
  assert.equal(rhythm('TZ=Europe/Berlin 0 2 * * *').hasZonePrefix, true);
  assert.equal(rhythm('CRON_TZ=UTC 0 2 * * *').hasZonePrefix, true);
  assert.equal(rhythm('0 2 * * *').hasZonePrefix, false);
  assert.equal(rhythm('TZ=Europe/Berlin 30 2 * * *').meetsClockChange, true);
  assert.equal(rhythm('TZ=UTC 30 2 * * *', 'Europe/Berlin').meetsClockChange, false);
});

test('slots in a skipped or doubled hour of the coming year are seen', () => {
  const rows: [text: string, zone: string, meets: boolean][] = [
    ['30 2 * * *', 'Europe/Berlin', true],
    ['0 3 * * *', 'Europe/Berlin', false],
    ['59 1 * * *', 'Europe/Berlin', false],
    ['0 2 * * *', 'Europe/Berlin', true],
    ['30 2 * * 1', 'Europe/Berlin', false], // the clocks change on Sundays
    ['30 1 * * *', 'America/New_York', true], // twice in November
    ['30 2 * * *', 'America/New_York', true], // never in March
    ['30 2 * * *', 'UTC', false],
    ['30 2 * * *', 'Asia/Tokyo', false],
    ['*/30 * * * *', 'Europe/Berlin', false], // whatever the clocks do, it goes on
    ['@every 5h', 'Europe/Berlin', false],
  ];
  for (const [text, zone, meets] of rows) assert.equal(rhythm(text, zone).meetsClockChange, meets, `${text} ${zone}`);
});
