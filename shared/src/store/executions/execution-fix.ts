import type { Fault } from '../../domain/index.ts';
import { cleanText } from '../column.ts';
import type { Tx } from '../database.ts';
import { faultColumns, toFaultColumns } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';
import { rowsIn, updateRows } from '../upsert.ts';

/** Longer suggestions are cut, characters. */
const longestFix = 4_000;

/**
 * Keeps the suggestions for these runs, rendered; the first one of a run stays. The rows of their CronJobs are to be locked before. Returns how
 * many were kept.
 */
export async function updateExecutionFixes(
  tx: Tx,
  fixes: readonly { readonly jobUid: string; readonly fix: string }[],
): Promise<number> {
  const given = new Map(fixes.toReversed().map(({ jobUid, fix }) => [toId16(jobUid), fix]));
  const without = await rowsIn(
    tx,
    [...given.keys()].map((jobUid) => tx.dialect.id16(jobUid)),
    (marks) => `select job_uid from executions where fix is null and job_uid in (${marks})`,
  );
  await updateRows(tx, {
    table: 'executions',
    key: 'job_uid',
    columns: { fix: 'longText' },
    rows: without.map((row) => [
      row['job_uid'],
      cleanText(given.get(tx.dialect.id16Text(row['job_uid'])) ?? '', longestFix),
    ]),
  });
  return without.length;
}

/** What more was read of failed runs says whose fault they were. */
export async function updateExecutionFaults(
  tx: Tx,
  faults: readonly { readonly jobUid: string; readonly fault: Fault }[],
): Promise<void> {
  await updateRows(tx, {
    table: 'executions',
    key: 'job_uid',
    columns: faultColumns,
    rows: faults.map(({ jobUid, fault }) => [tx.dialect.id16(jobUid), ...toFaultColumns(fault)]),
  });
}
