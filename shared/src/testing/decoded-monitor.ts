import assert from 'node:assert/strict';
import { decodeMonitorSpec } from '../kube/resources/decode-monitor.ts';
import type { MonitorDefaults, MonitorSpec } from '../kube/resources/monitor-spec.ts';
import type { SpecNote, SpecProblem } from '../kube/resources/reading.ts';

/** What an installation without a configuration of its own reckons with, logs not stored. */
export const monitorDefaults: MonitorDefaults = {
  suppressDuplicatesForMs: 3_600_000,
  retentionDays: 30,
  maxRetentionDays: 90,
  logRetentionDays: 0,
  maxLogSizeKB: 100,
  storeLogs: false,
  storeEvents: true,
};

/** A spec as the service reads it under the defaults of a new installation. */
export function decodedMonitor(
  spec: unknown,
  more: Partial<MonitorDefaults> = {},
): { spec: MonitorSpec; problems: readonly SpecProblem[]; notes: readonly SpecNote[] } {
  const decoded = decodeMonitorSpec({ spec }, { ...monitorDefaults, ...more }, { regexProblem: regexProblemOf });
  assert.ok(decoded.ok);
  return decoded;
}

/** Stands for the engine of the service: refuses look-behind, as RE2 does. */
function regexProblemOf(pattern: string): string | undefined {
  return pattern.includes('(?<=') ? 'look-behind is not supported' : undefined;
}
