import { cronJobChanges } from '../catalog/cron-job-change.ts';
import { recordChanges } from '../changes.ts';
import type { Tx } from '../database.ts';
import { rowsIn, updateRows, type RowUpdate } from '../upsert.ts';

interface Counters {
  readonly worst: string | null;
  readonly active: number;
  readonly held: number;
}

const none: Counters = { worst: null, active: 0, held: 0 };

/**
 * Makes the figures on the rows of these CronJobs what their alerts say: the worst severity of what is active or suppressed, how many
 * are active, how many are pending or suppressed. Tells those that changed. The rows are locked by the caller.
 */
export async function moveAlertCounters(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  const ids = [...new Set(cronJobIds)].toSorted((a, b) => a - b);
  const counted = await rowsIn(
    tx,
    ids,
    (marks) =>
      `select cronjob_id, min(case when state = 'pending' then null when severity = 'critical' then 0 else 1 end) as worst, ` +
      `sum(case when state = 'active' then 1 else 0 end) as active, sum(case when state = 'active' then 0 else 1 end) as held ` +
      `from alerts where cronjob_id in (${marks}) and state in ('pending', 'active', 'suppressed') group by cronjob_id`,
  );
  const after = new Map<number, Counters>(
    counted.map((row) => [
      Number(row['cronjob_id']),
      {
        worst: row['worst'] === null ? null : Number(row['worst']) === 0 ? 'critical' : 'warning',
        active: Number(row['active']),
        held: Number(row['held']),
      },
    ]),
  );
  const before = await rowsIn(
    tx,
    ids,
    (marks) => `select id, worst_severity, active_alerts, held_alerts from cronjobs where id in (${marks}) order by id`,
  );
  const moved = before.flatMap((row): RowUpdate[] => {
    const id = Number(row['id']);
    const { worst, active, held } = after.get(id) ?? none;
    const same =
      row['worst_severity'] === worst && Number(row['active_alerts']) === active && Number(row['held_alerts']) === held;
    return same ? [] : [[id, worst, active, held]];
  });
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: { worst_severity: { text: 32 }, active_alerts: 'int', held_alerts: 'int' },
    rows: moved,
  });
  await recordChanges(
    tx,
    await cronJobChanges(
      tx,
      moved.map(([id]) => Number(id)),
    ),
  );
}
