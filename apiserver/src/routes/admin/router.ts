import { PruneInput, PruneResult, StorageStats } from '@cronjob-monitor/shared/contract';
import { measureStorage } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { route } from '../route.ts';

/** What the database holds, and the removal of what is old. */
export const adminRoutes = [
  route(
    {
      method: 'GET',
      path: '/admin/storage-stats',
      tag: 'Administration',
      id: 'getStorageStats',
      says: 'What the database holds',
      ability: 'readConfig',
      answer: StorageStats,
    },
    async ({ deps: { store, settings, databaseWatch } }) => {
      const figures = await measureStorage(store);
      const { schema } = await databaseWatch.look();
      const { storage } = settings;
      return {
        executionCount: figures.executions,
        storageType: storage.type,
        healthy: true, // it has just answered
        retentionDays: storage.retentionDays,
        logStorageEnabled: storage.logStorageEnabled,
        eventStorageEnabled: storage.eventStorageEnabled,
        logRetentionDays: storage.logRetentionDays,
        logCount: figures.logs,
        eventCount: figures.events,
        alertCount: figures.alerts,
        slotCount: figures.slots,
        deliveryCount: figures.deliveries,
        oldestExecution: toWireInstantOrNull(figures.oldestExecutionAt),
        sizeBytes: orNull(figures.sizeBytes),
        schemaVersion: schema?.version ?? 0,
        approximate: figures.approximate,
      };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/admin/prune',
      tag: 'Administration',
      id: 'prune',
      says: 'Removes what is older, or only counts it',
      ability: 'prune',
      body: PruneInput,
      answer: PruneResult,
    },
    ({ deps, body: { olderThanDays, dryRun = false, pruneLogsOnly = false } }) =>
      deps.actions.prune({ olderThanDays, dryRun, pruneLogsOnly }),
  ),
];
