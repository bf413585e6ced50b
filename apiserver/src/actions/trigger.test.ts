import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualJobName } from './trigger.ts';

test('a manual name keeps within 63 characters and ends its base well', () => {
  assert.equal(manualJobName('backup', 1_795_243_921), 'backup-manual-1795243921');
  const long = manualJobName('a'.repeat(52), 1_795_243_921);
  assert.equal(long.length, 63);
  const cut = manualJobName(`${'a'.repeat(43)}.-${'b'.repeat(9)}`, 1_795_243_921);
  assert.equal(cut, `${'a'.repeat(43)}-manual-1795243921`);
});
