import type { StorageType } from './vocabulary.ts';
import type { WireInstant } from './wire.ts';

/** GET /api/v1/admin/storage-stats. Counts take in removed CronJobs. */
export interface StorageStats {
  readonly executionCount: number;
  readonly storageType: StorageType;
  readonly healthy: boolean;
  readonly retentionDays: number;
  readonly logStorageEnabled: boolean;
  readonly eventStorageEnabled: boolean;
  readonly logRetentionDays: number;
  readonly logCount: number;
  readonly eventCount: number;
  readonly alertCount: number;
  readonly slotCount: number;
  readonly deliveryCount: number;
  readonly oldestExecution: WireInstant | null;
  readonly sizeBytes: number | null;
  readonly schemaVersion: number;
  /** Counts above 1 million rows are estimates. */
  readonly approximate: boolean;
}

/** Body of POST /api/v1/admin/prune */
export interface PruneInput {
  readonly olderThanDays: number;
  readonly dryRun?: boolean;
  readonly pruneLogsOnly?: boolean;
}

/** POST /api/v1/admin/prune */
export interface PruneResult {
  readonly success: boolean;
  readonly dryRun: boolean;
  readonly pruneLogsOnly: boolean;
  readonly olderThanDays: number;
  readonly cutoff: WireInstant;
  readonly deletedCount: number;
  readonly logsDeleted: number;
  readonly eventsDeleted: number;
  readonly slotsDeleted: number;
  readonly message: string;
  /** False: the time for one call ran out; call again. */
  readonly completed: boolean;
}
