import {
  bool,
  count,
  input,
  instant,
  int,
  nullable,
  number,
  object,
  optional,
  text,
  wholeNumber,
  words,
  each,
  listOf,
  mapOf,
  named,
  typed,
  type Of,
} from './shape/shape.ts';
import { storageTypes, abilities, authModes } from './vocabulary.ts';

/** GET /api/v1/admin/storage-stats. Counts take in removed CronJobs. */
export const StorageStats = object('StorageStats', {
  executionCount: count,
  storageType: words(storageTypes),
  healthy: bool,
  retentionDays: int,
  logStorageEnabled: bool,
  eventStorageEnabled: bool,
  logRetentionDays: int,
  logCount: count,
  eventCount: count,
  alertCount: count,
  slotCount: count,
  deliveryCount: count,
  oldestExecution: nullable(instant),
  sizeBytes: nullable(number),
  schemaVersion: int,
  /** Counts above 1 million rows are estimates. */
  approximate: bool,
});
export type StorageStats = Of<typeof StorageStats>;

/** Body of POST /api/v1/admin/prune */
export const PruneInput = input('PruneInput', {
  olderThanDays: wholeNumber(1, 3650),
  dryRun: optional(bool),
  pruneLogsOnly: optional(bool),
});
export type PruneInput = Of<typeof PruneInput>;

/** POST /api/v1/admin/prune */
export const PruneResult = object('PruneResult', {
  success: bool,
  dryRun: bool,
  pruneLogsOnly: bool,
  olderThanDays: int,
  cutoff: instant,
  deletedCount: count,
  logsDeleted: count,
  eventsDeleted: count,
  slotsDeleted: count,
  message: text,
  /** False: the time for one call ran out; call again. */
  completed: bool,
});
export type PruneResult = Of<typeof PruneResult>;

/** GET /api/v1/whoami */
export const Whoami = object('Whoami', {
  mode: words(authModes),
  authenticated: bool,
  user: nullable(object({ name: text, groups: listOf(text) })),
  /** The namespace that was asked about; null = in any namespace. */
  namespace: nullable(text),
  readOnly: bool,
  defaultTimeZone: text,
  can: each(abilities, bool),
});
export type Whoami = Of<typeof Whoami>;

/** Where the value of a configuration key came from when it is not the default. */
const configSources = ['flag', 'environment', 'file'] as const;
export type ConfigSource = (typeof configSources)[number];

/**
 * GET /api/v1/config: keys nested at their dots, durations as text, sensitive values `***` when set, else null.
 * `sources` names each key that is not at its default.
 */
export interface ConfigView {
  readonly [key: string]: unknown;
  readonly sources: Readonly<Record<string, ConfigSource>>;
}
export const ConfigView = named(
  'Config',
  typed<ConfigView>({ form: { kind: 'object', fields: { sources: mapOf(words(configSources)) }, more: true } }),
);
