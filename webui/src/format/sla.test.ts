import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlaTarget, Verdict } from '@cronjob-monitor/shared/contract';
import { changeText, marginText, slaCurrentText, slaTargetText } from './sla.ts';

describe('a target', () => {
  const rate: SlaTarget = {
    cronjob: { namespace: 'prod', name: 'backup' },
    monitor: { namespace: 'prod', name: 'dr' },
    subject: 'successRate',
    verdict: 'met',
    judged: {} as Verdict, // nothing of it is read
    target: 95,
    current: 91.23,
    unit: 'percent',
    finishBy: null,
    windowDays: 7,
    success: 52,
    runs: 57,
    previous: 95.2,
    previousSuccess: 50,
    previousRuns: 52,
    failuresLeft: 2,
    alertId: null,
  };
  const seconds: SlaTarget = {
    ...rate,
    subject: 'minDuration',
    unit: 'seconds',
    target: 120,
    current: 4,
    success: null,
    runs: null,
  };
  const rows: readonly (readonly [Partial<SlaTarget>, string, string, string | undefined])[] = [
    [{}, '95 %', '91.2 % (52 of 57)', '3 more failures breach'],
    [{ failuresLeft: 0, verdict: 'atRisk' }, '95 %', '91.2 % (52 of 57)', 'The next failure breaches'],
    [{ failuresLeft: null, verdict: 'breached' }, '95 %', '91.2 % (52 of 57)', 'Breached'],
    [{ current: null, runs: 0, verdict: 'noData' }, '95 %', 'no data', 'No run yet'],
    [{ ...seconds }, 'at least 2 min', '4 s', undefined],
    [{ ...seconds, subject: 'maxDuration' }, 'at most 2 min', '4 s', undefined],
    [
      { ...seconds, subject: 'finishBy', target: null, current: null, unit: null, finishBy: '06:00 Europe/Berlin' },
      'by 06:00 Europe/Berlin',
      'in time',
      undefined,
    ],
  ];
  for (const [changes, wanted, now, margin] of rows)
    test(`of ${wanted} stands at ${now}${margin === undefined ? '' : `: ${margin}`}`, () => {
      const target = { ...rate, ...changes };
      assert.deepEqual([slaTargetText(target), slaCurrentText(target), marginText(target)], [wanted, now, margin]);
    });

  test('is compared with the window before, where both have data', () => {
    assert.equal(changeText(rate), '−4.0 points');
    assert.equal(changeText({ ...rate, previous: 91.2 }), 'as before');
    assert.equal(changeText({ ...rate, previous: 90 }), '+1.2 points');
    assert.equal(changeText({ ...rate, previous: null }), undefined);
  });
});
