import type { PruneInput, PruneResult } from '@cronjob-monitor/shared/contract';
import { pruneHistory, type Store } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../wire-values.ts';

const budgetMs = 25_000;
const dayMs = 86_400_000;

/** Removes what is older than so many days, or only counts it: one predicate, so the figures are the same. */
export async function prune(store: Store, input: Required<PruneInput>): Promise<PruneResult> {
  const { olderThanDays, dryRun, pruneLogsOnly } = input;
  const cutoff = store.now() - olderThanDays * dayMs;
  const removed = await pruneHistory(store, { before: cutoff, evidenceOnly: pruneLogsOnly, dryRun, budgetMs });
  const deletedCount = pruneLogsOnly ? 0 : removed.executions;
  const what = pruneLogsOnly ? `${removed.logs} logs` : `${deletedCount} executions`;
  return {
    success: true,
    dryRun,
    pruneLogsOnly,
    olderThanDays,
    cutoff: toWireInstant(cutoff),
    deletedCount,
    logsDeleted: removed.logs,
    eventsDeleted: removed.events,
    slotsDeleted: removed.slots,
    message: `${what} ${dryRun ? 'would be deleted' : removed.completed ? 'deleted' : 'deleted, more are left'}`,
    completed: removed.completed,
  };
}
