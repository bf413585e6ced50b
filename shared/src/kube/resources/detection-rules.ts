import { alertSeverity, parseResourceDuration, type DetectionRules, dayMs } from '../../domain/index.ts';
import type { MonitorSpec } from './monitor-spec.ts';

/** What a decoded spec asks of the detectors, durations as milliseconds. `cronJobZone`: of a finishBy that names none. */
export function detectionRulesOf(spec: MonitorSpec, cronJobZone: string): DetectionRules {
  const { deadManSwitch, missedSchedule, sla, stuckJobs, suspendedHandling } = spec;
  const { pauseMonitoring } = suspendedHandling;
  const auto = deadManSwitch?.autoFromSchedule;
  const stuck = {
    enabled: stuckJobs.enabled,
    // What is not asked for has passed first of no Job.
    notStartedAfterMs: msOf(stuckJobs.notStartedAfter) ?? Infinity,
    hopelessAfterMs: stuckJobs.notStartedAfter === undefined ? 0 : (msOf(stuckJobs.hopelessAfter) ?? 0),
    terminatingAfterMs: msOf(stuckJobs.terminatingAfter) ?? 0,
    overrunningAfterMs: msOf(stuckJobs.overrunningAfter),
  };
  return {
    jobFailed: spec.jobFailed,
    missedSchedule: { ...missedSchedule, graceMs: msOf(missedSchedule.grace) ?? 0 },
    deadMan: deadManSwitch && {
      enabled: deadManSwitch.enabled,
      maxSinceSuccessMs: msOf(deadManSwitch.maxTimeSinceLastSuccess),
      auto: auto?.enabled
        ? { bufferMs: msOf(auto.buffer) ?? 0, missedScheduleThreshold: auto.missedScheduleThreshold }
        : undefined,
      fromCreation: deadManSwitch.fromCreation,
      pauseMonitoring,
    },
    durations: sla && {
      enabled: sla.enabled,
      maxDurationMs: msOf(sla.maxDuration),
      minDurationMs: msOf(sla.minDuration),
    },
    successRate:
      sla?.minSuccessRate === undefined
        ? undefined
        : {
            enabled: sla.enabled,
            minSuccessRate: sla.minSuccessRate,
            windowDays: sla.windowDays,
            minRuns: sla.minRuns,
            countMissed: sla.countMissed,
          },
    finishBy: sla?.finishBy && {
      enabled: sla.enabled,
      time: sla.finishBy.time,
      timeZone: sla.finishBy.timezone ?? cronJobZone,
    },
    regression: sla && {
      enabled: sla.enabled,
      thresholdPercent: sla.durationRegressionThreshold,
      baselineWindowMs: sla.durationBaselineWindowDays * dayMs,
    },
    output: spec.output && {
      assertions: spec.output.assertions.map((assertion) => ({
        ...assertion,
        severity: assertion.severity ?? alertSeverity('slaBreached', spec.alerting?.severityOverrides).severity,
      })),
    },
    stuck: {
      notStarted: stuckJobs.notStartedAfter === undefined ? undefined : stuck,
      overrunning: stuck,
      terminating: stuckJobs.terminatingAfter === undefined ? undefined : stuck,
    },
    suspended: { alertIfSuspendedForMs: msOf(suspendedHandling.alertIfSuspendedFor) },
    pauseMonitoring,
  };
}

/**
 * What is asked of a group of Jobs. It has no slots, so nothing can be missed or late by the clock; no rate is promised for it, and
 * each Job is suspended by itself.
 */
export function groupRulesOf(rules: DetectionRules): DetectionRules {
  return {
    ...rules,
    missedSchedule: { ...rules.missedSchedule, enabled: false },
    deadMan: undefined,
    successRate: undefined,
    finishBy: undefined,
    output: undefined,
    suspended: { alertIfSuspendedForMs: undefined },
  };
}

function msOf(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : (parseResourceDuration(duration) ?? undefined);
}
