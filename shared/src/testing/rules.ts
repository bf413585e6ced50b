import type { JobFailedRule } from '../domain/detect/job-failed.ts';
import type { AlertRules } from '../domain/index.ts';

/** Each failed run is told, and the first success ends it. */
export function aJobFailedRule(changes: Partial<JobFailedRule> = {}): JobFailedRule {
  return {
    enabled: true,
    failureThreshold: 1,
    recoveryThreshold: 1,
    failuresOfLast: undefined,
    includeManual: true,
    ...changes,
  };
}

/** Alerts are told at once, at most once an hour and again each day, on the channels named. */
export function alertRulesTo(channels: readonly string[], changes: Partial<AlertRules> = {}): AlertRules {
  return {
    severityOverrides: undefined,
    alertDelayMs: 0,
    suppressDuplicatesForMs: 3_600_000,
    remindEveryMs: 86_400_000,
    renotifyOnChangedError: false,
    alerting: { enabled: true, channelRefs: channels.map((name) => ({ name, severities: [] })) },
    windows: [],
    recoveryMs: 0,
    ...changes,
  };
}
