import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whyNotJudged, type ActiveJob } from '@cronjob-monitor/shared/contract';
import { nextRunText, type Coming, type ComingDetails } from './next-run.ts';

const nowMs = Date.parse('2026-11-21T19:48:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };

const daily: Coming = {
  nextRun: '2026-11-22T02:00:00.000Z',
  suspended: false,
  schedule: '0 2 * * *',
  timezone: null,
  scheduleProblem: null,
  deletedAt: null,
  concurrencyPolicy: 'Allow',
};

const active: ActiveJob = {
  jobName: 'sync-1',
  trigger: 'scheduled',
  startTime: '2026-11-21T19:30:00.000Z',
  runningDuration: '18m0s',
  runningSeconds: 1_080,
  podName: null,
  podPhase: null,
  ready: null,
  finishing: false,
  waitingReason: null,
  waitingMessage: null,
};
const longRun: ComingDetails = { activeJobs: [active], usualSeconds: 7 * 3_600 };

const rows: readonly (readonly [title: string, cronJob: Partial<Coming>, text: string, details?: ComingDetails])[] = [
  ['the time in the zone of the view', {}, 'Runs at 02:00 UTC (in 6 h 12 min)'],
  [
    'also in its own zone when that is another',
    { timezone: 'Europe/Zurich' },
    'Runs at 02:00 UTC, 03:00 Europe/Zurich (in 6 h 12 min)',
  ],
  [
    'also the day where the two zones differ in it',
    { timezone: 'America/New_York' },
    'Runs at 02:00 UTC, 2026-11-21 21:00 America/New_York (in 6 h 12 min)',
  ],
  [
    'with its date when that is far',
    { nextRun: '2026-11-25T02:00:00.000Z' },
    'Runs at 2026-11-25 02:00 UTC (in 3 d 6 h)',
  ],
  ['not, while suspended', { suspended: true, nextRun: null }, 'Will not run: suspended'],
  ['not, when deleted', { deletedAt: '2026-11-01T00:00:00.000Z', nextRun: null }, 'Will not run: deleted'],
  [
    'that it may be skipped under Forbid',
    { concurrencyPolicy: 'Forbid' },
    'May be skipped: Forbid, and a run of 7 h usually covers 02:00',
    longRun,
  ],
  [
    'that it may be skipped while one before it has not started',
    { concurrencyPolicy: 'Forbid' },
    'May be skipped: Forbid, and a run that has not started covers 02:00',
    { activeJobs: [{ ...active, podPhase: 'Pending', waitingReason: 'Unschedulable' }], usualSeconds: 60 },
  ],
  ['nothing of the kind under Allow', {}, 'Runs at 02:00 UTC (in 6 h 12 min)', longRun],
  [
    'nothing of the kind of a run by hand',
    { concurrencyPolicy: 'Forbid' },
    'Runs at 02:00 UTC (in 6 h 12 min)',
    { ...longRun, activeJobs: [{ ...active, trigger: 'manual' }] },
  ],
  ['a maintenance window', {}, 'Runs at 02:00 inside a maintenance window: alerts wait', { inMaintenance: true }],
  [
    'a date that does not come',
    { scheduleProblem: 'neverRuns', schedule: '0 0 30 2 *', nextRun: null },
    'Never runs: 30 February does not come',
  ],
  [
    'a schedule that cannot be read',
    { scheduleProblem: 'unparsable', schedule: '* *', nextRun: null },
    'Not known: the schedule "* *" cannot be read',
  ],
  [
    'a zone that the cluster speaks against',
    { scheduleProblem: 'zoneMismatch', nextRun: null },
    'Not known: the cluster reads its schedule in another zone than cluster.default-time-zone says',
  ],
];

describe('the next run tells', () => {
  for (const [title, changes, text, details] of rows) {
    test(title, () => assert.equal(nextRunText({ ...daily, ...changes }, viewer, details), text));
  }
});

test('a date is impossible only where one date is asked for and no year has it', () => {
  const why = (schedule: string) => whyNotJudged({ schedule, timeZone: null, problem: 'neverRuns' });
  assert.equal(why('0 0 31 4 *'), '31 April does not come');
  assert.equal(why('TZ=Europe/Zurich 0 0 30 FEB *'), '30 February does not come');
  for (const schedule of ['0 0 29 2 *', '0 0 31 * *', '0 0 30-31 2 *'])
    assert.equal(why(schedule), `no date matches "${schedule}"`);
});
