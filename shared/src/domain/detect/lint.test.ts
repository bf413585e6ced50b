import assert from 'node:assert/strict';
import test from 'node:test';
import { rhythmOf } from '../schedule/rhythm.ts';
import { lint } from './lint.ts';
import {
  lintLevels,
  type LintedCronJob,
  type LintedMonitor,
  type LintFacts,
  type LintFinding,
} from './lint-finding.ts';
import { minuteMs } from '../duration.ts';

const now = Date.UTC(2026, 10, 21, 8);

const monitor: LintedMonitor = {
  selector: undefined,
  deadManSwitch: undefined,
  missedSchedule: { enabled: true },
  jobFailed: { enabled: true },
  sla: undefined,
  stuckJobs: { enabled: true },
  suspendedHandling: { alertIfSuspendedFor: undefined },
  alerting: undefined,
  dataRetention: { retentionDays: 30 },
};
const sla = {
  enabled: true,
  minSuccessRate: 95,
  windowDays: 7,
  minRuns: 1,
  maxDuration: undefined,
  durationRegressionThreshold: 50,
};
const facts: LintedCronJob['facts'] = {
  schedule: '0 2 * * *',
  namespace: 'prod',
  name: 'backup',
  notes: {},
  timeZone: 'UTC',
  policy: 'Allow',
  deadlineS: undefined,
  successLimit: 3,
  failureLimit: 1,
  activeDeadlineS: 3_600,
  ttlAfterFinishedS: undefined,
  backoffLimit: 2,
  restartPolicy: 'Never',
};

interface Changes extends Partial<LintedCronJob['facts']> {
  readonly schedule?: string;
  readonly durations?: LintedCronJob['durations'];
  readonly nextRunAt?: number | undefined;
}

/** A daily CronJob about which there is nothing to say, changed. */
function aCronJob({ schedule = '0 2 * * *', durations, nextRunAt, ...changes }: Changes = {}): LintedCronJob {
  const of = { ...facts, schedule, ...changes };
  return { facts: of, rhythm: rhythmOf(schedule, of.timeZone ?? 'UTC', now), durations, nextRunAt };
}

function found(
  changes: Partial<LintFacts> & { readonly cronJob?: Changes; readonly spec?: Partial<LintedMonitor> },
): LintFinding[] {
  const { cronJob, spec, ...rest } = changes;
  return lint({
    monitor: { ...monitor, ...spec },
    cronJobs: [aCronJob(cronJob)],
    channelFaults: [],
    skewP99Ms: 0,
    isDefaultZoneGiven: true,
    ...rest,
  });
}

const codes = (changes: Parameters<typeof found>[0]): string[] => found(changes).map(({ code }) => code);

test('a sound monitor of a sound CronJob has no finding', () => {
  assert.deepEqual(found({}), []);
  assert.deepEqual(
    found({
      spec: {
        sla: { ...sla, maxDuration: '30m' },
        deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
        alerting: { enabled: true, channelRefs: [{ name: 'chat', severities: [] }], severityOverrides: {} },
      },
      cronJob: { durations: { p50Ms: minuteMs, p95Ms: 2 * minuteMs } },
    }),
    [],
  );
});

type Row = readonly [sentence: string, changes: Parameters<typeof found>[0], expected: readonly string[]];

const deadMan = (maxTimeSinceLastSuccess: string): Partial<LintedMonitor> => ({
  deadManSwitch: { enabled: true, maxTimeSinceLastSuccess },
});
const windows = (
  schedule: string,
  duration: string,
  suppressAlerts = true,
): { readonly spec: Partial<LintedMonitor> } => {
  const window = {
    name: 'storage',
    schedule,
    duration,
    timezone: 'Europe/Berlin',
    suppressAlerts,
    excludeFromSla: true,
  };
  return { spec: { maintenanceWindows: [window] } };
};
const cases: Row[] = [
  ['a window that begins each minute', windows('* * * * *', '1h'), ['WindowStaysOpen']],
  ['a window of a day each day', windows('0 0 * * *', '1d'), ['WindowStaysOpen']],
  ['a window that begins each minute of an hour', windows('* 1 * * *', '1h'), []],
  ['a window of each day of July', windows('0 0 * 7 *', '1d'), []],
  ['a window that stays open and holds no alert back', windows('* * * * *', '1h', false), []],
  ['a window whose schedule cannot be used', windows('0 0 30 2 *', '1h'), []],
  ['a schedule that cannot be read', { cronJob: { schedule: 'each day' } }, ['ScheduleInvalid']],
  ['an unknown zone', { cronJob: { timeZone: 'Europe/Atlantis' } }, ['ZoneUnknown']],
  ['a day that never comes', { cronJob: { schedule: '0 0 30 2 *' } }, ['ScheduleNeverFires']],
  [
    'an interval longer than the starting deadline',
    { cronJob: { schedule: '@every 1h', deadlineS: 3_599 } },
    ['EveryNeverRuns'],
  ],
  [
    'a longest duration far above what all of its CronJobs take',
    {
      spec: { sla: { ...sla, maxDuration: '10h' } },
      cronJob: { activeDeadlineS: undefined, durations: { p50Ms: minuteMs, p95Ms: 60 * minuteMs } },
    },
    ['MaxDurationFarAbove'],
  ],
  [
    'a longest duration above, and not far',
    {
      spec: { sla: { ...sla, maxDuration: '9h' } },
      cronJob: { activeDeadlineS: undefined, durations: { p50Ms: minuteMs, p95Ms: 60 * minuteMs } },
    },
    [],
  ],
  [
    'a longest duration of CronJobs that have not run',
    { spec: { sla: { ...sla, maxDuration: '10h' } }, cronJob: { activeDeadlineS: undefined } },
    [],
  ],
  ['an interval within the starting deadline', { cronJob: { schedule: '@every 1h', deadlineS: 3_600 } }, []],
  ['a dead-man limit of a period', { spec: deadMan('24h') }, ['DeadManShorterThanPeriod']],
  ['a dead-man limit over a period', { spec: deadMan('24h1s') }, []],
  [
    'a dead-man limit over the usual gap, but not over the weekend',
    { spec: deadMan('25h'), cronJob: { schedule: '0 9 * * 1-5' } },
    ['DeadManShorterThanPeriod'],
  ],
  ['a dead-man switch that is off', { spec: { deadManSwitch: { enabled: false, maxTimeSinceLastSuccess: '1h' } } }, []],
  [
    'an interval below a minute',
    { cronJob: { schedule: '@every 30s', backoffLimit: 0, activeDeadlineS: 10 } },
    ['EveryBelowMinute'],
  ],
  ['a zone inside the schedule', { cronJob: { schedule: 'TZ=UTC 0 2 * * *' } }, ['ZoneInSchedule']],
  ['a starting deadline below 30 s', { cronJob: { deadlineS: 29 } }, ['StartingDeadlineTight']],
  ['a starting deadline of 30 s', { cronJob: { deadlineS: 30 } }, []],
  [
    'a starting deadline below three times the start skew',
    { cronJob: { deadlineS: 59 }, skewP99Ms: 20_000 },
    ['StartingDeadlineTight'],
  ],
  [
    'Forbid without a limit of time',
    { cronJob: { policy: 'Forbid', activeDeadlineS: undefined } },
    ['ForbidWithoutDeadline'],
  ],
  ['Forbid with one', { cronJob: { policy: 'Forbid' } }, []],
  [
    'runs that outlast their period',
    {
      cronJob: {
        schedule: '*/5 * * * *',
        backoffLimit: 0,
        activeDeadlineS: 300,
        durations: { p50Ms: 1, p95Ms: 300_001 },
      },
    },
    ['RunsLongerThanPeriod'],
  ],
  ['no successful Job kept', { cronJob: { successLimit: 0 } }, ['HistoryTooShort']],
  ['no failed Job kept', { cronJob: { failureLimit: 0 } }, ['HistoryTooShort']],
  ['Jobs gone within five minutes', { cronJob: { ttlAfterFinishedS: 299 } }, ['HistoryTooShort']],
  [
    'output from logs that go with their Job at once',
    { spec: { output: { fromLogs: true, assertions: [] } }, cronJob: { ttlAfterFinishedS: 0 } },
    ['HistoryTooShort', 'OutputLogsGone'],
  ],
  [
    'output from logs of which no successful Job is kept',
    { spec: { output: { fromLogs: true, assertions: [] } }, cronJob: { successLimit: 0 } },
    ['HistoryTooShort', 'OutputLogsGone'],
  ],
  [
    'output from logs that are kept for a minute',
    { spec: { output: { fromLogs: true, assertions: [] } }, cronJob: { ttlAfterFinishedS: 60 } },
    ['HistoryTooShort'],
  ],
  [
    'output that is not read from logs',
    { spec: { output: { fromLogs: false, assertions: [] } }, cronJob: { ttlAfterFinishedS: 0 } },
    ['HistoryTooShort'],
  ],
  ['Jobs kept five minutes', { cronJob: { ttlAfterFinishedS: 300 } }, []],
  ['fewer runs in the window than a rate needs', { spec: { sla: { ...sla, minRuns: 8 } } }, ['SlaWindowTooSmall']],
  ['just as many', { spec: { sla: { ...sla, minRuns: 7 } } }, []],
  ['no rate asked for', { spec: { sla: { ...sla, minRuns: 8, minSuccessRate: undefined } } }, []],
  ['a window beyond what is kept', { spec: { sla: { ...sla, windowDays: 31 } } }, ['SlaWindowBeyondRetention']],
  [
    'a longest duration behind the end of the Job',
    { spec: { sla: { ...sla, maxDuration: '61m' } } },
    ['MaxDurationUnreachable'],
  ],
  [
    'a longest duration that most runs break',
    { spec: { sla: { ...sla, maxDuration: '5m' } }, cronJob: { durations: { p50Ms: 300_001, p95Ms: 300_002 } } },
    ['MaxDurationUnreachable'],
  ],
  [
    'a monitor whose targets are all off',
    { spec: { sla: { ...sla, enabled: false, windowDays: 365, minRuns: 10_000, maxDuration: '1ms' } } },
    [],
  ],
  [
    'a channel that is missing',
    {
      spec: { alerting: { enabled: true, channelRefs: [{ name: 'gone', severities: [] }], severityOverrides: {} } },
      channelFaults: [{ name: 'gone', why: 'there is no such channel' }],
    },
    ['ChannelUnknown'],
  ],
  [
    'a severity that no channel takes',
    {
      spec: {
        alerting: { enabled: true, channelRefs: [{ name: 'pager', severities: ['critical'] }], severityOverrides: {} },
      },
    },
    ['SeverityNotRouted'],
  ],
  [
    'no channel to tell',
    { spec: { alerting: { enabled: true, channelRefs: [], severityOverrides: {} } } },
    ['SeverityNotRouted'],
  ],
  ['nothing to send', { spec: { alerting: { enabled: false, channelRefs: [], severityOverrides: {} } } }, []],
  ['a selector that matches nothing', { cronJobs: [] }, ['SelectorEmpty']],
  ['Jobs without a CronJob, of which there are none now', { cronJobs: [], spec: { jobs: {} } }, []],
  ['a group of Jobs, which has no schedule', { cronJob: { name: '~migrate', schedule: '' } }, []],
  ['a fallback for which nothing is left', { cronJobs: [], spec: { selector: { fallback: true } } }, []],
  [
    'a run in the doubled hour',
    { cronJob: { schedule: '30 2 * * *', timeZone: 'Europe/Berlin' } },
    ['SlotInDstChange'],
  ],
  ['a zone that is not named', { cronJob: { timeZone: undefined }, isDefaultZoneGiven: false }, ['ZoneNotDeclared']],
  ['a zone named for all', { cronJob: { timeZone: undefined } }, []],
  ['containers that restart in their pod', { cronJob: { restartPolicy: 'OnFailure' } }, ['LastLogLost']],
  [
    // 10 + 20 + 40 + 80 + 160 + 320 s
    'retries that outlast the period',
    { cronJob: { schedule: '*/10 * * * *', backoffLimit: undefined, activeDeadlineS: undefined } },
    ['RetriesOutlastPeriod'],
  ],
  [
    'retries that a limit of time cuts short',
    { cronJob: { schedule: '*/10 * * * *', backoffLimit: undefined, activeDeadlineS: 600 } },
    [],
  ],
];

for (const [sentence, changes, expected] of cases) {
  test(`${sentence}: ${expected.join(', ') || 'nothing to say'}`, () => {
    assert.deepEqual(codes(changes), expected);
    for (const { code, level, message } of found(changes)) {
      assert.equal(level, lintLevels[code]);
      assert.ok(message.length > 10 && message.length < 200, message);
    }
  });
}

test('a run with its retries is said as people say it, and one that has none is told to be long alone', () => {
  const durations = { p50Ms: 11 * minuteMs, p95Ms: 12 * minuteMs };
  const messagesAt = (backoffLimit: number): string[] =>
    found({ cronJob: { schedule: '*/10 * * * *', backoffLimit, activeDeadlineS: undefined, durations } })
      .filter(({ path }) => path.endsWith('.backoffLimit'))
      .map(({ message }) => message);
  assert.deepEqual(messagesAt(0), []);
  assert.deepEqual(messagesAt(1), ['a run with its retry takes 22m10s, longer than the 10m to the next run']);
  assert.match(messagesAt(6).join(), /^a run with all 6 retries takes /);
});

test('every code is found by some case', () => {
  const shown = new Set(cases.flatMap(([, , expected]) => expected));
  assert.deepEqual(
    Object.keys(lintLevels).filter((code) => !shown.has(code)),
    ['DependencyUnknown', 'DependencyCycle', 'AnnotationInvalid', 'CrowdedMinute'],
    'which have tests of their own',
  );
});

test('twenty CronJobs of one minute are a crowd when they are a fifth of all', () => {
  const crowd = Array.from({ length: 20 }, (_, index) => aCronJob({ name: `c-${index}`, nextRunAt: now + index }));
  const others = Array.from({ length: 80 }, (_, index) =>
    aCronJob({ name: `o-${index}`, nextRunAt: now + (index + 1) * minuteMs }),
  );
  const [finding, ...rest] = found({ cronJobs: [...crowd, ...others] });
  assert.deepEqual([finding?.code, rest.length], ['CrowdedMinute', 0]);
  assert.equal(finding?.message, '20 of 100 CronJobs start at 2026-11-21T08:00Z');
  assert.deepEqual(codes({ cronJobs: [...crowd, ...others, aCronJob({ name: 'one-more' })] }), []);
  assert.deepEqual(codes({ cronJobs: crowd.slice(1) }), []);
  const resting = crowd.map((cronJob) => ({ ...cronJob, nextRunAt: undefined }));
  assert.deepEqual(codes({ cronJobs: resting }), [], 'suspended ones crowd no minute');
});

test('a finding names its field, its CronJob and the figures', () => {
  const [finding] = found({ spec: deadMan('20h') });
  assert.deepEqual(finding, {
    code: 'DeadManShorterThanPeriod',
    level: 'warning',
    path: 'spec.deadManSwitch.maxTimeSinceLastSuccess',
    cronJob: { namespace: 'prod', name: 'backup' },
    message: '20h is no longer than its period, 24h',
    mend: '28h',
  });
});

test('errors stand before warnings and notes', () => {
  const cronJobs = [
    aCronJob({ name: 'note', restartPolicy: 'OnFailure' }),
    aCronJob({ name: 'warning', successLimit: 0 }),
    aCronJob({ name: 'error', schedule: '' }),
  ];
  assert.deepEqual(codes({ cronJobs }), ['ScheduleInvalid', 'HistoryTooShort', 'LastLogLost']);
});

test('names CronJobs that wait for what cannot be known, or for themselves', () => {
  const dependencies = (of: Readonly<Record<string, string[]>>): LintFacts['dependencies'] => ({
    namespace: 'ops',
    of: new Map(Object.entries(of)),
    problemOf: ({ namespace, name }) =>
      `${namespace}/${name}` === 'ops/gone' ? 'no CronJob has this name' : undefined,
  });
  const says = (notes: { dependsOn?: string }, of: Readonly<Record<string, string[]>>, dependsOn: string[] = []) =>
    found({ cronJob: { notes }, spec: { dependsOn }, dependencies: dependencies(of) }).map(
      ({ code, path, message }) => `${code} ${path} ${message}`,
    );
  const annotation = "metadata.annotations['cronjob-monitor.io/depends-on']";
  assert.deepEqual(says({ dependsOn: 'load' }, { 'prod/backup': ['prod/load'] }, ['load']), []);
  assert.deepEqual(says({ dependsOn: 'ops/gone UPPER' }, {}, ['gone', 'load']), [
    'DependencyUnknown spec.dependsOn gone: no CronJob has this name',
    `DependencyUnknown ${annotation} UPPER: is no name of a CronJob, or one more than 20`,
    `DependencyUnknown ${annotation} ops/gone: no CronJob has this name`,
  ]);
  assert.deepEqual(says({ dependsOn: 'load' }, { 'prod/backup': ['prod/load'], 'prod/load': ['prod/backup'] }), [
    `DependencyCycle ${annotation} prod/backup → prod/load → prod/backup: none of these waits for the next`,
  ]);
  assert.deepEqual(says({ dependsOn: 'backup' }, {}), [
    `DependencyCycle ${annotation} prod/backup → prod/backup: none of these waits for the next`,
  ]);
});

const mends: readonly (readonly [sentence: string, changes: Parameters<typeof found>[0], value: unknown])[] = [
  ['a weekly job has a day on top of its week', { spec: deadMan('25h'), cronJob: { schedule: '0 2 * * 1' } }, '192h'],
  [
    'a run that hangs ends after half as much again as runs take, in minutes',
    {
      cronJob: { policy: 'Forbid', activeDeadlineS: undefined, durations: { p50Ms: minuteMs, p95Ms: 20.5 * minuteMs } },
    },
    1_860,
  ],
  [
    'without a run it ends when the next one is due',
    { cronJob: { policy: 'Forbid', activeDeadlineS: undefined } },
    86_400,
  ],
  ['an interval that never comes loses its deadline', { cronJob: { schedule: '@every 1h', deadlineS: 60 } }, null],
  [
    'a limit that half of the runs break is set above what they take',
    {
      spec: { sla: { ...sla, maxDuration: '10m' } },
      cronJob: { durations: { p50Ms: 20 * minuteMs, p95Ms: 30 * minuteMs } },
    },
    '45m',
  ],
  [
    'retries are as many as end before the next run',
    {
      cronJob: { schedule: '*/5 * * * *', backoffLimit: 6, activeDeadlineS: undefined },
    },
    4,
  ],
];
for (const [sentence, changes, value] of mends)
  test(`what mends it: ${sentence}`, () => {
    const [finding, ...rest] = found(changes);
    assert.deepEqual([finding?.mend, rest], [value, []]);
  });

test('what mends a finding leaves none of its kind', () => {
  const limit = '25h';
  const [finding] = found({ spec: deadMan(limit), cronJob: { schedule: '0 2 * * 1' } });
  assert.deepEqual(codes({ spec: deadMan(String(finding?.mend)), cronJob: { schedule: '0 2 * * 1' } }), []);
});

test('a code that the owner of a CronJob, or of the monitor, leaves is found and marked', () => {
  const notes = { adviceIgnore: 'HistoryTooShort, LastLogLost' };
  const left = found({ cronJob: { notes, successLimit: 0, deadlineS: 5 } });
  assert.deepEqual(
    left.map(({ code, isLeft }) => [code, isLeft]),
    [
      ['StartingDeadlineTight', undefined],
      ['HistoryTooShort', true],
    ],
  );
  const [ofMonitor] = found({ cronJobs: [], adviceIgnore: 'SelectorEmpty' });
  assert.deepEqual([ofMonitor?.code, ofMonitor?.isLeft], ['SelectorEmpty', true]);
});

test('output that is read from a log which goes at once: the sentence, and a patch after which it is not found', () => {
  const spec = { output: { fromLogs: true, assertions: [] } };
  const finding = found({ spec, cronJob: { ttlAfterFinishedS: 0 } }).find(({ code }) => code === 'OutputLogsGone');
  assert.equal(
    finding?.message,
    'the output is read from the log, which is gone with the Job as soon as it has ended: it may not be read in time',
  );
  assert.equal(finding.path, 'spec.jobTemplate.spec.ttlSecondsAfterFinished');
  assert.deepEqual(codes({ spec, cronJob: { ttlAfterFinishedS: Number(finding.mend) } }), []);
});
