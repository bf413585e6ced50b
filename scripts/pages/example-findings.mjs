// What the detectors find in examples of each type of alert, and how a message words it: made by the functions that run in the service.
import { alertTypeTable } from '../../shared/src/contract/index.ts';
import { disappeared, judge, judgedKinds, titleOf, toHolding } from '../../shared/src/domain/index.ts';
import { decodeMonitorSpec, detectionRulesOf } from '../../shared/src/kube/index.ts';

export const timeZone = 'Europe/Berlin';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** 02:00 in Berlin: when the CronJob of the examples is due, every night. */
export const slotAt = Date.parse('2026-11-21T01:00:00Z');
export const cronJob = { namespace: 'prod', name: 'nightly' };

/** The spec that the examples are judged by: defaults, and a limit for what has none. */
const spec = {
  deadManSwitch: { maxTimeSinceLastSuccess: '25h' },
  missedSchedule: { skipWarnAfter: 3 },
  sla: { maxDuration: '45m', minDuration: '30s', finishBy: { time: '06:00' } },
  output: {
    assertions: [
      { name: 'rows', fact: 'rows', min: 1 },
      { name: 'size', fact: 'bytes', dropBelow: { percent: 50 } },
    ],
  },
  suspendedHandling: { alertIfSuspendedFor: '1w' },
};
const decoded = decodeMonitorSpec({ spec }, { suppressDuplicatesForMs: hourMs, maxRetentionDays: 90 });
const rules = detectionRulesOf(decoded.spec, timeZone);

/** The Job of the night so many days before that of the examples. */
export const jobName = (daysBefore = 0) => `${cronJob.name}-${(slotAt - daysBefore * dayMs) / minuteMs}`;

const run = (daysBefore, outcome) => ({
  jobName: jobName(daysBefore),
  endedAt: slotAt - daysBefore * dayMs + 162_000,
  ...outcome,
});
const oomKilled = { status: 'failed', exitCode: 137, reason: 'OOMKilled' };
/** Successes of the last nights, the one of the examples last. */
const output = (...told) => ({
  judgesFromAt: 0,
  runs: told.map((values, index) => ({
    ...run(told.length - 1 - index, { durationMs: 160_000, isScheduled: true }),
    values: new Map(Object.entries(values)),
  })),
});
const job = (facts) => ({ jobName: jobName(), createdAt: slotAt, suspended: false, ...facts });
const durations = (facts) => ({ lastEnded: undefined, lastSuccess: undefined, running: [], ...facts });
const stuck = (facts) => ({ jobs: [job(facts)], p99DurationMs: 20 * minuteMs, runs: 30 });

/** As the CronJob controller words it in its event. */
const refusal = 'Error creating job: admission webhook "policy.example.org" denied the request: no owner is named';

const examples = [
  {
    happened: 'Its container was killed for lack of memory, for the third night in a row.',
    type: 'jobFailed',
    facts: {
      jobFailed: {
        runs: [0, 1, 2].map((days) => run(days, oomKilled)).concat(run(3, { status: 'success' })),
        isOpen: false,
      },
    },
    attempts: 2,
    after: 163_000,
  },
  {
    happened: 'Admission refused the Job that was due at 02:00.',
    type: 'missedSchedule',
    facts: {
      missedSchedule: {
        slots: [{ at: slotAt, outcome: 'missed', cause: 'createRejected', refusal }],
        paused: false,
      },
    },
    after: 4 * minuteMs,
  },
  {
    happened: 'The controller of CronJobs stands still, and it is the third night.',
    type: 'missedSchedule',
    facts: {
      missedSchedule: {
        slots: [0, 1, 2].map((days) => ({ at: slotAt - days * dayMs, outcome: 'missed', cause: 'controllerSilent' })),
        paused: false,
      },
    },
    after: 4 * minuteMs,
  },
  {
    happened: 'One run goes on for days, `concurrencyPolicy: Forbid` skips the others, and `skipWarnAfter` is 3.',
    type: 'missedSchedule',
    facts: {
      missedSchedule: {
        slots: [0, 1, 2].map((days) => ({
          at: slotAt - days * dayMs,
          outcome: 'skippedForbid',
          cause: 'previousRunning',
        })),
        paused: false,
      },
    },
    after: 4 * minuteMs,
  },
  {
    happened: 'The last success is 26 hours old, and `maxTimeSinceLastSuccess` is 25 h.',
    type: 'deadManTriggered',
    facts: { deadMan: { suspended: false, lastSuccessAt: slotAt - dayMs + 162_000, nthSlotAfter: () => undefined } },
    after: 2 * hourMs + 3 * minuteMs,
  },
  {
    happened: 'It was deployed with a wrong password, and its first run, due 26 hours ago, failed.',
    type: 'absent',
    subject: 'neverSucceeded',
    facts: {
      deadMan: {
        suspended: false,
        originAt: slotAt - 30 * hourMs,
        nthSlotAfter: (after) => slotAt - dayMs + (after < slotAt - dayMs ? 0 : dayMs),
        unsuccessful: { failed: 1, running: 0 },
      },
    },
    after: 2 * hourMs,
  },
  {
    happened: 'An upgrade of its chart removed it, and the monitor expects it.',
    type: 'absent',
    subject: 'disappeared',
    expected: {
      isSelected: false,
      isNamespaceGone: false,
      expectedSinceAt: 0,
      last: {
        seenAt: slotAt,
        deletedAt: slotAt + 14 * hourMs,
        writer: { manager: 'helm', operation: 'Update', at: slotAt - 8 * dayMs, managedBy: 'release backups' },
      },
      isTold: false,
    },
    after: 14 * hourMs + 11 * minuteMs,
  },
  {
    happened: 'One of the last seven runs failed, and `minSuccessRate` is 95.',
    type: 'slaBreached',
    subject: 'successRate',
    facts: { successRate: { success: 6, failed: 1, lastRunAt: slotAt } },
    after: hourMs,
  },
  {
    happened: 'A run takes longer than `maxDuration`, 45 min, and still goes on.',
    type: 'slaBreached',
    subject: 'maxDuration',
    facts: { durations: durations({ running: [{ jobName: jobName(), startedAt: slotAt }] }) },
    after: 52 * minuteMs,
  },
  {
    happened: 'A run has taken longer.',
    type: 'slaBreached',
    subject: 'maxDuration',
    facts: { durations: durations({ lastEnded: run(0, { endedAt: slotAt + hourMs, durationMs: hourMs }) }) },
    after: hourMs,
  },
  {
    happened: 'A backup succeeds after 3 seconds, and `minDuration` is 30 s.',
    type: 'slaBreached',
    subject: 'minDuration',
    facts: { durations: durations({ lastSuccess: run(0, { endedAt: slotAt + 3_000, durationMs: 3_000 }) }) },
    after: 4_000,
  },
  {
    happened: 'A backup succeeds and says `rows=0`; the assertion `rows` has `min: 1`.',
    type: 'slaBreached',
    subject: 'output',
    facts: { output: output({ rows: 0 }) },
    after: 163_000,
  },
  {
    happened: 'A backup has less than half of the usual bytes; the assertion `size` has `dropBelow: {percent: 50}`.',
    type: 'slaBreached',
    subject: 'output',
    facts: { output: output({ bytes: 9.1e9 }, { bytes: 9.2e9 }, { bytes: 9.3e9 }, { rows: 7, bytes: 1.2e9 }) },
    after: 163_000,
  },
  {
    happened: 'Nothing has succeeded by 06:00, and `finishBy.time` is 06:00.',
    type: 'slaBreached',
    subject: 'finishBy',
    facts: {
      finishBy: {
        last: { deadlineAt: slotAt + 4 * hourMs, expectedSlots: 1, finishedAt: undefined },
        nextDeadlineAt: slotAt + 28 * hourMs,
      },
    },
    after: 4 * hourMs + minuteMs,
  },
  {
    happened: 'Runs that took 8 minutes have taken 14 for a few nights.',
    type: 'durationRegression',
    facts: {
      regression: {
        recentMs: [14, 13.5, 13, 14, 12.5].map((minutes) => minutes * minuteMs),
        newestEndAt: slotAt + 14 * minuteMs,
        baseline: { runs: 14, p25: 7 * minuteMs, p75: 8 * minuteMs, p95: 8.5 * minuteMs },
        open: undefined,
      },
    },
    after: 15 * minuteMs,
  },
  {
    happened: 'It was suspended eight days ago, and `alertIfSuspendedFor` is 1w.',
    type: 'jobSuspended',
    facts: { suspended: { suspendedSinceAt: slotAt - 8 * dayMs } },
    after: 2 * hourMs,
  },
  {
    happened: 'Its image cannot be pulled.',
    type: 'jobStuck',
    subject: 'notStarted',
    facts: { stuck: stuck({ waitingSinceAt: slotAt, waitingReason: 'ImagePullBackOff' }) },
    after: 14 * minuteMs,
  },
  {
    happened: 'It takes five times as long as almost all runs before it: these were done within 20 minutes.',
    type: 'jobStuck',
    subject: 'overrunning',
    facts: { stuck: stuck({ startedAt: slotAt }) },
    after: 101 * minuteMs,
  },
  {
    happened: 'Its Job was deleted, and a pod on a lost node does not go away.',
    type: 'jobStuck',
    subject: 'terminating',
    facts: { stuck: stuck({ startedAt: slotAt, endingSinceAt: slotAt + hourMs }) },
    after: hourMs + 12 * minuteMs,
  },
];

/** Each example with its verdict, title and sentences. Throws when one is none, or when a type or subject has none. */
export function findExamples() {
  const found = examples.map(toFound);
  for (const { type, subject } of judgedKinds) {
    if (!found.some((one) => one.type === type && one.subject === subject)) {
      throw new Error(`there is no example of ${type} ${subject ?? ''}`);
    }
  }
  return found;
}

function toFound({ happened, type, subject, facts, expected, after, attempts }) {
  const now = slotAt + after;
  const verdict = expected
    ? disappeared({ graceMs: 10 * minuteMs }, expected, now)
    : judge(rules, facts, now).find((one) => one.type === type && one.subject === subject)?.verdict;
  if (verdict?.kind !== 'holds') throw new Error(`this is no example of ${type}: ${happened}`);
  const { detail, figures, reason, count } = verdict;
  const runOf = attempts === undefined ? undefined : { jobUid: '', jobName: detail.jobName, attempts };
  const worded = toHolding(type, subject, verdict, { timeZone, run: runOf });
  const { severity } = alertTypeTable[type];
  const title = titleOf(severity, cronJob, { type, subject, reason, count, figures, detail, timeZone });
  return { happened, type, subject, severity, now, verdict, title, message: worded.message };
}
