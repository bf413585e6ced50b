import { change, inParts, marks } from '../ask.ts';
import type { Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { flagBits } from '../words.ts';

/**
 * Notes of these runs, which were recorded in this transaction, that nothing was judged of them: the next judgement of their CronJobs takes
 * them as news. A watch that was never judged takes every run as news without that.
 */
export async function markUnjudged(tx: Tx, jobUids: readonly string[]): Promise<void> {
  for (const part of inParts(jobUids.map((uid) => tx.dialect.id16(toId16(uid))))) {
    await change(
      tx,
      `update executions set flags = flags + ${flagBits.unjudged} where job_uid in (${marks(part)}) ` +
        `and (flags & ${flagBits.unjudged}) = 0 and exists (select 1 from monitor_targets t ` +
        'where t.cronjob_id = executions.cronjob_id and t.removed_at is null and t.judged_at is not null)',
      part,
    );
  }
}

/** These runs are judged; `id16`: as they were read. */
export async function markJudged(tx: Tx, jobId16s: readonly string[]): Promise<void> {
  for (const part of inParts(jobId16s.map((id16) => tx.dialect.id16(id16)))) {
    await change(
      tx,
      `update executions set flags = flags - ${flagBits.unjudged} where job_uid in (${marks(part)}) ` +
        `and (flags & ${flagBits.unjudged}) <> 0`,
      part,
    );
  }
}
