import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeMonitorSpec } from '../../testing/index.ts';
import { decodeMonitorSpec } from './decode-monitor.ts';
import type { MonitorDefaults, MonitorSpec } from './monitor-spec.ts';
import type { SpecNote, SpecProblem } from './reading.ts';

const defaults: MonitorDefaults = {
  suppressDuplicatesForMs: 3_600_000,
  retentionDays: 30,
  maxRetentionDays: 90,
  logRetentionDays: 0,
  maxLogSizeKB: 100,
  storeLogs: false,
  storeEvents: true,
};

function decode(
  spec: unknown,
  more: Partial<MonitorDefaults> = {},
): { spec: MonitorSpec; problems: readonly SpecProblem[]; notes: readonly SpecNote[] } {
  const decoded = decodeMonitorSpec({ spec }, { ...defaults, ...more }, { regexProblem: regexProblemOf });
  assert.ok(decoded.ok);
  return decoded;
}

/** Stands for the engine of the service: refuses look-behind, as RE2 does. */
function regexProblemOf(pattern: string): string | undefined {
  return pattern.includes('(?<=') ? 'look-behind is not supported' : undefined;
}

test('an empty, absent or null spec watches failed, missed and stuck runs, and sends nothing', () => {
  const { spec, problems, notes } = decode({});
  assert.deepEqual(spec, {
    selector: undefined,
    deadManSwitch: undefined,
    missedSchedule: { enabled: true, grace: '2m', threshold: 1, skipWarnAfter: undefined },
    jobFailed: {
      enabled: true,
      failureThreshold: 1,
      recoveryThreshold: 1,
      failuresOfLast: undefined,
      includeManual: true,
    },
    sla: undefined,
    stuckJobs: { enabled: true, notStartedAfter: '10m', overrunningAfter: undefined, terminatingAfter: '10m' },
    suspendedHandling: { pauseMonitoring: true, alertIfSuspendedFor: undefined },
    maintenanceWindows: [],
    alerting: undefined,
    dataRetention: {
      retentionDays: 30,
      logRetentionDays: 30,
      maxLogSizeKB: 100,
      storeLogs: false,
      storeEvents: true,
      onCronJobDeletion: 'retain',
      purgeAfterDays: undefined,
      onRecreation: 'retain',
    },
  });
  assert.deepEqual([problems, notes], [[], []]);
  for (const absent of [undefined, null]) assert.deepEqual(decode(absent).spec, spec);
});

test('blocks that are there get their defaults', () => {
  const { spec } = decode({ deadManSwitch: { autoFromSchedule: {} }, sla: {}, alerting: {}, selector: {} });
  assert.deepEqual(spec.deadManSwitch?.autoFromSchedule, { enabled: true, buffer: '1h', missedScheduleThreshold: 1 });
  assert.deepEqual([spec.sla?.minSuccessRate, spec.sla?.windowDays, spec.sla?.durationBaselineWindowDays], [95, 7, 14]);
  assert.deepEqual([spec.alerting?.remindEvery, spec.alerting?.suppressDuplicatesFor], ['24h', '1h0m0s']);
  assert.equal(spec.alerting?.includeContext.logLines, 50);
  assert.equal(spec.selector?.unusable, undefined);
});

test('what a spec sets is kept as it was written', () => {
  const { spec } = decode(wholeMonitorSpec, { storeLogs: true });
  assert.deepEqual(spec.sla, wholeMonitorSpec.sla);
  assert.deepEqual(spec.jobFailed, wholeMonitorSpec.jobFailed);
  assert.deepEqual(spec.maintenanceWindows, wholeMonitorSpec.maintenanceWindows);
  assert.deepEqual(spec.alerting, wholeMonitorSpec.alerting);
  assert.deepEqual(spec.dataRetention, wholeMonitorSpec.dataRetention);
});

test('a null counts as absent, as the API server has it', () => {
  const { spec, problems } = decode({ jobFailed: { failureThreshold: null }, sla: null });
  assert.deepEqual([spec.jobFailed.failureThreshold, spec.sla, problems], [1, undefined, []]);
});

for (const { says, spec, path, reason } of [
  {
    says: 'an abbreviation of a zone',
    spec: { maintenanceWindows: [aWindow({ timezone: 'PST' })] },
    path: 'spec.maintenanceWindows[0].timezone',
    reason: 'InvalidTimeZone',
  },
  {
    says: 'a zone that does not exist',
    spec: { sla: { finishBy: { time: '06:00', timezone: 'Europe/Atlantis' } } },
    path: 'spec.sla.finishBy.timezone',
    reason: 'InvalidTimeZone',
  },
  {
    says: 'a zone in another case',
    spec: { maintenanceWindows: [aWindow({ timezone: 'europe/berlin' })] },
    path: 'spec.maintenanceWindows[0].timezone',
    reason: 'InvalidTimeZone',
  },
  {
    says: 'a window whose schedule does not parse',
    spec: { maintenanceWindows: [aWindow({ schedule: '0 25 * * *' })] },
    path: 'spec.maintenanceWindows[0].schedule',
    reason: 'InvalidSchedule',
  },
  {
    says: 'a window that never comes',
    spec: { maintenanceWindows: [aWindow({ schedule: '0 0 30 2 *' })] },
    path: 'spec.maintenanceWindows[0].schedule',
    reason: 'InvalidSchedule',
  },
  {
    says: 'a window with an interval',
    spec: { maintenanceWindows: [aWindow({ schedule: '@every 1h' })] },
    path: 'spec.maintenanceWindows[0].schedule',
    reason: 'InvalidSchedule',
  },
  {
    says: 'a window with a zone in its schedule',
    spec: { maintenanceWindows: [aWindow({ schedule: 'TZ=UTC 0 1 * * *' })] },
    path: 'spec.maintenanceWindows[0].schedule',
    reason: 'InvalidSchedule',
  },
  {
    says: 'a window of more than 31 days',
    spec: { maintenanceWindows: [aWindow({ duration: '31d1s' })] },
    path: 'spec.maintenanceWindows[0].duration',
    reason: 'InvalidField',
  },
  {
    says: 'two windows of one name',
    spec: { maintenanceWindows: [aWindow({}), aWindow({})] },
    path: 'spec.maintenanceWindows',
    reason: 'InvalidField',
  },
  {
    says: 'a duration of zero',
    spec: { missedSchedule: { grace: '0s' } },
    path: 'spec.missedSchedule.grace',
    reason: 'InvalidField',
  },
  {
    says: 'a duration without a unit',
    spec: { missedSchedule: { grace: '90' } },
    path: 'spec.missedSchedule.grace',
    reason: 'InvalidField',
  },
  {
    says: 'a duration beyond 292 years',
    spec: { sla: { maxDuration: '999999999w' } },
    path: 'spec.sla.maxDuration',
    reason: 'InvalidField',
  },
  {
    says: 'minDuration above maxDuration',
    spec: { sla: { minDuration: '2h', maxDuration: '60m' } },
    path: 'spec.sla.minDuration',
    reason: 'InvalidField',
  },
  {
    says: 'minDuration equal to maxDuration',
    spec: { sla: { minDuration: '1h', maxDuration: '60m' } },
    path: 'spec.sla.minDuration',
    reason: 'InvalidField',
  },
  {
    says: 'a time of day that is none',
    spec: { sla: { finishBy: { time: '24:00' } } },
    path: 'spec.sla.finishBy.time',
    reason: 'InvalidField',
  },
  {
    says: 'more failures than runs',
    spec: { jobFailed: { failuresOfLast: { failures: 3, runs: 2 } } },
    path: 'spec.jobFailed.failuresOfLast',
    reason: 'InvalidField',
  },
  {
    says: 'a switch with nothing to go by',
    spec: { deadManSwitch: {} },
    path: 'spec.deadManSwitch',
    reason: 'InvalidField',
  },
  {
    says: 'a switch whose schedule part is off',
    spec: { deadManSwitch: { autoFromSchedule: { enabled: false } } },
    path: 'spec.deadManSwitch',
    reason: 'InvalidField',
  },
  {
    says: 'two ways to name namespaces',
    spec: { selector: { namespaces: ['a'], allNamespaces: true } },
    path: 'spec.selector',
    reason: 'InvalidField',
  },
  {
    says: 'In without values',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    path: 'spec.selector.matchExpressions[0]',
    reason: 'InvalidField',
  },
  {
    says: 'Exists with values',
    spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
    path: 'spec.selector.matchExpressions[0]',
    reason: 'InvalidField',
  },
  {
    says: 'a name twice',
    spec: { selector: { matchNames: ['a', 'a'] } },
    path: 'spec.selector.matchNames',
    reason: 'InvalidField',
  },
  {
    says: 'a reminder too often',
    spec: { alerting: { remindEvery: '4m59s' } },
    path: 'spec.alerting.remindEvery',
    reason: 'InvalidField',
  },
  {
    says: 'a pattern that matches nothing',
    spec: { alerting: { suggestedFixPatterns: [aPattern({ match: {} })] } },
    path: 'spec.alerting.suggestedFixPatterns[0].match',
    reason: 'InvalidField',
  },
  {
    says: 'a range the wrong way round',
    spec: { alerting: { suggestedFixPatterns: [aPattern({ match: { exitCodeRange: { min: 3, max: 2 } } })] } },
    path: 'spec.alerting.suggestedFixPatterns[0].match.exitCodeRange',
    reason: 'InvalidField',
  },
  {
    says: 'a regex that does not compile',
    spec: { alerting: { suggestedFixPatterns: [aPattern({ match: { logPattern: '(?<=x)y' } })] } },
    path: 'spec.alerting.suggestedFixPatterns[0].match.logPattern',
    reason: 'InvalidPattern',
  },
  {
    says: 'an unknown placeholder',
    spec: { alerting: { suggestedFixPatterns: [aPattern({ suggestion: '{{ .Alert.Title }}' })] } },
    path: 'spec.alerting.suggestedFixPatterns[0].suggestion',
    reason: 'InvalidPattern',
  },
  {
    says: 'a required field that is missing',
    spec: { alerting: { channelRefs: [{}] } },
    path: 'spec.alerting.channelRefs[0].name',
    reason: 'InvalidField',
  },
  {
    says: 'purging after no number of days',
    spec: { dataRetention: { onCronJobDeletion: 'purge-after-days' } },
    path: 'spec.dataRetention',
    reason: 'InvalidField',
  },
  {
    says: 'logs kept longer than runs',
    spec: { dataRetention: { retentionDays: 5, logRetentionDays: 6 } },
    path: 'spec.dataRetention',
    reason: 'InvalidField',
  },
]) {
  test(`${says} is named once, with its reason`, () => {
    const { problems } = decode(spec);
    assert.deepEqual(
      problems.map((problem) => [problem.path, problem.reason]),
      [[path, reason]],
    );
  });
}

function aWindow(more: object): object {
  return { name: 'w', schedule: '0 1 * * 0', duration: '3h', ...more };
}

function aPattern(more: object): object {
  return { name: 'p', match: { exitCode: 1 }, suggestion: 'look', ...more };
}

for (const { says, spec, off } of [
  {
    says: 'a bad threshold',
    spec: { jobFailed: { failureThreshold: 0 } },
    off: (on: MonitorSpec) => !on.jobFailed.enabled,
  },
  { says: 'a bad grace', spec: { missedSchedule: { grace: 5 } }, off: (on: MonitorSpec) => !on.missedSchedule.enabled },
  { says: 'a bad switch', spec: { jobFailed: { enabled: 'true' } }, off: (on: MonitorSpec) => !on.jobFailed.enabled },
  { says: 'a block that is no object', spec: { jobFailed: 7 }, off: (on: MonitorSpec) => !on.jobFailed.enabled },
  {
    says: 'a bad window of days',
    spec: { sla: { windowDays: 0, maxDuration: '1h' } },
    off: (on: MonitorSpec) => on.sla?.minSuccessRate === undefined && on.sla?.maxDuration === '1h',
  },
  {
    says: 'a bad baseline',
    spec: { sla: { durationBaselineWindowDays: 1 } },
    off: (on: MonitorSpec) => on.sla?.durationRegressionThreshold === 0 && on.sla.minSuccessRate === 95,
  },
  {
    says: 'a bad limit of one subject',
    spec: { stuckJobs: { notStartedAfter: 'x' } },
    off: (on: MonitorSpec) =>
      on.stuckJobs.enabled && on.stuckJobs.notStartedAfter === undefined && on.stuckJobs.terminatingAfter === '10m',
  },
  {
    says: 'a bad longest time beside a schedule',
    spec: { deadManSwitch: { maxTimeSinceLastSuccess: 1, autoFromSchedule: {} } },
    off: (on: MonitorSpec) =>
      on.deadManSwitch?.enabled === true && on.deadManSwitch.maxTimeSinceLastSuccess === undefined,
  },
  {
    says: 'a bad criterion',
    spec: { selector: { matchNames: [1] } },
    off: (on: MonitorSpec) => on.selector?.unusable === true,
  },
  {
    says: 'one bad window of two',
    spec: { maintenanceWindows: [aWindow({ duration: 1 }), aWindow({ name: 'x' })] },
    off: (on: MonitorSpec) => on.maintenanceWindows.length === 1,
  },
  {
    says: 'one bad channel of two',
    spec: { alerting: { channelRefs: [{ name: 1 }, { name: 'a' }] } },
    off: (on: MonitorSpec) => on.alerting?.channelRefs.length === 1,
  },
  {
    says: 'bad lines of logs',
    spec: { alerting: { includeContext: { logLines: 0 } } },
    off: (on: MonitorSpec) => on.alerting?.includeContext.logs === false && on.alerting.includeContext.events,
  },
  {
    says: 'a bad policy of deletion',
    spec: { dataRetention: { onCronJobDeletion: 'burn' } },
    off: (on: MonitorSpec) => on.dataRetention.onCronJobDeletion === 'retain',
  },
  {
    says: 'bad days before purging',
    spec: { dataRetention: { onCronJobDeletion: 'purge-after-days', purgeAfterDays: -1 } },
    off: (on: MonitorSpec) => on.dataRetention.onCronJobDeletion === 'retain',
  },
  {
    says: 'a bad wish to store events',
    spec: { dataRetention: { storeEvents: 'no' } },
    off: (on: MonitorSpec) => !on.dataRetention.storeEvents,
  },
]) {
  test(`${says} switches off what needs it, and no more`, () => assert.ok(off(decode(spec).spec)));
}

test('severities that cannot be used filter nothing: nobody stays untold', () => {
  const { spec, problems } = decode({ alerting: { channelRefs: [{ name: 'a', severities: ['loud'] }] } });
  assert.deepEqual(spec.alerting?.channelRefs, [{ name: 'a', severities: ['critical', 'warning'] }]);
  assert.equal(problems[0]?.path, 'spec.alerting.channelRefs[0].severities[0]');
});

test('an empty list of severities means both, and is noted', () => {
  const { spec, notes } = decode({ alerting: { channelRefs: [{ name: 'a', severities: [] }, { name: 'b' }] } });
  assert.deepEqual(
    spec.alerting?.channelRefs.map(({ severities }) => severities.length),
    [2, 2],
  );
  assert.deepEqual(
    notes.map(({ code, path }) => [code, path]),
    [['SeveritiesEmpty', 'spec.alerting.channelRefs[0].severities']],
  );
});

test('retention and log size are lowered to their ceilings, and that is noted', () => {
  const { spec, notes } = decode({ dataRetention: { retentionDays: 400, logRetentionDays: 300, maxLogSizeKB: 500 } });
  const { retentionDays, logRetentionDays, maxLogSizeKB } = spec.dataRetention;
  assert.deepEqual([retentionDays, logRetentionDays, maxLogSizeKB], [90, 90, 100]);
  assert.deepEqual(
    notes.map(({ code }) => code),
    ['RetentionClamped', 'LogSizeClamped', 'RetentionClamped'],
  );
});

test('a gate of the configuration that is shut stays shut, and a wish against it is noted', () => {
  const { spec, notes } = decode({ dataRetention: { storeLogs: true, storeEvents: true } }, { storeEvents: false });
  assert.deepEqual([spec.dataRetention.storeLogs, spec.dataRetention.storeEvents], [false, false]);
  assert.deepEqual(
    notes.map(({ code }) => code),
    ['LogStorageOff', 'EventStorageOff'],
  );
});

test('logs are kept no longer than runs when only the runs are limited', () => {
  const { spec, problems } = decode({ dataRetention: { retentionDays: 3 } }, { logRetentionDays: 20 });
  assert.deepEqual([spec.dataRetention.logRetentionDays, problems], [3, []]);
});

test('names that Object.prototype has are no fields', () => {
  const { spec, problems } = decode(JSON.parse('{"__proto__": {"sla": {}}, "constructor": 7}'));
  assert.deepEqual([spec.sla, problems], [undefined, []]);
});
