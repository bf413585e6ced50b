import { namedList, refine, set } from './collection.ts';
import {
  boolean,
  defaulted,
  duration,
  integer,
  number,
  object,
  oneOf,
  optional,
  required,
  text,
  zone,
} from './field.ts';
import type {
  AutoFromScheduleSpec,
  DeadManSwitchSpec,
  ExpectsSpec,
  MissedScheduleSpec,
  OutputSpec,
  StuckJobsSpec,
  SuspendedHandlingSpec,
} from './monitor-spec.ts';
import { severities } from '../../contract/vocabulary.ts';
import {
  factNamePattern,
  mostDependencies,
  parseDuration,
  type JobFailedRule,
  type SlaSpec,
} from '../../domain/index.ts';
import { refuse, hasProblemIn } from './reading.ts';

/**
 * The blocks that say what counts as a problem. Each ends with what an unusable field switches off: a block whose switch or
 * threshold cannot be used is off; a part with a field of its own is off alone.
 */

const autoFromSchedule = refine(
  object({
    enabled: defaulted(boolean, true),
    buffer: defaulted(duration({ zero: true }), '1h'),
    missedScheduleThreshold: defaulted(integer(1, 100), 1),
  }),
  ({ enabled, buffer, missedScheduleThreshold }): AutoFromScheduleSpec | undefined =>
    enabled === undefined || buffer === undefined || missedScheduleThreshold === undefined
      ? undefined
      : { enabled, buffer, missedScheduleThreshold },
);

const deadManSwitchField = object({
  enabled: defaulted(boolean, true),
  maxTimeSinceLastSuccess: optional(duration()),
  autoFromSchedule: optional(autoFromSchedule),
  fromCreation: defaulted(boolean, true),
});

const deadManSwitch = refine(deadManSwitchField, (read, path, reading): DeadManSwitchSpec => {
  const { maxTimeSinceLastSuccess, autoFromSchedule } = read;
  const isArmed = maxTimeSinceLastSuccess !== undefined || autoFromSchedule?.enabled === true;
  const hasProblem = hasProblemIn(reading, path);
  if (read.enabled === true && !isArmed && !hasProblem) {
    refuse(reading, path, 'deadManSwitch needs maxTimeSinceLastSuccess or autoFromSchedule');
  }
  return {
    enabled: read.enabled === true && isArmed,
    maxTimeSinceLastSuccess,
    autoFromSchedule,
    fromCreation: read.fromCreation === true,
  };
});

const missedSchedule = refine(
  object({
    enabled: defaulted(boolean, true),
    grace: defaulted(duration(), '2m'),
    threshold: defaulted(integer(1, 100), 1),
    skipWarnAfter: optional(integer(1, 1000)),
  }),
  ({ enabled, grace, threshold, skipWarnAfter }): MissedScheduleSpec => ({
    enabled: enabled === true && grace !== undefined && threshold !== undefined,
    grace: grace ?? '2m',
    threshold: threshold ?? 1,
    skipWarnAfter,
  }),
);

const failuresOfLast = refine(
  object({ failures: required(integer(1, 20)), runs: required(integer(1, 20)) }),
  ({ failures, runs }, path, reading) => {
    if (failures === undefined || runs === undefined) return undefined;
    return failures <= runs ? { failures, runs } : refuse(reading, path, 'failures must not exceed runs');
  },
);

const jobFailed = refine(
  object({
    enabled: defaulted(boolean, true),
    failureThreshold: defaulted(integer(1, 100), 1),
    recoveryThreshold: defaulted(integer(1, 100), 1),
    failuresOfLast: optional(failuresOfLast),
    includeManual: defaulted(boolean, true),
  }),
  (read): JobFailedRule => {
    const { enabled, failureThreshold, recoveryThreshold, includeManual } = read;
    const isUsable = failureThreshold !== undefined && recoveryThreshold !== undefined && includeManual !== undefined;
    return {
      enabled: enabled === true && isUsable,
      failureThreshold: failureThreshold ?? 1,
      recoveryThreshold: recoveryThreshold ?? 1,
      failuresOfLast: read.failuresOfLast,
      includeManual: includeManual ?? true,
    };
  },
);

const timeOfDay = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;

const finishBy = refine(
  object({ time: required(text(0, 16)), timezone: optional(zone) }),
  ({ time, timezone }, path, reading): SlaSpec['finishBy'] => {
    const hasProblem = hasProblemIn(reading, path);
    if (time === undefined || hasProblem) return undefined;
    return timeOfDay.test(time) ? { time, timezone } : refuse(reading, `${path}.time`, 'use HH:MM from 00:00 to 23:59');
  },
);

const slaField = object({
  enabled: defaulted(boolean, true),
  minSuccessRate: defaulted(number(0, 100), 95),
  windowDays: defaulted(integer(1, 365), 7),
  minRuns: defaulted(integer(1, 10_000), 1),
  countMissed: defaulted(boolean, false),
  maxDuration: optional(duration()),
  minDuration: optional(duration()),
  finishBy: optional(finishBy),
  durationRegressionThreshold: defaulted(integer(0, 1000), 50),
  durationBaselineWindowDays: defaulted(integer(2, 365), 14),
});

const sla = refine(slaField, (read, path, reading): SlaSpec => {
  const { windowDays, minRuns, countMissed, durationBaselineWindowDays, maxDuration } = read;
  const rateIsUsable = windowDays !== undefined && minRuns !== undefined && countMissed !== undefined;
  const isBelow = isShorter(read.minDuration, maxDuration);
  if (!isBelow) refuse(reading, `${path}.minDuration`, 'must be shorter than maxDuration');
  return {
    enabled: read.enabled === true,
    minSuccessRate: rateIsUsable ? read.minSuccessRate : undefined,
    windowDays: windowDays ?? 7,
    minRuns: minRuns ?? 1,
    countMissed: countMissed ?? false,
    maxDuration,
    minDuration: isBelow ? read.minDuration : undefined,
    finishBy: read.finishBy,
    durationRegressionThreshold: durationBaselineWindowDays === undefined ? 0 : (read.durationRegressionThreshold ?? 0),
    durationBaselineWindowDays: durationBaselineWindowDays ?? 14,
  };
});

/** Holds also when one of them is not given. */
function isShorter(least: string | undefined, most: string | undefined): boolean {
  if (least === undefined || most === undefined) return true;
  return (parseDuration(least) ?? 0) < (parseDuration(most) ?? 0);
}

const outputAssertion = refine(
  object({
    name: required(text(1, 63)),
    fact: required(
      text(1, 32, {
        source: factNamePattern,
        says: 'must be a name of a to z, 0 to 9 and _ that begins with a letter, at most 32 characters',
      }),
    ),
    min: optional(number(-1e15, 1e15)),
    max: optional(number(-1e15, 1e15)),
    required: defaulted(boolean, false),
    dropBelow: optional(object({ percent: required(number(1, 99)), runs: defaulted(integer(3, 100), 14) })),
    severity: optional(oneOf(severities)),
  }),
  (read, path, reading): OutputSpec['assertions'][number] | undefined => {
    const { name, fact, min, max, severity } = read;
    const { percent, runs } = read.dropBelow ?? {};
    const hasProblem = hasProblemIn(reading, path);
    if (name === undefined || fact === undefined || hasProblem) return undefined;
    const dropBelow = percent === undefined || runs === undefined ? undefined : { percent, runs };
    const isRequired = read.required === true;
    if (min === undefined && max === undefined && dropBelow === undefined && !isRequired)
      return refuse(reading, path, 'an assertion needs min, max, dropBelow or required');
    if (min !== undefined && max !== undefined && min > max) return refuse(reading, path, 'min must not exceed max');
    return { name, fact, min, max, required: isRequired, dropBelow, severity };
  },
);

const output = refine(
  object({ fromLogs: defaulted(boolean, false), assertions: optional(namedList(outputAssertion, 20)) }),
  ({ fromLogs, assertions }): OutputSpec => ({ fromLogs: fromLogs === true, assertions: assertions ?? [] }),
);

const stuckJobs = refine(
  object({
    enabled: defaulted(boolean, true),
    notStartedAfter: defaulted(duration(), '10m'),
    hopelessAfter: defaulted(duration({ zero: true }), '2m'),
    overrunningAfter: optional(duration()),
    terminatingAfter: defaulted(duration(), '10m'),
  }),
  ({ enabled, notStartedAfter, hopelessAfter, overrunningAfter, terminatingAfter }): StuckJobsSpec => ({
    enabled: enabled === true,
    notStartedAfter,
    hopelessAfter,
    overrunningAfter,
    terminatingAfter,
  }),
);

const suspendedHandling = refine(
  object({ pauseMonitoring: defaulted(boolean, true), alertIfSuspendedFor: optional(duration()) }),
  ({ pauseMonitoring, alertIfSuspendedFor }): SuspendedHandlingSpec => ({
    pauseMonitoring: pauseMonitoring ?? true,
    alertIfSuspendedFor,
  }),
);

/** `name`, or `namespace/name`. */
const cronJobName = text(1, 317, {
  source: '^([-a-z0-9]+/)?[-a-z0-9.]+$',
  says: 'must be the name of a CronJob, or namespace/name',
});

/** CronJobs whose failure explains one of those that the monitor selects. */
const dependsOn = set(cronJobName, mostDependencies);

const expects = refine(
  object({
    names: optional(set(cronJobName, 500)),
    seen: defaulted(boolean, false),
    except: optional(set(cronJobName, 500)),
    grace: defaulted(duration({ zero: true }), '10m'),
  }),
  ({ names = [], seen, except, grace }, path, reading): ExpectsSpec | undefined => {
    const hasProblem = hasProblemIn(reading, path);
    // Without its exceptions or its grace it would tell of what was meant to go.
    if (hasProblem || seen === undefined || grace === undefined) return undefined;
    if (names.length === 0 && !seen) return refuse(reading, path, 'expects needs names or seen');
    return { names, seen, except: except ?? [], grace };
  },
);

/** The fields of a monitor's spec that say what counts as a problem. */
export const detection = {
  deadManSwitch,
  missedSchedule,
  jobFailed,
  sla,
  output,
  stuckJobs,
  suspendedHandling,
  dependsOn,
  expects,
};
