import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedMonitor } from '../../testing/index.ts';
import type { MonitorSpec } from './monitor-spec.ts';

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
  { says: 'jobs without a criterion', spec: { jobs: { only: true } }, path: 'spec.jobs', reason: 'InvalidField' },
  {
    says: 'jobs that are forgotten at once',
    spec: { jobs: { ownerKinds: ['JobSet'], forgetAfter: '0s' } },
    path: 'spec.jobs.forgetAfter',
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
    const { problems } = decodedMonitor(spec);
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
    says: 'a bad criterion of Jobs',
    spec: { jobs: { only: true, ownerKinds: ['JobSet'], hasAnnotations: [1] } },
    off: (on: MonitorSpec) => on.jobs?.unusable === true && on.jobs.only,
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
  test(`${says} switches off what needs it, and no more`, () => assert.ok(off(decodedMonitor(spec).spec)));
}
