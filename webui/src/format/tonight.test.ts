import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tonight, TonightItem } from '@cronjob-monitor/shared/contract';
import { peakOf, startsText, tonightFoot, tonightMore, tonightReason, tonightTitle, tonightWhen } from './tonight.ts';

const viewer = { nowMs: Date.parse('2026-11-24T21:30:00Z'), timeZone: 'Europe/Berlin' };
const item: TonightItem = {
  cronjob: { namespace: 'prod', name: 'nightly-backup' },
  at: ['2026-11-24T21:00:00.000Z', '2026-11-25T01:00:00.000Z'],
  runs: 2,
  expectedSeconds: null,
  p95Seconds: null,
  risks: [{ code: 'repeats', level: 'likely', words: 'Failed the last 2 runs; nothing changed since' }],
  told: { state: 'reached', channels: ['team-chat'], words: 'team-chat hears it' },
};
const tonight: Tonight = {
  from: '2026-11-24T21:30:00.000Z',
  until: '2026-11-25T05:00:00.000Z',
  span: 'night',
  cronjobs: 33,
  runs: 90,
  atRisk: 6,
  starts: [
    { at: '2026-11-24T21:30:00.000Z', runs: 1 },
    { at: '2026-11-25T01:00:00.000Z', runs: 10 },
    { at: '2026-11-25T01:15:00.000Z', runs: 10 },
    { at: '2026-11-25T01:30:00.000Z', runs: 0 },
  ],
  items: [item],
  calm: 27,
  score: { nights: 0, failures: 0, foreseen: 0, false: 0 },
};

test('the title says how long it looks, what runs, and what is at risk', () => {
  assert.equal(tonightTitle(tonight, viewer), 'Tonight until 06:00: 33 CronJobs run, 6 are at risk');
  const day = { ...tonight, span: 'day', until: '2026-11-25T21:00:00.000Z', cronjobs: 1, atRisk: 1 } as const;
  assert.equal(tonightTitle(day, viewer), 'Today until 22:00: 1 CronJob runs, 1 is at risk');
  const none = { ...tonight, cronjobs: 0, atRisk: 0 };
  assert.equal(tonightTitle(none, viewer), 'Tonight until 06:00: no CronJob runs, none is at risk');
});

test('a row tells its next run by the zone of the page, and many runs as a whole', () => {
  assert.equal(tonightWhen(item, 'night', viewer), '02:00');
  assert.equal(tonightWhen({ ...item, runs: 25 }, 'night', viewer), 'all night');
  assert.equal(tonightWhen({ ...item, runs: 25 }, 'day', viewer), 'all day');
  assert.equal(tonightWhen({ ...item, at: [], runs: 0 }, 'night', viewer), '–');
});

test('a row says its reasons with their times, and once who hears', () => {
  assert.equal(tonightReason(item, viewer), 'Failed the last 2 runs; nothing changed since. team-chat hears it');
  const late = { code: 'limit', level: 'possible', words: 'To be done by {at:2026-11-24T23:30:00.000Z}' } as const;
  const deaf = { code: 'deaf', level: 'possible', words: 'If it fails, no channel is told' } as const;
  assert.equal(
    tonightReason(
      { ...item, risks: [late, deaf], told: { ...item.told, words: 'If it fails, no channel is told' } },
      viewer,
    ),
    'To be done by 2026-11-25 00:30. If it fails, no channel is told',
  );
  const suspended = { code: 'cannot', level: 'possible', words: 'Suspended: its run does not start' } as const;
  assert.equal(tonightReason({ ...item, risks: [suspended] }, viewer), 'Suspended: its run does not start');
});

test('the foot counts what is not shown, and what has no finding', () => {
  assert.equal(tonightFoot(tonight), '27 run without a finding');
  assert.equal(tonightMore(tonight, 6), undefined);
  assert.equal(tonightMore(tonight, 4), '2 more at risk');
});

test('the foot says how well nights were foreseen once one was judged', () => {
  const score = { nights: 30, failures: 46, foreseen: 41, false: 6 };
  const foot = '27 run without a finding. 30 nights: 41 of 46 foreseen, 6 false';
  assert.equal(tonightFoot({ ...tonight, score }), foot);
  const one = { nights: 1, failures: 0, foreseen: 0, false: 2 };
  assert.equal(tonightFoot({ ...tonight, score: one }), '27 run without a finding. 1 night: nothing failed, 2 false');
});

test('the first quarter of an hour with the most starts is the peak', () => {
  assert.equal(peakOf(tonight.starts), 1);
  assert.equal(peakOf([{ at: tonight.from, runs: 0 }]), undefined);
  assert.equal(startsText(tonight.starts[1], viewer), '10 start at 25 Nov 02:00');
  assert.equal(startsText(tonight.starts[0], viewer), '1 starts at 22:30');
  assert.equal(startsText(tonight.starts[3], viewer), 'none starts at 25 Nov 02:30');
});
