import { overrideWords } from '../../contract/vocabulary.ts';
import { dayMs, formatDuration, parseDuration } from '../../domain/index.ts';
import type { RawObject } from '../cluster.ts';
import { alertingField, allowOverrides } from './alerting-fields.ts';
import { detection } from './detection-fields.ts';
import {
  boolean,
  defaulted,
  duration,
  integer,
  nameOf,
  object,
  oneOf,
  optional,
  type Read,
  required,
  text,
  zone,
} from './field.ts';
import {
  type AlertingSpec,
  type DataRetentionSpec,
  deletionPolicies,
  type JobsSpec,
  type MaintenanceWindowSpec,
  type MonitorDefaults,
  type MonitorSelector,
  type MonitorSpec,
  recreationPolicies,
} from './monitor-spec.ts';
import { type Reading, refuse, type SpecChecks, type SpecNote, type SpecProblem, startReading } from './reading.ts';
import { type LabelExpression, labelOperators, type LabelSelector } from '../selector.ts';
import { list, namedList, refine, set, textMap } from './collection.ts';
import { start } from './maintenance-fields.ts';

const longestMs = 31 * dayMs;

const span = refine(duration(), (value, path, reading) =>
  (parseDuration(value) ?? 0) <= longestMs ? value : refuse(reading, path, 'must be at most 31d'),
);

const maintenanceWindow = refine(
  object({
    name: required(text(1, 63)),
    schedule: required(start()),
    duration: required(span),
    timezone: defaulted(zone, 'UTC'),
    suppressAlerts: defaulted(boolean, true),
    excludeFromSla: defaulted(boolean, false),
  }),
  (read): MaintenanceWindowSpec | undefined => {
    const { name, schedule, duration, timezone, suppressAlerts, excludeFromSla } = read;
    // A window of which one field cannot be used is none: it then mutes nothing.
    if (name === undefined || schedule === undefined || duration === undefined || timezone === undefined)
      return undefined;
    if (suppressAlerts === undefined || excludeFromSla === undefined) return undefined;
    return { name, schedule, duration, timezone, suppressAlerts, excludeFromSla };
  },
);

const maintenanceWindows = namedList(maintenanceWindow, 50);

const matchLabels = textMap(text(0, 63), 32);

const expression = refine(
  object({
    key: required(text(1, 317)),
    operator: required(oneOf(labelOperators)),
    values: optional(list(text(0, 63), 500)),
  }),
  ({ key, operator, values = [] }, path, reading): LabelExpression | undefined => {
    if (key === undefined || operator === undefined) return undefined;
    const wantsValues = operator === 'In' || operator === 'NotIn';
    if (wantsValues === values.length > 0) return { key, operator, values };
    return refuse(reading, path, 'In and NotIn need values, Exists and DoesNotExist take none');
  },
);

const labelMembers = { matchLabels: optional(matchLabels), matchExpressions: optional(list(expression, 32)) };

const namespaceSelector = refine(object(labelMembers), (read): LabelSelector => ({
  matchLabels: read.matchLabels ?? {},
  matchExpressions: read.matchExpressions ?? [],
}));

const selectorField = object({
  ...labelMembers,
  matchNames: optional(set(text(1, 253), 500)),
  namespaces: optional(set(text(1, 63), 200)),
  namespaceSelector: optional(namespaceSelector),
  allNamespaces: defaulted(boolean, false),
  fallback: defaulted(boolean, false),
});

/** Nothing: what a selector selects that cannot be used as it was meant. */
export const selectsNothing: MonitorSelector = {
  matchLabels: {},
  matchExpressions: [],
  matchNames: [],
  namespaces: [],
  namespaceSelector: undefined,
  allNamespaces: false,
  fallback: false,
  unusable: true,
};

/** Reads `spec.selector`. One criterion that cannot be used makes it select nothing. */
function readSelector(value: unknown, path: string, reading: Reading): MonitorSelector {
  const before = reading.problems.length;
  const read = selectorField.read(value, path, reading);
  if (read === undefined || reading.problems.length > before) return selectsNothing;
  const selector: MonitorSelector = {
    matchLabels: read.matchLabels ?? {},
    matchExpressions: read.matchExpressions ?? [],
    matchNames: read.matchNames ?? [],
    namespaces: read.namespaces ?? [],
    namespaceSelector: read.namespaceSelector,
    allNamespaces: read.allNamespaces ?? false,
    fallback: read.fallback ?? false,
  };
  const ways = [selector.namespaces.length > 0, selector.namespaceSelector !== undefined, selector.allNamespaces];
  if (ways.filter(Boolean).length <= 1) return selector;
  refuse(reading, path, 'give at most one of namespaces, namespaceSelector, allNamespaces');
  return selectsNothing;
}

const jobsField = object({
  ...labelMembers,
  ownerKinds: optional(set(text(1, 63), 20)),
  hasAnnotations: optional(set(text(1, 317), 20)),
  only: defaulted(boolean, false),
  forgetAfter: defaulted(duration(), '24h'),
});

/** Reads `spec.jobs`. One criterion that cannot be used makes it select no Job. */
function readJobs(value: unknown, path: string, reading: Reading): JobsSpec {
  const before = reading.problems.length;
  const read = jobsField.read(value, path, reading);
  const jobs = {
    matchLabels: read?.matchLabels ?? {},
    matchExpressions: read?.matchExpressions ?? [],
    ownerKinds: read?.ownerKinds ?? [],
    hasAnnotations: read?.hasAnnotations ?? [],
    only: read?.only ?? false,
    forgetAfter: read?.forgetAfter ?? '24h',
  };
  if (reading.problems.length > before) return { ...jobs, unusable: true };
  const criteria = [Object.keys(jobs.matchLabels), jobs.matchExpressions, jobs.ownerKinds, jobs.hasAnnotations];
  if (criteria.some(({ length }) => length > 0)) return jobs;
  refuse(reading, path, 'jobs needs matchLabels, matchExpressions, ownerKinds or hasAnnotations');
  return { ...jobs, unusable: true };
}

const retentionMembers = {
  retentionDays: optional(integer(1, 3650)),
  logRetentionDays: optional(integer(1, 3650)),
  maxLogSizeKB: optional(integer(1, 1024)),
  storeLogs: optional(boolean),
  storeEvents: optional(boolean),
  onCronJobDeletion: defaulted(oneOf(deletionPolicies), 'retain'),
  purgeAfterDays: optional(integer(0, 3650)),
  onRecreation: defaulted(oneOf(recreationPolicies), 'retain'),
};

const retentionField = object(retentionMembers);

/**
 * The retention that holds: what the monitor says, within what the configuration allows. A field that cannot be used counts as
 * absent, a policy that cannot be used as `retain`: nothing is deleted on a guess.
 */
function settleRetention(
  read: Read<typeof retentionMembers> | undefined,
  defaults: MonitorDefaults,
  path: string,
  reading: Reading,
): DataRetentionSpec {
  const given: Partial<Read<typeof retentionMembers>> = read ?? {};
  const hasProblem = (name: string): boolean => reading.problems.some((problem) => problem.path === `${path}.${name}`);
  const isTooLong =
    given.logRetentionDays !== undefined &&
    given.retentionDays !== undefined &&
    given.logRetentionDays > given.retentionDays;
  if (isTooLong) refuse(reading, path, 'logRetentionDays must not exceed retentionDays');
  const retentionDays = clampDays(given.retentionDays ?? defaults.retentionDays, 'retentionDays');
  const logDays = isTooLong ? undefined : given.logRetentionDays;
  const usualLogDays = defaults.logRetentionDays === 0 ? defaults.retentionDays : defaults.logRetentionDays;
  const maxLogSizeKB = given.maxLogSizeKB ?? defaults.maxLogSizeKB;
  if (maxLogSizeKB > defaults.maxLogSizeKB) {
    note('LogSizeClamped', 'maxLogSizeKB', `lowered to ${defaults.maxLogSizeKB} by storage.max-log-size-kb`);
  }
  const gate = (name: 'storeLogs' | 'storeEvents', code: 'LogStorageOff' | 'EventStorageOff', key: string): boolean => {
    if (given[name] === true && !defaults[name]) note(code, name, `has no effect while ${key} is false`);
    return defaults[name] && !hasProblem(name) && (given[name] ?? true);
  };
  return {
    retentionDays,
    logRetentionDays: clampDays(logDays ?? Math.min(usualLogDays, retentionDays), 'logRetentionDays'),
    maxLogSizeKB: Math.min(maxLogSizeKB, defaults.maxLogSizeKB),
    storeLogs: gate('storeLogs', 'LogStorageOff', 'storage.log-storage-enabled'),
    storeEvents: gate('storeEvents', 'EventStorageOff', 'storage.event-storage-enabled'),
    ...deletion(),
    onRecreation: given.onRecreation ?? 'retain',
  };

  function note(code: Reading['notes'][number]['code'], name: string, message: string): void {
    reading.notes.push({ code, path: `${path}.${name}`, message });
  }

  function clampDays(days: number, name: string): number {
    if (days <= defaults.maxRetentionDays) return days;
    note('RetentionClamped', name, `lowered to ${defaults.maxRetentionDays} by history-retention.max-days`);
    return defaults.maxRetentionDays;
  }

  function deletion(): Pick<DataRetentionSpec, 'onCronJobDeletion' | 'purgeAfterDays'> {
    const policy = given.onCronJobDeletion ?? 'retain';
    if (policy !== 'purge-after-days') return { onCronJobDeletion: policy, purgeAfterDays: undefined };
    if (given.purgeAfterDays !== undefined) return { onCronJobDeletion: policy, purgeAfterDays: given.purgeAfterDays };
    if (!hasProblem('purgeAfterDays')) refuse(reading, path, 'purge-after-days needs purgeAfterDays');
    return { onCronJobDeletion: 'retain', purgeAfterDays: undefined };
  }
}

const members = {
  selector: optional(selectorField),
  jobs: optional(jobsField),
  deadManSwitch: optional(detection.deadManSwitch),
  missedSchedule: defaulted(detection.missedSchedule, {}),
  jobFailed: defaulted(detection.jobFailed, {}),
  sla: optional(detection.sla),
  output: optional(detection.output),
  stuckJobs: defaulted(detection.stuckJobs, {}),
  suspendedHandling: defaulted(detection.suspendedHandling, {}),
  expects: optional(detection.expects),
  dependsOn: optional(detection.dependsOn),
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
    missedSchedule: read.missedSchedule ?? { ...usual(detection.missedSchedule), enabled: false },
    jobFailed: read.jobFailed ?? { ...usual(detection.jobFailed), enabled: false },
    sla: read.sla,
    output: read.output,
    stuckJobs: read.stuckJobs ?? { ...usual(detection.stuckJobs), enabled: false },
    suspendedHandling: read.suspendedHandling ?? usual(detection.suspendedHandling),
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
