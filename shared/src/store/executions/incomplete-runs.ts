import type { Execution } from '../../domain/index.ts';
import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import { statusWords } from '../words.ts';
import { isToldTooEarly, shortReason } from './short-text.ts';

/**
 * Those of these runs that are recorded as failed with less than is known of them now: without an exit code or a reason of their own, since
 * their pods had not told it; or as `Error`, before the runtime had told the kubelet that memory ran out.
 */
export async function listIncompleteRuns(
  db: Db,
  runs: readonly Pick<Execution, 'jobUid' | 'reason'>[],
): Promise<ReadonlySet<string>> {
  const runOf = new Map(runs.map((run) => [toId16(run.jobUid), run]));
  const bound = [...runOf.keys()].map((id16) => db.dialect.id16(id16));
  const found = await rowsIn(
    db,
    bound,
    (marks) =>
      `select job_uid, status, exit_code, reason from executions where job_uid in (${marks}) and ((exit_code is null and (reason is null or reason = job_reason)) or reason = '${shortReason('Error')}')`,
  );
  const incomplete = new Set<string>();
  for (const row of found) {
    const run = runOf.get(db.dialect.id16Text(row['job_uid']));
    if (run === undefined || statusWords.toWord(row['status']) !== 'failed') continue;
    if (row['exit_code'] === null || isToldTooEarly(row['reason'], run.reason)) incomplete.add(run.jobUid);
  }
  return incomplete;
}
