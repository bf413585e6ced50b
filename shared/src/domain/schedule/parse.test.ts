import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, ScheduleError, type ScheduleErrorCode } from './index.ts';

const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2040, 0, 1);

/** The next three slots after 2026-01-01T00:00:00Z, or the code of the error. */
function slotsOf(spec: string, zone = 'UTC'): string[] | ScheduleErrorCode {
  try {
    const schedule = parse(spec);
    return schedule.between(from, to, zone, 3).map((slot) => new Date(slot).toISOString().slice(0, 16));
  } catch (error) {
    if (error instanceof ScheduleError) return error.code;
    throw error;
  }
}

/** Texts that fire alike. */
const same: readonly (readonly [string, string])[] = [
  ['5 4 * * *', '  5\t4\n*\u00a0*\u3000* '],
  ['5 4 * * *', '+5 004 ? * *'],
  ['5 4 * * *', ',5,,5, 4, * * *'],
  ['0 0 1 jan,DEC sUn', '0 0 1 1,12 0'],
  ['0 0 1 feb-Mar *', '0 0 1 2-3 *'],
  ['0 0 * * fr\u0130', '0 0 * * 5'],
  ['*/61 * * * *', '0 * * * *'],
  ['*/9223372036854775807 * * * *', '0 * * * *'],
  ['50/4 * * * *', '50,54,58 * * * *'],
  ['10-30/7 * * * *', '10,17,24 * * * *'],
  ['*-5 0 * * *', '* 0 * * *'],
  ['?-x-y/15 0 * * *', '*/15 0 * * *'],
  ['0 0 */1 * 1', '0 0 * * 1'],
  ['0 0 ? * 1', '0 0 * * 1'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
  ['TZ=Asia/Tokyo 0 9 * * *', 'TZ=UTC 0 0 * * *'],
  ['CRON_TZ=Asia/Tokyo    @daily\t', '0 15 * * *'],
  ['TZ= 5 4 * * *', 'CRON_TZ=UTC 5 4 * * *'],
  ['@every 90m0.9s', '@every 5400s'],
  ['@every 1ns', '@every 1s'],
  ['@every -5h', '@every 1s'],
  ['@every 0', '@every 1s'],
  ['TZ=Europe/Berlin @every 1h ', '@every 60m'],
];

test('reads different spellings of one schedule alike', () => {
  for (const [left, right] of same) {
    const slots = slotsOf(left);
    assert.ok(Array.isArray(slots) && slots.length === 3, `${left}: ${String(slots)}`);
    assert.deepEqual(slots, slotsOf(right), left);
  }
});

test('joins day of month and day of week by "or" unless one of them carries the star mark', () => {
  assert.deepEqual(slotsOf('0 0 13 * 5'), ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00']);
  assert.deepEqual(slotsOf('0 0 */2 * 1'), ['2026-01-03T00:00', '2026-01-05T00:00', '2026-01-07T00:00']);
  assert.deepEqual(slotsOf('0 0 */1 * 1'), ['2026-01-05T00:00', '2026-01-12T00:00', '2026-01-19T00:00']);
  assert.deepEqual(slotsOf('0 0 13 * 0-6'), ['2026-01-02T00:00', '2026-01-03T00:00', '2026-01-04T00:00']);
  assert.deepEqual(slotsOf('0 0 13 * *,5'), ['2026-01-13T00:00', '2026-02-13T00:00', '2026-03-13T00:00']);
});

test('accepts an empty list, which matches nothing', () => {
  for (const spec of [', * * * *', '* ,, * * *', '* * * , *', '* * , * ,', '* * * * ,', '* * , * *']) {
    assert.deepEqual(slotsOf(spec), [], spec);
  }
  assert.equal(slotsOf('0 0 , * 1').length, 3);
});

const rejected: readonly string[] = [
  '',
  ' ',
  '* * * *',
  '* * * * * *',
  '0 0 * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * 32 * *',
  '* * * 0 *',
  '* * * 13 *',
  '* * * * 7',
  '-5 * * * *',
  '1.5 * * * *',
  '0x5 * * * *',
  '1_0 * * * *',
  '٣ * * * *',
  '+ * * * *',
  '++1 * * * *',
  '* * L * *',
  '* * 1W * *',
  '* * * * 5#2',
  'H * * * *',
  'jan * * * *',
  '* * * * jan',
  '* * * * monday',
  '10-5 * * * *',
  '* * * * fri-mon',
  '1-2-3 * * * *',
  '1- * * * *',
  '1-5/ * * * *',
  '/5 * * * *',
  '*/0 * * * *',
  '*/-0 * * * *',
  '*/-1 * * * *',
  '1/2/3 * * * *',
  '* * * */feb *',
  '** * * * *',
  '5* * * * *',
  '9223372036854775808 * * * *',
  '*/9223372036854775808 * * * *',
  '5\ufeff4 * * *',
  '5\u200b4 * * * *',
  '@Daily',
  '@daily ',
  ' @daily',
  '@reboot',
  '@',
  '@every',
  '@every ',
  '@every 1d',
  '@every  1h',
  '@every 1h ',
  '@every\t1h',
  '@every 5',
  '@every1h',
  '@every 2562047h47m16.854775808s',
  'TZ=UTC',
  'TZ=UTC ',
  'TZ=UTC\t*\t*\t*\t*\t*',
  ' TZ=UTC * * * * *',
  'tz=UTC * * * * *',
];

test('rejects what the CronJob controller rejects', () => {
  for (const spec of rejected) assert.equal(slotsOf(spec), 'syntax', JSON.stringify(spec));
});

test('rejects a prefix whose zone is unknown', () => {
  for (const zone of ['Mars/Olympus', 'utc', 'europe/berlin', '+05:00', 'local', 'PST', '../UTC', 'UTC\t*']) {
    assert.equal(slotsOf(`TZ=${zone} * * * * *`), 'zone', zone);
    assert.equal(slotsOf(`CRON_TZ=${zone} @every 1h`), 'zone', zone);
  }
});

test('names its kind and the zone of its prefix', () => {
  assert.deepEqual([parse('@daily').kind, parse('@daily').zone], ['cron', null]);
  assert.deepEqual([parse('@every 1h').kind, parse('@every 1h').zone], ['every', null]);
  assert.equal(parse('TZ=Asia/Kolkata @daily').zone, 'Asia/Kolkata');
  assert.equal(parse('CRON_TZ=US/Pacific @every 1h').zone, 'US/Pacific');
  assert.equal(parse('TZ= @daily').zone, 'UTC');
  assert.equal(parse('TZ=Local @daily').zone, null);
});

test('lets a prefix win over the zone asked for', () => {
  assert.deepEqual(slotsOf('TZ=Asia/Tokyo 0 9 * * *', 'America/New_York'), slotsOf('0 0 * * *', 'UTC'));
  assert.deepEqual(slotsOf('TZ=Local 0 9 * * *', 'Asia/Tokyo'), slotsOf('0 0 * * *', 'UTC'));
});
