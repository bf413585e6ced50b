import assert from 'node:assert/strict';
import test from 'node:test';
import { fullJobName, fullReason, shortJobName, shortReason } from './short-text.ts';

test('a Job named after its CronJob is kept by the rest of its name', () => {
  assert.equal(shortJobName('backup-29920410', 'backup'), '-29920410');
  for (const name of ['backup-29920410', 'backup-manual-1795243921', 'backup', 'backup2-1', 'other', 'backup-']) {
    assert.equal(fullJobName(shortJobName(name, 'backup'), 'backup'), name);
  }
});

test('a known reason is kept as a number, any other as it is', () => {
  assert.equal(shortReason('CompletionsReached'), '#0');
  assert.equal(shortReason('BackoffLimitExceeded'), '#1');
  assert.equal(shortReason('OOMKilled'), '#8');
  assert.equal(shortReason('MyOperatorSaysNo'), 'MyOperatorSaysNo');
  for (const reason of ['CompletionsReached', 'TerminationByKubelet', 'Something', '', '#', '#0', '##1', '#x']) {
    assert.equal(fullReason(shortReason(reason)), reason);
  }
});
