import type { DeleteHistoryResult, PruneInput, PruneResult, Ref } from '@cronjob-monitor/shared/contract';
import { pruneHistory, deleteHistory as deleteStored, type Store } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../wire-values.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

const budgetMs = 25_000;

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

/** One call works for so long; what is left waits for the next one. */
const historyBudgetMs = 25_000;

/** Removes all history of a name for good. Jobs that are still in the cluster are not recorded again. */
export async function deleteHistory(store: Store, { namespace, name }: Ref): Promise<DeleteHistoryResult> {
  const removed = await deleteStored(store, { namespace, name }, { budgetMs: historyBudgetMs });
  return {
    success: true,
    deletedCount: removed.executions,
    message: removed.completed ? `${removed.executions} deleted` : `${removed.executions} deleted, more are left`,
    completed: removed.completed,
  };
}
