import { boolean, defaulted, integer, object, oneOf, optional, type Read } from './field.ts';
import { deletionPolicies, recreationPolicies, type DataRetentionSpec, type MonitorDefaults } from './monitor-spec.ts';
import { refuse, type Reading } from './reading.ts';

const members = {
  retentionDays: optional(integer(1, 3650)),
  logRetentionDays: optional(integer(1, 3650)),
  maxLogSizeKB: optional(integer(1, 1024)),
  storeLogs: optional(boolean),
  storeEvents: optional(boolean),
  onCronJobDeletion: defaulted(oneOf(deletionPolicies), 'retain'),
  purgeAfterDays: optional(integer(0, 3650)),
  onRecreation: defaulted(oneOf(recreationPolicies), 'retain'),
};

export const retentionField = object(members);

/**
 * The retention that holds: what the monitor says, within what the configuration allows. A field that cannot be used counts as
 * absent, a policy that cannot be used as `retain`: nothing is deleted on a guess.
 */
export function settleRetention(
  read: Read<typeof members> | undefined,
  defaults: MonitorDefaults,
  path: string,
  reading: Reading,
): DataRetentionSpec {
  const given: Partial<Read<typeof members>> = read ?? {};
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
