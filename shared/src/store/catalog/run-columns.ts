import { suspendedJob } from '../../contract/vocabulary.ts';
import type { Tx } from '../database.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import type { Execution } from '../../domain/index.ts';
import { toId16 } from '../id16.ts';

/** Sets `running` of these CronJobs to the number of their active Jobs that are not suspended. Returns the ids of those whose number moved. */
export async function countRunning(tx: Tx, cronJobIds: readonly number[]): Promise<number[]> {
  const counts = await rowsIn(
    tx,
    cronJobIds,
    (marks) => `select c.id, c.running, (select count(*) from active_jobs a where a.cronjob_id = c.id
                  and coalesce(a.waiting_reason, '') <> '${suspendedJob}') as jobs
                from cronjobs c where c.id in (${marks})`,
  );
  const moved = counts
    .map((row) => ({ id: Number(row['id']), before: Number(row['running']), now: Number(row['jobs']) }))
    .filter(({ before, now }) => before !== now);
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: { running: 'int' },
    rows: moved.map(({ id, now }) => [id, now]),
  });
  return moved.map(({ id }) => id);
}

const kept = [
  'jobName',
  'status',
  'trigger',
  'scheduledAt',
  'createdAt',
  'startedAt',
  'finishedAt',
  'durationMs',
  'exitCode',
  'reason',
  'jobReason',
] as const satisfies readonly (keyof Execution)[];

/** The newest run of a CronJob, kept on its row so that lists need no join. `jobReason` is absent where an earlier release wrote it. */
export interface LastRun extends Omit<Pick<Execution, (typeof kept)[number]>, 'jobReason'> {
  /** As the store has it. */
  readonly jobUid: string;
  readonly jobReason?: string | undefined;
  /** Of the newest failed run: when failures in a row ended that were removed from the history, newest first; itself among them. */
  readonly removedEnds?: readonly number[] | undefined;
}

export function toLastRun(run: Execution): LastRun {
  const values = Object.fromEntries(kept.map((key) => [key, run[key]])) as Pick<Execution, (typeof kept)[number]>; // one for each name
  return { jobUid: toId16(run.jobUid), ...values };
}
