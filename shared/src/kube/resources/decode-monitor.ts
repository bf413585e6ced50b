import { overrideWords } from '../../contract/index.ts';
import { formatDuration } from '../../domain/index.ts';
import type { RawObject } from '../cluster.ts';
import { alertingField, allowOverrides } from './alerting-fields.ts';
import {
  deadManSwitch,
  dependsOn,
  expects,
  jobFailed,
  missedSchedule,
  output,
  sla,
  stuckJobs,
  suspendedHandling,
} from './detection-fields.ts';
import { defaulted, nameOf, object, optional, type Read } from './field.ts';
import { maintenanceWindows } from './maintenance-fields.ts';
import type { AlertingSpec, MonitorDefaults, MonitorSpec } from './monitor-spec.ts';
import { startReading, type Reading, type SpecChecks, type SpecNote, type SpecProblem } from './reading.ts';
import { retentionField, settleRetention } from './retention-fields.ts';
import { jobsField, readJobs, readSelector, selectorField } from './selector-fields.ts';

const members = {
  selector: optional(selectorField),
  jobs: optional(jobsField),
  deadManSwitch: optional(deadManSwitch),
  missedSchedule: defaulted(missedSchedule, {}),
  jobFailed: defaulted(jobFailed, {}),
  sla: optional(sla),
  output: optional(output),
  stuckJobs: defaulted(stuckJobs, {}),
  suspendedHandling: defaulted(suspendedHandling, {}),
  expects: optional(expects),
  dependsOn: optional(dependsOn),
  maintenanceWindows: optional(maintenanceWindows),
  allowOverrides: defaulted(allowOverrides, [...overrideWords]),
  alerting: optional(alertingField),
  dataRetention: optional(retentionField),
};

/** All fields of a CronJobMonitor's spec with their rules and defaults. */
export const monitorSpecField = object(members);

/** What could be made of a spec. `undecodable`: it is no object, nothing in it can be used, and the monitor is in phase Error. */
export type DecodedSpec<S> =
  | {
      readonly ok: true;
      readonly spec: S;
      readonly problems: readonly SpecProblem[];
      readonly notes: readonly SpecNote[];
    }
  | { readonly ok: false; readonly undecodable: string };

/**
 * Reads the spec of a CronJobMonitor from plain JSON that may hold anything. Every field is judged by itself: one that cannot be
 * used is named, and only what needs it is off. An absent spec is an empty one. Never throws. resources.md sections 1 and 2.
 */
export function decodeMonitorSpec(
  object: RawObject,
  defaults: MonitorDefaults,
  checks?: SpecChecks,
): DecodedSpec<MonitorSpec> {
  const given = object['spec'] ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    return { ok: false, undecodable: `spec must be an object, is ${nameOf(given)}` };
  }
  const reading = startReading(checks);
  const { selector, jobs, ...rest } = given as Readonly<Record<string, unknown>>;
  const read = monitorSpecField.read(rest, 'spec', reading);
  if (read === undefined) return { ok: false, undecodable: 'spec must be an object' };
  const spec: MonitorSpec = {
    selector: selector == null ? undefined : readSelector(selector, 'spec.selector', reading),
    jobs: jobs == null ? undefined : readJobs(jobs, 'spec.jobs', reading),
    deadManSwitch: read.deadManSwitch,
    missedSchedule: read.missedSchedule ?? { ...usual(missedSchedule), enabled: false },
    jobFailed: read.jobFailed ?? { ...usual(jobFailed), enabled: false },
    sla: read.sla,
    output: read.output,
    stuckJobs: read.stuckJobs ?? { ...usual(stuckJobs), enabled: false },
    suspendedHandling: read.suspendedHandling ?? usual(suspendedHandling),
    expects: read.expects,
    dependsOn: read.dependsOn ?? [],
    maintenanceWindows: read.maintenanceWindows ?? [],
    allowOverrides: read.allowOverrides ?? [],
    alerting: read.alerting && settleAlerting(read.alerting, defaults),
    dataRetention: settleRetention(read.dataRetention, defaults, 'spec.dataRetention', reading),
  };
  return { ok: true, spec, problems: reading.problems, notes: reading.notes };
}

/** A block as it is when nothing is said: what stands in for one that is no object. */
function usual<T>(field: { read(value: unknown, path: string, reading: Reading): T | undefined }): T {
  const value = field.read({}, '', startReading());
  if (value === undefined) throw new Error('a block of defaults is always readable');
  return value;
}

function settleAlerting(read: NonNullable<Read<typeof members>['alerting']>, defaults: MonitorDefaults): AlertingSpec {
  return {
    enabled: read.enabled === true,
    channelRefs: read.channelRefs ?? [],
    routes: read.routes ?? [],
    includeContext: read.includeContext ?? noContext,
    severityOverrides: read.severityOverrides ?? {},
    suggestedFixPatterns: read.suggestedFixPatterns ?? [],
    suppressDuplicatesFor: read.suppressDuplicatesFor ?? formatDuration(defaults.suppressDuplicatesForMs),
    alertDelay: read.alertDelay,
    remindEvery: read.remindEvery ?? '0s',
    renotifyOnChangedError: read.renotifyOnChangedError === true,
  };
}

const noContext = {
  logs: false,
  logLines: 50,
  logContainerName: undefined,
  events: false,
  includeInitContainerLogs: false,
  podStatus: false,
  suggestedFixes: false,
} as const;
