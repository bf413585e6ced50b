import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCronText } from './cron-text.ts';

const refused = (text: string): string => {
  try {
    readCronText(text);
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('reading a schedule', () => {
  test('understands lists, ranges, steps and names', () => {
    const rule = readCronText('*/20 8-10,20 1 jan-mar Mon,fri');
    assert.ok(rule.kind === 'calendar');
    assert.deepEqual([...rule.minutes], [0, 20, 40]);
    assert.deepEqual([...rule.hours], [8, 9, 10, 20]);
    assert.deepEqual([...rule.months], [1, 2, 3]);
    assert.deepEqual([...rule.daysOfWeek], [1, 5]);
  });

  test('refuses what does not fit, in the words of the server', () => {
    assert.match(refused('* * * *'), /expected exactly 5 fields, found 4: \[\* \* \* \*\]/);
    assert.match(refused('60 * * * *'), /above maximum \(59\)/);
    assert.match(refused('* * 0 * *'), /below minimum \(1\)/);
    assert.match(refused('@often'), /unrecognized descriptor: @often/);
    assert.match(refused('@every soon'), /failed to parse duration @every soon/);
    assert.match(refused('TZ=Mars/Base * * * * *'), /unknown time zone Mars\/Base/);
  });
});
