import type { Instant } from '../domain/index.ts';
import { firstRow } from './ask.ts';
import { optionalNumber } from './column.ts';
import type { Db } from './database.ts';

/** Figures of the database, deleted CronJobs included. */
interface StorageFigures {
  readonly executions: number;
  readonly logs: number;
  readonly events: number;
  readonly alerts: number;
  readonly slots: number;
  readonly deliveries: number;
  /** Creation of the oldest stored run; undefined: no run is stored. */
  readonly oldestExecutionAt: Instant | undefined;
  /** Undefined when the account may not ask. */
  readonly sizeBytes: number | undefined;
  /** A table has more rows than were counted: its figure is what was counted. */
  readonly approximate: boolean;
}

/** Rows of a table that are counted: more would take the time of those who wait. */
const mostCounted = 1_000_000;

export async function measureStorage(db: Db): Promise<StorageFigures> {
  const tables = {
    executions: 'executions',
    logs: "evidence where kind = 'logs' and unavailable is null",
    events: "evidence where kind = 'events' and unavailable is null",
    alerts: 'alerts',
    slots: 'slots',
    deliveries: 'deliveries',
  };
  const counts: Record<string, number> = {};
  for (const [name, from] of Object.entries(tables)) {
    const row = await firstRow(db, `select count(*) as n from (select 1 as one from ${from} limit ?) t`, [
      mostCounted + 1,
    ]);
    counts[name] = Number(row?.['n'] ?? 0);
  }
  const { executions = 0, logs = 0, events = 0, alerts = 0, slots = 0, deliveries = 0 } = counts;
  return {
    executions,
    logs,
    events,
    alerts,
    slots,
    deliveries,
    oldestExecutionAt: await findOldestExecution(db),
    sizeBytes: await db.dialect.sizeBytes(db),
    approximate: Object.values(counts).some((count) => count > mostCounted),
  };
}

/** By the key of each CronJob, or of some: no table is read through. */
export async function findOldestExecution(db: Db, cronJobIds?: readonly number[]): Promise<Instant | undefined> {
  const within = cronJobIds ? ` where c.id in (${cronJobIds.map(() => '?').join(', ')})` : '';
  if (cronJobIds?.length === 0) return undefined;
  const row = await firstRow(
    db,
    'select min(oldest) as oldest from (select (select min(e.created_at) from executions e where e.cronjob_id = c.id) as oldest ' +
      `from cronjobs c${within}) t`,
    cronJobIds ?? [],
  );
  return row && optionalNumber(row['oldest']);
}
