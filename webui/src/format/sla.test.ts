import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlaTarget, Verdict } from '@cronjob-monitor/shared/contract';
import {
  inGroups,
  burnText,
  changeText,
  daysText,
  lastsText,
  marginText,
  slaCurrentText,
  slaHeadline,
  slaOverview,
  slaTargetText,
} from './sla.ts';

describe('a target', () => {
  const rate: SlaTarget = {
    owner: null,
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
    budget: { allowed: 2.85, burnt: 2, left: 0.85, burntPercent: 70.18, daysLeft: 3 },
    daily: null,
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
    budget: null,
  };
  const over = { allowed: 1.4, burnt: 5, left: -3.6, burntPercent: 357.14, daysLeft: null };
  const limit = { allowed: 1_500, burnt: 3_174, left: -1_674, burntPercent: 211.6, daysLeft: null };
  const rows: readonly (readonly [Partial<SlaTarget>, string, string, string | undefined, string | undefined])[] = [
    [{}, 'Success, 95 % in 7 d', '91.2 %', '2 failures left', '3 d'],
    [{ failuresLeft: 0, verdict: 'atRisk' }, 'Success, 95 % in 7 d', '91.2 %', 'The next failure breaches', '3 d'],
    [
      { failuresLeft: null, verdict: 'breached', budget: over },
      'Success, 95 % in 7 d',
      '91.2 %',
      '4 failures over',
      'spent',
    ],
    [
      { current: null, runs: 0, verdict: 'noData', budget: null },
      'Success, 95 % in 7 d',
      'no data',
      'No run yet',
      undefined,
    ],
    [{ ...seconds }, 'Takes at least 2 min', '4 s', undefined, undefined],
    [
      { ...seconds, subject: 'maxDuration', target: 1_500, current: 3_174, budget: limit },
      'Takes at most 25 min',
      '52 min 54 s',
      '27 min 54 s over',
      undefined,
    ],
    [
      { ...seconds, subject: 'finishBy', target: null, current: null, unit: null, finishBy: '06:00 Europe/Berlin' },
      'Finished by 06:00 Europe/Berlin',
      'in time',
      undefined,
      undefined,
    ],
  ];
  for (const [changes, wanted, now, margin, lasts] of rows)
    test(`of ${wanted} stands at ${now}${margin === undefined ? '' : `: ${margin}`}`, () => {
      const target = { ...rate, ...changes };
      const said = [slaTargetText(target), slaCurrentText(target), marginText(target), lastsText(target)];
      assert.deepEqual(said, [wanted, now, margin, lasts]);
    });

  test('says how much of its budget is burnt, beyond all of it as a multiple', () => {
    const burnt = (burntPercent: number | null) => burnText({ ...over, burntPercent });
    assert.deepEqual([0, 45.8, 100, 357.14, 2_000, null].map(burnt), [
      '0 %',
      '46 %',
      '100 %',
      '3.6 x',
      '20 x',
      'no budget',
    ]);
  });

  test('says in words what the drawing of its days shows', () => {
    const day = { value: 100, isBroken: false };
    const daily = [null, day, { value: 50, isBroken: true }, day];
    assert.equal(daysText({ ...rate, daily }), '3 days with runs in 30 days, 1 of them below the target');
  });

  test('is compared with the window before, where both have data', () => {
    assert.equal(changeText(rate), '−4.0 points');
    assert.equal(changeText({ ...rate, previous: 91.2 }), 'as before');
    assert.equal(changeText({ ...rate, previous: 90 }), '+1.2 points');
    assert.equal(changeText({ ...rate, previous: null }), undefined);
  });
});

describe('the headline of the targets', () => {
  const none = { breached: 0, pending: 0, atRisk: 0, noData: 0, met: 0 };
  const rows = [
    [
      { ...none, breached: 10, pending: 1, atRisk: 4, noData: 2, met: 18 },
      '11 of 35 targets are breached; 4 breach at the next failure',
    ],
    [{ ...none, breached: 1 }, '1 of 1 target is breached'],
    [{ ...none, atRisk: 1, met: 3 }, 'No target is breached; 1 breaches at the next failure'],
    [{ ...none, met: 3 }, 'All 3 targets are met'],
    [{ ...none, met: 3, noData: 1 }, 'All 3 targets with runs are met'],
    [{ ...none, noData: 2 }, 'No target has runs yet'],
    [none, 'No target is set'],
  ] as const;
  for (const [summary, words] of rows) test(words, () => assert.equal(slaHeadline(summary), words));

  test('names who has burnt most, and how the others stand', () => {
    const budget = { allowed: 0.35, burnt: 7, left: -6.65, burntPercent: 2_000, daysLeft: null };
    const worst = {
      cronjob: { namespace: 'team-b', name: 'scratch-cleaner' },
      subject: 'successRate',
      budget,
    } as SlaTarget;
    const summary = { ...none, met: 18, noData: 2 };
    assert.equal(
      slaOverview(summary, worst),
      'Worst: scratch-cleaner has burnt 20 times its budget. 18 targets met, 2 without a run yet.',
    );
    assert.equal(slaOverview(none, undefined), '');
  });
});

describe('groups of targets', () => {
  const of = (name: string, owner: string | null, namespace = 'prod') => ({ owner, cronjob: { namespace, name } });
  const targets = [of('c', 'data'), of('b', null), of('a', 'data', 'other')];
  const told = (by: 'owner' | 'namespace' | 'none') =>
    inGroups(targets, by).map(({ name, targets: those }) => [name, those.map(({ cronjob }) => cronjob.name).join('')]);

  test('are in the order of the first of each, and those that no team owns are one', () => {
    assert.deepEqual(told('owner'), [
      ['data', 'ca'],
      ['No owner', 'b'],
    ]);
    assert.deepEqual(told('namespace'), [
      ['prod', 'cb'],
      ['other', 'a'],
    ]);
    assert.deepEqual(told('none'), [[undefined, 'cba']]);
  });
});
