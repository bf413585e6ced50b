import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoverageList, TypeCoverage } from '@cronjob-monitor/shared/contract';
import { coverageText, unheardText } from './coverage.ts';

const byState = { unwatched: 0, off: 0, nobody: 0, unreachable: 0, unproved: 0, reached: 0 };
const summary = (cronJobs: number, counts: Partial<typeof byState>): CoverageList['summary'] => ({
  cronJobs,
  covered: counts.reached ?? 0,
  percent: null,
  byState: { ...byState, ...counts },
  unnamed: 0,
  ignored: 0,
});
const type = (changes: Partial<TypeCoverage>): TypeCoverage => ({
  type: 'jobFailed',
  severity: 'warning',
  state: 'reached',
  reason: null,
  channels: ['team-chat'],
  ...changes,
});

test('one sentence counts those that can break unheard, and says what to do when every CronJob can', () => {
  assert.equal(
    unheardText(summary(42, { reached: 41, nobody: 1 }), false),
    '1 of 42 CronJobs can fail in a way that reaches no channel',
  );
  assert.equal(
    unheardText(summary(9, { unwatched: 1, off: 2, unreachable: 3, unproved: 3 }), true),
    '6 of 9 CronJobs can fail in a way that reaches no channel',
  );
  assert.equal(
    unheardText(summary(3, { unproved: 2, reached: 1 }), false),
    'None of 3 CronJobs can fail in a way that reaches no channel',
  );
  assert.equal(
    unheardText(summary(3, { nobody: 3 }), false),
    'All CronJobs are watched. No channel is told: set defaultMonitor.channels',
  );
  assert.equal(
    unheardText(summary(3, { nobody: 3 }), true),
    '3 of 3 CronJobs can fail in a way that reaches no channel',
    'of others than these it knows nothing',
  );
});

test('a CronJob says who hears, or of which types no channel does and why', () => {
  assert.equal(coverageText([]), 'No monitor selects it: widen a selector, or create a monitor');
  assert.equal(
    coverageText([type({}), type({ type: 'missedSchedule', channels: ['on-call'] })]),
    'Told to team-chat, on-call',
  );
  assert.equal(
    coverageText([
      type({}),
      type({ type: 'missedSchedule', state: 'off' }),
      type({ type: 'deadManTriggered', state: 'nobody', reason: 'severityNotRouted' }),
      type({ type: 'jobStuck', state: 'nobody', reason: 'severityNotRouted' }),
    ]),
    "missed run: no monitor looks for it; switch it on; dead-man's switch, stuck run: no channel takes this severity",
  );
});
