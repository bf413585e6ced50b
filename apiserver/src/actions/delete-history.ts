import type { DeleteHistoryResult, Ref } from '@cronjob-monitor/shared/contract';
import { deleteHistory as deleteStored, type Store } from '@cronjob-monitor/shared/store';

/** One call works for so long; what is left waits for the next one. */
const budgetMs = 25_000;

/** Removes all history of a name for good. Jobs that are still in the cluster are not recorded again. */
export async function deleteHistory(store: Store, { namespace, name }: Ref): Promise<DeleteHistoryResult> {
  const removed = await deleteStored(store, { namespace, name }, { budgetMs });
  return {
    success: true,
    deletedCount: removed.executions,
    message: removed.completed ? `${removed.executions} deleted` : `${removed.executions} deleted, more are left`,
    completed: removed.completed,
  };
}
