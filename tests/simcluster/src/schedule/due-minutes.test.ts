import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readCronText } from './cron-text.ts';
import { nextDue } from './due-minutes.ts';

const vectors = readFileSync(new URL('../../../golden/cron/robfig-2000.tsv', import.meta.url), 'utf8').split('\n');

interface Vector {
  readonly line: string;
  readonly schedule: string;
  readonly zone: string;
  readonly from: string | undefined;
  readonly expected: string;
}

function readVector(line: string): Vector | undefined {
  const match =
    /^(.*) \[(\S+?)(?: from (\S+))?\] (.*)$/.exec(line) ?? /^(.*?)\t\[?(\S+?)(?: from (\S+))?\]?\t(.*)$/.exec(line);
  if (match === null) return undefined;
  const [, schedule = '', zone = '', from, expected = ''] = match;
  return { line, schedule, zone, from, expected };
}

function slotsOf({ schedule, zone, from }: Vector): string {
  const rule = readCronText(schedule);
  if (from === undefined) return 'OK';
  const slots: string[] = [];
  for (let at = nextDue(rule, zone, Date.parse(from)); slots.length < 3; at = nextDue(rule, zone, at)) {
    if (at === undefined) return [...slots, 'none'].join(' ');
    slots.push(new Date(at).toISOString().replace('.000Z', 'Z'));
  }
  return slots.join(' ');
}

describe('slots found by walking over local time', () => {
  const known = vectors.map(readVector).filter((vector) => vector !== undefined);

  test('are those of the library that Kubernetes uses, but for odd changes of the clock', () => {
    assert.ok(known.length > 1_900);
    const wrong = known.filter((vector) => {
      try {
        return slotsOf(vector) !== vector.expected;
      } catch {
        return !vector.expected.startsWith('ERR');
      }
    });
    // Where a change of the clock skips or repeats part of an hour at midnight, the library's search leaves a slot out.
    assert.ok(wrong.length <= 6, wrong.map(({ line }) => line).join('\n'));
    for (const { zone } of wrong) assert.ok(zone !== 'UTC' && zone !== 'Europe/Berlin', zone);
  });

  const next = (schedule: string, from: string, zone = 'UTC'): string | undefined => {
    const at = nextDue(readCronText(schedule), zone, Date.parse(from));
    return at === undefined ? undefined : new Date(at).toISOString();
  };

  test('take the zone of the schedule before that of the CronJob', () => {
    assert.equal(next('0 12 * * *', '2026-06-01T00:00:00Z', 'Europe/Berlin'), '2026-06-01T10:00:00.000Z');
    assert.equal(next('TZ=Asia/Tokyo 0 12 * * *', '2026-06-01T00:00:00Z', 'Europe/Berlin'), '2026-06-01T03:00:00.000Z');
  });

  test('need both days to fit when one of them is a star, one otherwise', () => {
    assert.equal(next('0 0 13 * 5', '2026-11-01T00:00:00Z'), '2026-11-06T00:00:00.000Z');
    assert.equal(next('0 0 13 * *', '2026-11-01T00:00:00Z'), '2026-11-13T00:00:00.000Z');
    assert.equal(
      next('0 0 */2 * 5', '2026-11-01T00:00:00Z'),
      '2026-11-03T00:00:00.000Z',
      'a star with a step is no star',
    );
  });

  test('of an interval count from the last one', () => {
    assert.equal(next('@every 90s', '2026-11-01T00:00:10.500Z'), '2026-11-01T00:01:40.000Z');
  });

  test('do not exist for a day that no month has', () => {
    assert.equal(next('0 0 30 2 *', '2026-01-01T00:00:00Z'), undefined);
  });
});
