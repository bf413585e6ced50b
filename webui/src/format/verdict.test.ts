import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CronJob, WorstAlert } from '@cronjob-monitor/shared/contract';
import { verdictText, type Judged, type VerdictDetails } from './verdict.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };
const ago = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();

function aRun(changes: Partial<NonNullable<CronJob['lastExecution']>> = {}): CronJob['lastExecution'] {
  return {
    jobName: 'backup-1',
    status: 'success',
    startTime: ago(243),
    completionTime: ago(240),
    durationSeconds: 180,
    exitCode: null,
    reason: null,
    ...changes,
  };
}

function anAlert(changes: Partial<WorstAlert>): WorstAlert {
  return {
    id: '019b',
    type: 'jobFailed',
    subject: null,
    severity: 'warning',
    since: ago(12),
    occurrences: 1,
    exitCode: null,
    reason: null,
    measured: null,
    limit: null,
    unit: null,
    ...changes,
  };
}

const noSla: CronJob['sla'] = {
  enabled: true,
  minSuccessRate: 95,
  windowDays: 7,
  verdict: 'met',
  success: 0,
  runs: 0,
  previousSuccessRate: null,
  breached: [],
};

function aCronJob(changes: Partial<Judged> = {}): Judged {
  return {
    worstAlert: null,
    lastExecution: aRun(),
    lastSuccess: ago(240),
    sla: noSla,
    suspended: false,
    schedule: '0 2 * * *',
    timezone: null,
    scheduleProblem: null,
    nextRun: '2026-11-22T02:00:00.000Z',
    deletedAt: null,
    ...changes,
  };
}

const failed = aRun({ status: 'failed', completionTime: ago(12), exitCode: 137, reason: 'OOMKilled' });
const missed = { outcome: 'missed', status: null, durationSeconds: null } as const;

/** What is known of a CronJob, and its verdict. */
const rows: readonly (readonly [title: string, cronJob: Partial<Judged>, verdict: string, details?: VerdictDetails])[] =
  [
    [
      'a failed run, counted',
      {
        lastExecution: failed,
        worstAlert: anAlert({ exitCode: 137, reason: 'OOMKilled', occurrences: 3 }),
      },
      'Last run failed 12 min ago: exit code 137, OOMKilled (3rd failure in a row)',
    ],
    [
      'a failed run, the first one',
      { lastExecution: failed, worstAlert: anAlert({ exitCode: 137, reason: 'OOMKilled' }) },
      'Last run failed 12 min ago: exit code 137, OOMKilled',
    ],
    [
      'a failure that one success did not end',
      { worstAlert: anAlert({ exitCode: 2, reason: 'Error' }) },
      'A run failed 12 min ago: exit code 2, Error',
    ],
    [
      'a missed run',
      {
        worstAlert: anAlert({ type: 'missedSchedule', occurrences: 2 }),
        recentRuns: [
          { at: '2026-11-21T12:49:00.000Z', ...missed },
          { at: '2026-11-21T13:49:00.000Z', ...missed },
        ],
      },
      'Run of 13:49 did not start (14 min late, 2 missed since 12:49)',
    ],
    [
      'a single missed run, without its strip',
      { worstAlert: anAlert({ type: 'missedSchedule', since: '2026-11-21T13:49:00.000Z' }) },
      'Run of 13:49 did not start (14 min late)',
    ],
    [
      "the dead-man's switch, in the unit of its limit",
      {
        lastSuccess: ago(26 * 60 + 10),
        worstAlert: anAlert({ type: 'deadManTriggered', measured: 90_000, limit: 90_000, unit: 'seconds' }),
      },
      'No success for 26 h (limit 25 h)',
    ],
    [
      'a rate below its target',
      {
        sla: { ...noSla, success: 52, runs: 57 },
        worstAlert: anAlert({
          type: 'slaBreached',
          subject: 'successRate',
          measured: 91.2,
          limit: 95,
          unit: 'percent',
        }),
      },
      '91.2 % of 57 runs succeeded in 7 days (target 95 %)',
    ],
    [
      'a run that took too long',
      { worstAlert: anAlert({ type: 'slaBreached', subject: 'maxDuration', measured: 3_120, limit: 2_700 }) },
      'Last run took 52 min (limit 45 min)',
    ],
    [
      'a run that was too short',
      { worstAlert: anAlert({ type: 'slaBreached', subject: 'minDuration', measured: 4, limit: 120 }) },
      'Last run took 4 s (at least 2 min expected)',
    ],
    [
      'a time of day that passed',
      { worstAlert: anAlert({ type: 'slaBreached', subject: 'finishBy' }) },
      'Not finished by 06:00 Europe/Zurich',
      { finishBy: '06:00 Europe/Zurich' },
    ],
    [
      'a regression told in percent',
      { worstAlert: anAlert({ type: 'durationRegression', measured: 64, limit: 50, unit: 'percent' }) },
      'p95 is 64 % above its baseline (limit 50 %)',
    ],
    [
      'a suspension, in days',
      { suspended: true, worstAlert: anAlert({ type: 'jobSuspended', since: ago(2 * 1440), limit: 604_800 }) },
      'Suspended for 9 days (limit 7 days)',
    ],
    [
      'a run that does not start',
      {
        worstAlert: anAlert({
          type: 'jobStuck',
          subject: 'notStarted',
          since: ago(4),
          limit: 600,
          reason: 'ImagePullBackOff',
        }),
      },
      'Not started for 14 min: ImagePullBackOff',
    ],
    [
      'a run that goes on and on',
      { worstAlert: anAlert({ type: 'jobStuck', subject: 'overrunning', since: ago(120), limit: 3_600 }) },
      'Running for 3 h (p99 35 min)',
      { p99Seconds: 2_100 },
    ],
    [
      'the same where p99 is not known',
      { worstAlert: anAlert({ type: 'jobStuck', subject: 'overrunning', since: ago(120), limit: 3_600 }) },
      'Running for 3 h (limit 1 h)',
    ],
    [
      'a run that does not end',
      { worstAlert: anAlert({ type: 'jobStuck', subject: 'terminating', since: ago(2), limit: 600 }) },
      'Ending for 12 min',
    ],
    ['no alert', {}, 'Last run succeeded 4 h ago in 3 min'],
    ['no alert, and a failed run', { lastExecution: failed }, 'Last run failed 12 min ago: exit code 137, OOMKilled'],
    ['a success without a duration', { lastExecution: aRun({ durationSeconds: null }) }, 'Last run succeeded 4 h ago'],
    [
      'a replaced run',
      { lastExecution: aRun({ status: 'replaced' }) },
      'Last run was replaced 4 h ago by the next one',
    ],
    ['a deleted run', { lastExecution: aRun({ status: 'deleted' }) }, 'Last run was deleted 4 h ago, before it ended'],
    [
      'a run whose end nobody saw',
      { lastExecution: aRun({ status: 'unobserved' }) },
      'Last run ended 4 h ago; its outcome could not be seen',
    ],
    [
      'no run yet',
      { lastExecution: null, lastSuccess: null, nextRun: '2026-11-21T20:00:00.000Z' },
      'No run seen yet, first at 20:00',
    ],
    ['no run yet, and not today', { lastExecution: null, lastSuccess: null }, 'No run seen yet, first at 22 Nov 02:00'],
    ['suspended without an alert', { suspended: true }, 'Suspended; last run succeeded 4 h ago in 3 min'],
    ['deleted', { deletedAt: ago(60) }, 'Deleted 1 h ago'],
    [
      'an unknown zone',
      { scheduleProblem: 'unknownZone', timezone: 'Mars/Base' },
      'Not evaluated: unknown zone "Mars/Base"',
    ],
    [
      'a schedule that cannot be read',
      { scheduleProblem: 'unparsable', schedule: '61 * * * *' },
      'Not evaluated: the schedule "61 * * * *" cannot be read',
    ],
    [
      'a date that does not come',
      { scheduleProblem: 'neverRuns', schedule: '0 0 30 2 *' },
      'Not evaluated: 30 February does not come',
    ],
  ];

describe('the verdict of a CronJob', () => {
  for (const [title, changes, verdict, details] of rows) {
    test(`tells ${title}`, () => assert.equal(verdictText(aCronJob(changes), viewer, details), verdict));
  }

  test('has no full stop, no exclamation mark and no blame', () => {
    for (const [, changes, , details] of rows) {
      assert.doesNotMatch(verdictText(aCronJob(changes), viewer, details), /[.!]$|went wrong|sorry/i);
    }
  });
});
