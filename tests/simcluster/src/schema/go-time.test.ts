import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printTime, readGoTime, TimeSyntaxError } from './go-time.ts';

test('times are given back in UTC, in whole seconds or exactly six decimals', () => {
  assert.equal(readGoTime('2026-01-01T01:00:00.999+01:00', 'Time'), '2026-01-01T00:00:00Z');
  assert.equal(readGoTime('2026-01-01T00:00:00.123456Z', 'MicroTime'), '2026-01-01T00:00:00.123456Z');
  assert.equal(printTime(Date.parse('2026-01-01T00:00:00.999Z')), '2026-01-01T00:00:00Z');
});

test('what is no time is refused in the words of Go', () => {
  const refused = (text: string, form: 'Time' | 'MicroTime'): RegExp | string => {
    try {
      return readGoTime(text, form);
    } catch (error) {
      assert.ok(error instanceof TimeSyntaxError);
      return error.message;
    }
  };
  assert.equal(
    refused('yesterday', 'Time'),
    'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  );
  assert.equal(refused('2026-02-30T00:00:00Z', 'Time'), 'parsing time "2026-02-30T00:00:00Z": day out of range');
  assert.match(String(refused('2026-01-01T00:00:00Z', 'MicroTime')), /cannot parse "Z" as "\.000000"/);
});
