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
  type Of,
} from './shape/index.ts';
import { storageTypes } from './vocabulary.ts';

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
