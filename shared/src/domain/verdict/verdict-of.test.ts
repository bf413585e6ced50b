import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AlertSubject, AlertType, HealthState, ToldReason } from '../../contract/index.ts';
import { alertWords } from '../alert-types/index.ts';
import type { WordedAlert } from '../alert-types/finding.ts';
import { suspendedCause, type Suspended } from './cron-job-words.ts';
import { holdsOf } from './holds.ts';
import { printWords } from './print-words.ts';
import { hasOutcome, standingOf, statusOf, type StandingFacts } from './standing.ts';
import { verdictOf, type VerdictFacts } from './verdict-of.ts';

const at = (time: string): number => Date.parse(`2026-11-21T${time}Z`);
const now = at('06:00:00');
const reader = { now, timeZone: 'UTC' };

const suspension = (changes: Partial<Suspended>): Suspended => ({
  sinceAt: now - 41 * 86_400_000,
  isExact: true,
  by: 'kubectl-edit',
  leftOut: 41,
  ...changes,
});

const well: StandingFacts = {
  isDeleted: false,
  worstSeverity: undefined,
  hasFailed: false,
  hasMissed: false,
  hasBrokenTarget: false,
  isWaiting: false,
  hasProblem: false,
  hasRun: true,
  isSuspended: false,
};

describe('the state of a CronJob', () => {
  const rows: readonly (readonly [
    string,
    Partial<StandingFacts>,
    HealthState,
    ReturnType<typeof standingOf>['kind'],
  ])[] = [
    ['is that of its worst alert', { worstSeverity: 'critical' }, 'critical', 'alert'],
    ['is a warning for a warning', { worstSeverity: 'warning' }, 'warning', 'alert'],
    ['is failing after a failed run without an alert', { hasFailed: true }, 'failing', 'lastRunFailed'],
    ['is failing after a missed slot', { hasMissed: true }, 'failing', 'missedLast'],
    ['is failing while a figure breaks a target', { hasBrokenTarget: true }, 'failing', 'targetMissed'],
    ['is failing while a Job waits in vain or an alert is pending', { isWaiting: true }, 'failing', 'waiting'],
    ['is unknown when its schedule cannot be evaluated', { hasProblem: true }, 'unknown', 'notEvaluated'],
    ['is unknown while nothing has ended', { hasRun: false }, 'unknown', 'neverRan'],
    ['is suspended when it was well before', { isSuspended: true }, 'suspended', 'suspended'],
    ['is healthy else', {}, 'healthy', 'succeeded'],
    ['is unknown once it is deleted', { isDeleted: true, hasFailed: true }, 'unknown', 'deleted'],
  ];
  for (const [name, facts, state, kind] of rows)
    test(name, () => assert.deepEqual(standingOf({ ...well, ...facts }), { state, kind }));

  test('is never healthy while one of the facts is bad, whatever the others are', () => {
    const flags = ['hasFailed', 'hasMissed', 'hasBrokenTarget', 'isWaiting', 'hasProblem', 'isSuspended'] as const;
    for (let bits = 1; bits < 2 ** flags.length; bits++) {
      const facts = Object.fromEntries(flags.map((flag, place) => [flag, (bits & (1 << place)) !== 0]));
      const { state } = standingOf({ ...well, ...facts });
      assert.notEqual(state, 'healthy', JSON.stringify(facts));
      if ((bits & 15) !== 0) assert.equal(state, 'failing', JSON.stringify(facts));
    }
  });

  test('has a word of the specification: failing is a warning there', () => {
    const words = (['critical', 'warning', 'failing', 'unknown', 'suspended', 'healthy'] as const).map(statusOf);
    assert.deepEqual(words, ['critical', 'warning', 'warning', 'unknown', 'suspended', 'healthy']);
  });
});

const quiet: VerdictFacts = {
  schedule: '0 2 * * *',
  suspended: false,
  broken: [],
  alerts: [],
  isPending: false,
  hasRun: true,
};
const succeeded = {
  jobName: 'backup-1',
  status: 'success',
  createdAt: at('02:00:00'),
  startedAt: at('02:00:01'),
  finishedAt: at('02:03:05'),
  durationMs: 184_000,
} as const;
const failed = { ...succeeded, jobName: 'backup-2', status: 'failed', exitCode: 137, reason: 'OOMKilled' } as const;

function printed(facts: Partial<VerdictFacts>): string {
  return printWords(verdictOf({ ...quiet, ...facts }, { revision: '7' }).words, reader);
}

describe('the sentence of a CronJob', () => {
  const rows: readonly (readonly [Partial<VerdictFacts>, string])[] = [
    [{ lastRun: succeeded }, 'Last run succeeded 3 h 56 min ago in 3 min 4 s'],
    [{ lastRun: failed, failedRun: failed }, 'Last run failed 3 h 56 min ago: exit code 137, OOMKilled'],
    [
      { lastRun: { ...failed, exitCode: 143, reason: 'Error', jobReason: 'DeadlineExceeded' } },
      'Last run failed 3 h 56 min ago: exit code 143, DeadlineExceeded',
    ],
    [{ missedSlotAt: at('05:30:00') }, 'Run of 05:30 did not start (30 min late)'],
    [
      {
        broken: [
          { monitorId: 1, subject: 'successRate', sinceAt: now, measured: 600 / 7, limit: 95, runs: 7, windowDays: 7 },
        ],
      },
      '85.7 % of 7 runs succeeded in 7 d (target 95 %)',
    ],
    [
      {
        broken: [{ monitorId: 1, subject: 'maxDuration', sinceAt: now, measured: 3_174, limit: 1_500, windowDays: 7 }],
      },
      'Longest run of 7 d took 52 min 54 s (limit 25 min)',
    ],
    [
      {
        waiting: {
          jobName: 'b',
          sinceAt: at('05:56:00'),
          reason: 'InvalidImageName',
          message: 'invalid reference format',
        },
      },
      'Not started for 4 min: InvalidImageName, invalid reference format',
    ],
    [{ problem: 'unknownZone', timeZone: 'Mars/Base' }, 'Not evaluated: unknown zone "Mars/Base"'],
    [{ problem: 'neverRuns', schedule: '0 0 30 2 *' }, 'Not evaluated: 30 February does not come'],
    [{ hasRun: false, nextRunAt: at('08:00:00') }, 'No run seen yet, first at 08:00'],
    [{ hasRun: false, nextRunAt: at('08:00:00'), running: 1 }, 'No run has ended yet, 1 Job is active'],
    [{ hasRun: false, suspended: true, running: 2 }, 'Suspended; no run has ended yet, 2 Jobs are active'],
    [
      { hasRun: false, nextRunAt: at('08:00:00'), lastRun: { ...succeeded, status: 'replaced' } },
      'No run was seen to end, next at 08:00',
    ],
    [
      { hasRun: false, nextRunAt: at('08:00:00'), lastRun: failed },
      'No run has succeeded yet, the last one failed 3 h 56 min ago: exit code 137, OOMKilled',
    ],
    [
      { lastRun: failed, lastSuccessAt: at('01:00:00') },
      `Last success 5 h ago; run ${failed.jobName} failed 3 h 56 min ago: exit code 137, OOMKilled`,
    ],
    // Of the runs since, which may have been removed, nothing is known.
    [{ lastSuccessAt: at('01:00:00') }, 'Last success 5 h ago'],
    [{ suspended: true, lastSuccessAt: at('01:00:00') }, 'Suspended; last success 5 h ago'],
    [{ suspended: true, lastRun: succeeded }, 'Suspended; last run succeeded 3 h 56 min ago in 3 min 4 s'],
    [
      { suspended: true, lastRun: succeeded, suspension: suspension({}) },
      'Suspended for 41 d; last run succeeded 3 h 56 min ago in 3 min 4 s',
    ],
    [
      { suspended: true, hasRun: false, suspension: suspension({ isExact: false }) },
      'Suspended for at least 41 d; no run seen yet',
    ],
    [{ deletedAt: at('05:00:00') }, 'Deleted 1 h ago'],
  ];
  for (const [facts, words] of rows) test(words, () => assert.equal(printed(facts), words));

  test('says of a suspension who it was and what it left out, as far as that is known', () => {
    const causes = [{}, { by: undefined, leftOut: 1 }, { isExact: false, by: undefined, leftOut: 0 }].map((changes) =>
      printWords(suspendedCause(suspension(changes)), reader),
    );
    assert.deepEqual(causes, [
      'Suspended by kubectl-edit at 2026-10-11 06:00; 41 expected runs were not started since',
      'Suspended at 2026-10-11 06:00; 1 expected run was not started since',
      'It was suspended already at 2026-10-11 06:00',
    ]);
  });

  test('is that of its worst alert while one is open, with its beginning', () => {
    const alert: VerdictFacts['alerts'][number] = {
      ...anAlert('deadManTriggered'),
      severity: 'critical',
      limit: 90_000,
      sinceAt: at('05:00:00'),
    };
    const verdict = verdictOf({ ...quiet, failedRun: failed, alerts: [alert] }, { revision: '7' });
    assert.equal(printWords(verdict.words, reader), 'No success for 26 h (limit 25 h)');
    assert.equal(verdict.since, '2026-11-21T05:00:00.000Z');
    assert.equal(verdict.state, 'critical');
  });

  test('has held since its oldest alert began, though the worst one came later', () => {
    const alert = { ...anAlert('deadManTriggered'), severity: 'critical', limit: 90_000 } as const;
    const older = { ...anAlert('jobFailed'), severity: 'warning', sinceAt: at('02:00:00') } as const;
    const verdict = verdictOf({ ...quiet, failedRun: failed, alerts: [alert, older] }, { revision: '7' });
    assert.equal(verdict.kind, 'deadManTriggered');
    assert.equal(verdict.since, '2026-11-21T02:00:00.000Z');
  });
});

function anAlert(type: AlertType, subject?: AlertSubject): WordedAlert {
  return { type, subject, sinceAt: at('05:00:00'), count: 1, measured: undefined, limit: undefined, facts: {} };
}

const detail = (of: Record<string, unknown>, reason = '', count = 1): WordedAlert['facts'] => ({
  verdict: { reason, count, detail: of, timeZone: 'UTC' },
});

describe('the sentence of an alert', () => {
  const rows: readonly (readonly [WordedAlert, string])[] = [
    [
      {
        ...anAlert('jobFailed'),
        count: 3,
        facts: { exitCode: 137, reason: 'OOMKilled', run: { finishedAt: at('05:48:00') } },
      },
      'Last run failed 12 min ago: exit code 137, OOMKilled (3rd failure in a row)',
    ],
    [
      {
        ...anAlert('jobFailed'),
        facts: {
          ...detail({ reason: 'DeadlineExceeded' }),
          exitCode: 143,
          reason: 'Error',
          run: { finishedAt: at('05:48:00') },
        },
      },
      'Last run failed 12 min ago: exit code 143, DeadlineExceeded',
    ],
    [
      { ...anAlert('jobFailed'), wellSinceAt: at('05:50:00'), facts: { run: { finishedAt: at('05:48:00') } } },
      'Comes and goes, well for now; before: last run failed 12 min ago',
    ],
    // What lasted until then grows no more.
    [
      { ...anAlert('deadManTriggered'), sinceAt: at('05:40:00'), wellSinceAt: at('05:50:00'), limit: 600 },
      'Comes and goes, well for now; before: no success for 20 min (limit 10 min)',
    ],
    [
      {
        ...anAlert('missedSchedule'),
        count: 2,
        facts: detail({ firstSlotAt: at('05:00:00'), lastSlotAt: at('05:46:00') }, '', 2),
      },
      'Run of 05:46 did not start (14 min late, 2 missed since 05:00)',
    ],
    // It came back: three were missed before it ended once.
    [
      {
        ...anAlert('missedSchedule'),
        count: 4,
        facts: detail({ firstSlotAt: at('05:46:00'), lastSlotAt: at('05:46:00') }),
      },
      'Run of 05:46 did not start (14 min late)',
    ],
    [
      {
        ...anAlert('slaBreached', 'successRate'),
        measured: 91.23,
        limit: 95,
        facts: detail({ runs: 57, windowDays: 7 }),
      },
      '91.2 % of 57 runs succeeded in 7 d (target 95 %)',
    ],
    [
      { ...anAlert('slaBreached', 'maxDuration'), measured: 3_120, limit: 2_700 },
      'Last run took 52 min (limit 45 min)',
    ],
    [
      { ...anAlert('slaBreached', 'maxDuration'), measured: 1, limit: 2_700, facts: detail({}, 'runningTooLong') },
      'Running for 1 h 45 min (limit 45 min)',
    ],
    [
      { ...anAlert('slaBreached', 'minDuration'), measured: 4, limit: 120 },
      'Last run took 4 s (at least 2 min expected)',
    ],
    [
      { ...anAlert('slaBreached', 'finishBy'), facts: detail({ time: '06:00', timeZone: 'Europe/Zurich' }) },
      'Not finished by 06:00 Europe/Zurich',
    ],
    [
      { ...anAlert('durationRegression'), measured: 1_080, limit: 990, facts: detail({ risePercent: 64.2 }) },
      'p95 is 18 min, 64 % above its baseline (limit 16 min 30 s)',
    ],
    [
      {
        ...anAlert('jobFailed'),
        facts: { exitCode: 1, verdict: { reason: '', count: 1, timeZone: 'UTC', detail: { failedIndexes: '0,2-3' } } },
      },
      'Last run failed 1 h ago: exit code 1, indexes 0,2-3',
    ],
    [
      { ...anAlert('slaBreached', 'maxDuration'), measured: 410, limit: 390 },
      'Last run took 6 min 50 s (limit 6 min 30 s)',
    ],
    [{ ...anAlert('jobSuspended'), limit: 604_800 }, 'Suspended for 7 d (limit 7 d)'],
    [
      { ...anAlert('jobStuck', 'notStarted'), limit: 600, facts: { reason: 'ImagePullBackOff' } },
      'Not started for 1 h 10 min: ImagePullBackOff',
    ],
    [
      { ...anAlert('jobStuck', 'overrunning'), limit: 600, facts: { reason: 'ImagePullBackOff' } },
      'Not ended for 70 min (limit 10 min): ImagePullBackOff',
    ],
    [
      {
        ...anAlert('jobStuck', 'overrunning'),
        limit: 600,
        facts: { verdict: { reason: 'overrunning', count: 1, timeZone: 'UTC', detail: { neverRan: true } } },
      },
      'Not started for 70 min (limit 10 min)',
    ],
    [{ ...anAlert('jobStuck', 'terminating'), limit: 600 }, 'Ending for 1 h 10 min'],
  ];
  for (const [alert, words] of rows) test(words, () => assert.equal(printWords(alertWords(alert), reader), words));

  test('stands still once the alert has ended', () => {
    const ended = { ...anAlert('jobStuck', 'overrunning'), limit: 600, endedAt: at('05:30:00') };
    assert.equal(alertWords(ended), 'Running for 40 min (limit 10 min)');
  });
});

test('what keeps a message back is told in chips, what a person asked for first', () => {
  const chips = holdsOf({
    acknowledged: { by: 'ana', untilAt: at('08:00:00') },
    silence: { by: 'jonas', untilAt: at('09:00:00'), endsWithCause: false },
    maintenance: { untilAt: undefined },
    told: { reason: 'duplicate', untilAt: undefined, heard: undefined },
  });
  assert.deepEqual(
    chips.map(({ kind, by, words }) => [kind, by, printWords(words, reader)]),
    [
      ['acknowledged', 'ana', 'Acknowledged by ana until 08:00'],
      ['silenced', 'jonas', 'Silenced by jonas until 09:00'],
      ['maintenance', null, 'Maintenance'],
      ['alreadyTold', null, 'Already told'],
    ],
  );
});

test('a silence that ends with what it holds says so, and names its last instant as that', () => {
  const [chip] = holdsOf({
    acknowledged: undefined,
    silence: { by: 'jonas', untilAt: at('09:00:00'), endsWithCause: true },
    maintenance: undefined,
    told: undefined,
  });
  assert.equal(printWords(chip?.words ?? '', reader), 'Silenced by jonas until it ends, 09:00 at the latest');
});

test('what keeps a message back without a person is one of two words, or a wait with its own sentence', () => {
  const chipOf = (reason: ToldReason, heard?: string) =>
    holdsOf({
      acknowledged: undefined,
      silence: undefined,
      maintenance: undefined,
      told: { reason, untilAt: undefined, heard },
    }).map(({ kind, words }) => `${kind}: ${words}`);
  for (const reason of ['duplicate', 'flapping', 'inhibited'] as const)
    assert.deepEqual(chipOf(reason), ['alreadyTold: Already told']);
  for (const reason of ['storm', 'rateLimit'] as const) assert.deepEqual(chipOf(reason), ['manyAtOnce: Many at once']);
  assert.deepEqual(chipOf('parked'), ['waits: Parked until its channel is mended']);
  assert.deepEqual(chipOf('parked', '1 of 2 channels'), ['waits: 1 of 2 channels told'], 'one of them heard');
  assert.deepEqual(chipOf('duplicate', '1 of 2 channels'), ['alreadyTold: Already told']);
  assert.deepEqual(chipOf('noChannel'), []);
  // By the annotation of its owner: no silence stands in the list.
  assert.deepEqual(chipOf('silence'), ['silenced: Silenced']);
});

test('an instant that is none stays as it is written', () => {
  assert.equal(
    printWords('Since {at:never} it waits {in:2026-11-21T06:00:30.000Z}', reader),
    'Since {at:never} it waits in 30 s',
  );
});

test('a run that failed, was deleted or replaced, or was not seen to end makes no CronJob healthy', () => {
  const ends = ['success', 'failed', 'deleted', 'replaced', 'unobserved'] as const;
  assert.deepEqual(
    ends.filter((status) => hasOutcome({ status }, undefined)),
    ['success'],
  );
  assert.equal(hasOutcome({ status: 'deleted' }, 1), true, 'it succeeded before');
  assert.equal(hasOutcome(undefined, undefined), false);
});
