import type { Fault } from '../../domain/index.ts';
import { change } from '../ask.ts';
import { cleanText } from '../column.ts';
import type { Tx } from '../database.ts';
import { toFaultColumns } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';

/** Longer suggestions are cut, characters. */
const longestFix = 4_000;

/** Keeps the suggestions for these runs, rendered; the first one of a run stays. Returns how many were kept. */
export async function updateExecutionFixes(
  tx: Tx,
  fixes: readonly { readonly jobUid: string; readonly fix: string }[],
): Promise<number> {
  let kept = 0;
  for (const { jobUid, fix } of fixes) {
    kept += await change(tx, 'update executions set fix = ? where job_uid = ? and fix is null', [
      cleanText(fix, longestFix),
      tx.dialect.id16(toId16(jobUid)),
    ]);
  }
  return kept;
}

/** What more was read of failed runs says whose fault they were. */
export async function updateExecutionFaults(
  tx: Tx,
  faults: readonly { readonly jobUid: string; readonly fault: Fault }[],
): Promise<void> {
  for (const { jobUid, fault } of faults) {
    await change(tx, 'update executions set cause = ?, scope = ? where job_uid = ?', [
      ...toFaultColumns(fault),
      tx.dialect.id16(toId16(jobUid)),
    ]);
  }
}
