import type { StorageStats } from '@cronjob-monitor/shared/contract';
import { measureStorage } from '@cronjob-monitor/shared/store';
import * as yup from 'yup';
import { readBody, readQuery } from '../../middleware/validate.ts';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';

const wholeDays = 'must be a whole number from 1 to 3650';

const pruneBody = yup.object({
  olderThanDays: yup
    .number()
    .typeError('must be a number')
    .integer(wholeDays)
    .min(1, wholeDays)
    .max(3650, wholeDays)
    .required('is required'),
  dryRun: yup.boolean().typeError('must be true or false').default(false),
  pruneLogsOnly: yup.boolean().typeError('must be true or false').default(false),
});

/**
 * @openapi
 * /admin/storage-stats:
 *   get:
 *     tags: [Administration]
 *     operationId: getStorageStats
 *     summary: What the database holds
 *     x-ability: readConfig
 *     x-answers: { 200: StorageStats }
 * /admin/prune:
 *   post:
 *     tags: [Administration]
 *     operationId: prune
 *     summary: Removes what is older, or only counts it
 *     x-ability: prune
 *     x-body: PruneInput
 *     x-answers: { 200: PruneResult }
 */

/** What the database holds, and the removal of what is old. */
export function adminRouter({ guard, store, settings, actions, databaseWatch }: RouteDeps): ApiRouter {
  return createRouter()
    .get('/admin/storage-stats', guard({ ability: 'readConfig' }), async (ctx) => {
      readQuery(ctx, {});
      const figures = await measureStorage(store);
      const { schema } = await databaseWatch.look();
      const { storage } = settings;
      const body: StorageStats = {
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
      ctx.body = body;
    })
    .post('/admin/prune', guard({ ability: 'prune' }), async (ctx) => {
      readQuery(ctx, {});
      ctx.body = await actions.prune(readBody(ctx, pruneBody));
    });
}
