import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';
import { rowsIn } from '../upsert.ts';
import { statusWords } from '../words.ts';

/** Those of these Jobs whose run is recorded as failed, but without an exit code or a reason of its own: its pods may
 * still tell. */
export async function listIncompleteRuns(db: Db, jobUids: readonly string[]): Promise<ReadonlySet<string>> {
  const uidOf = new Map(jobUids.map((uid) => [toId16(uid), uid]));
  const bound = [...uidOf.keys()].map((id16) => db.dialect.id16(id16));
  const found = await rowsIn(
    db,
    bound,
    (marks) =>
      `select job_uid, status from executions where job_uid in (${marks}) and exit_code is null and (reason is null or reason = job_reason)`,
  );
  const incomplete = new Set<string>();
  for (const row of found) {
    const uid = uidOf.get(db.dialect.id16Text(row['job_uid']));
    if (uid !== undefined && statusWords.toWord(row['status']) === 'failed') incomplete.add(uid);
  }
  return incomplete;
}
