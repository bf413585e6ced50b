import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { createOutlooks, outlookOf, reconcileCronJobs } from './reconcile.ts';

const at = (text: string) => Date.parse(`2026-03-02T${text}Z`);
const now = at('10:20:00');
const cronJob = (more: Parameters<typeof aCronJob>[0]) =>
  aCronJob({
    timeZone: undefined,
    suspended: false,
    deletingAt: undefined,
    lastScheduleAt: undefined,
    deadlineS: undefined,
    createdAt: at('00:00:00'),
    ...more,
  });

test('the next run is told in the zone of the CronJob, else in that of the cluster', () => {
  assert.deepEqual(outlookOf(cronJob({ schedule: '0 11 * * *' }), 'UTC', now), {
    problem: undefined,
    nextRunAt: at('11:00:00'),
  });
  assert.equal(
    outlookOf(cronJob({ schedule: '0 12 * * *', timeZone: 'Europe/Zurich' }), 'UTC', now).nextRunAt,
    at('11:00:00'),
  );
  assert.equal(outlookOf(cronJob({ schedule: '0 12 * * *' }), 'Europe/Zurich', now).nextRunAt, at('11:00:00'));
});

test('a suspended CronJob, and one that is being deleted, has no next run and no problem', () => {
  for (const more of [{ suspended: true }, { deletingAt: now }]) {
    assert.deepEqual(outlookOf(cronJob({ schedule: '0 11 * * *', ...more }), 'UTC', now), {
      problem: undefined,
      nextRunAt: undefined,
    });
  }
});

test('intervals count from the last start, not from now', () => {
  const every = cronJob({ schedule: '@every 90m', lastScheduleAt: at('09:10:00') });
  assert.equal(outlookOf(every, 'UTC', now).nextRunAt, at('10:40:00'));
  assert.equal(outlookOf(every, 'UTC', at('12:00:00')).nextRunAt, at('12:10:00'), 'missed ones keep the phase');
});

for (const [says, more, problem] of [
  ['no schedule at all', { schedule: 'every day' }, 'unparsable'],
  ['a zone that does not exist', { schedule: '0 1 * * *', timeZone: 'Mars/Base' }, 'unknownZone'],
  ['30 February', { schedule: '0 0 30 2 *' }, 'neverRuns'],
  ['an interval longer than the starting deadline', { schedule: '@every 10m', deadlineS: 60 }, 'neverRuns'],
] as const) {
  test(`${says} is ${problem}`, () => {
    assert.deepEqual(outlookOf(cronJob(more), 'UTC', now), { problem, nextRunAt: undefined });
  });
}

test('an interval with a deadline that covers it runs', () => {
  assert.equal(outlookOf(cronJob({ schedule: '@every 1m', deadlineS: 60 }), 'UTC', now).problem, undefined);
});

test('an outlook is told again until its instant has passed, and anew for a CronJob that changed', () => {
  const outlooks = createOutlooks('UTC');
  const hourly = cronJob({ schedule: '0 * * * *' });
  const first = outlooks(hourly, now);
  assert.equal(outlooks(hourly, at('10:59:59')), first, 'the very same');
  assert.equal(outlooks(hourly, at('11:00:00')).nextRunAt, at('12:00:00'));
  assert.equal(outlooks(hourly, now).nextRunAt, at('11:00:00'), 'also for a clock that was set back');
  assert.equal(outlooks(cronJob({ schedule: '30 * * * *' }), now).nextRunAt, at('10:30:00'));
  const broken = cronJob({ schedule: 'often' });
  assert.equal(outlooks(broken, now).problem, 'unparsable');
  assert.equal(outlooks(broken, at('10:30:00')), outlooks(broken, now));
});

test('a CronJob that went and was written is not written again beside the one that took its name, though its row was pruned', async () => {
  const old = cronJob({ uid: 'old', createdAt: at('01:00:00') });
  const young = cronJob({ uid: 'young', createdAt: at('10:00:00') });
  const went = { cronJob: old, at: at('02:00:00'), thereUntilAt: at('02:00:00'), lastEndedAt: -Infinity };
  const unjudged = { judges: new Map(), goneJobs: [], isJudged: false, isWritten: false };
  const departure = { ...went, ...unjudged, firstEndedAt: Infinity };
  const written: string[] = [];
  const reconcile = () =>
    reconcileCronJobs(['young'], {
      cronJobs: { find: (uid) => (uid === 'young' ? young : undefined) },
      isMonitored: () => true,
      departuresOf: () => [departure],
      records: {
        noteLeftOut: () => Promise.resolve(),
        readMarks: () => Promise.resolve(new Map()),
        write: ({ seen, gone }) => {
          written.push(...seen.map(({ facts }) => facts.uid), ...gone.map(({ uid }) => `${uid} is gone`));
          return Promise.resolve({ first: [], respecified: [] });
        },
      },
      clock: { ...systemClock, now: () => now },
      outlookOf: (of) => outlookOf(of, 'UTC', now),
      watchedUntilAt: undefined,
      onFirstProjected: () => {},
      onRespecified: () => {},
    });
  await reconcile();
  assert.deepEqual(written.splice(0), ['old', 'old is gone', 'young']);
  await reconcile();
  assert.deepEqual(written, ['young']);
});
