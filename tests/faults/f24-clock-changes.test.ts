import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from '@cronjob-monitor/shared/domain/schedule';
import { aCronJob, openStage } from './ledger/stage.ts';

/** A day on each side of a change of the clock. The schedules are those that such a change hits. */
const changes = [
  { zone: 'America/New_York', startAt: '2026-03-07T12:00:00Z', endAt: '2026-03-09T12:00:00Z' },
  { zone: 'America/New_York', startAt: '2026-10-31T12:00:00Z', endAt: '2026-11-02T12:00:00Z' },
  { zone: 'Europe/Berlin', startAt: '2026-03-28T12:00:00Z', endAt: '2026-03-30T12:00:00Z' },
  { zone: 'Africa/Casablanca', startAt: '2026-02-14T12:00:00Z', endAt: '2026-02-16T12:00:00Z' },
  { zone: 'Africa/Casablanca', startAt: '2026-03-21T12:00:00Z', endAt: '2026-03-23T12:00:00Z' },
];
const schedules = ['30 1 * * *', '30 2 * * *', '0 3 * * *', '*/30 * * * *', '15 0-4 * * *'];

/** F24: nothing is missed because a clock changes, and nothing is due twice or never that the controller starts once. */
describe('F24, changes of the clock', () => {
  for (const { zone, startAt, endAt } of changes) {
    test(`${zone}, ${startAt.slice(0, 10)}`, async (context) => {
      const cronJobs = schedules.map((schedule, index) => aCronJob(`job-${index}`, { schedule, timeZone: zone }));
      const stage = await openStage(context, { startAt, cronJobs });
      await stage.passTo(endAt);
      assert.deepEqual(await stage.problems(Date.parse(endAt) - 30 * 60_000), []);
      for (const index of schedules.keys()) {
        const counts = await stage.counts(`job-${index}`);
        assert.deepEqual(Object.keys(counts), ['run: success'], schedules[index]);
      }
    });
  }

  /** Where the clock changes at midnight or by half an hour the simulated cluster is wrong: here the original decides. */
  const recorded: [zone: string, schedule: string, from: string, slots: string[]][] = [
    ['Australia/Lord_Howe', '45 1 * * *', '2026-10-03T00:00:00Z', ['2026-10-03T15:15:00Z', '2026-10-03T15:45:00Z']],
    ['Africa/Cairo', '0 5 * * 4', '2026-04-22T12:00:00Z', ['2026-04-23T03:00:00Z', '2026-04-24T02:00:00Z']],
    ['America/Sao_Paulo', '0 5 * * *', '2018-11-03T12:00:00Z', ['2018-11-04T07:00:00Z', '2018-11-05T07:00:00Z']],
  ];
  for (const [zone, schedule, from, slots] of recorded) {
    test(`${zone}: ${schedule} goes on as the controller does`, () => {
      const found = parse(schedule).between(Date.parse(from), Date.parse(slots.at(-1) ?? ''), zone);
      assert.deepEqual(
        found.map((at) => new Date(at).toISOString().replace('.000Z', 'Z')),
        slots,
      );
    });
  }

  test('a day that was left out ends every search at once', () => {
    const from = Date.parse('2011-12-28T00:00:00Z');
    const beganAt = performance.now();
    const found = parse('0 5 * * *').between(from, from + 5 * 86_400_000, 'Pacific/Apia');
    assert.ok(performance.now() - beganAt < 50, 'and soon');
    assert.deepEqual(new Set(found).size, found.length);
    assert.ok(found.every((at) => new Date(at).getTime() > from));
  });
});
