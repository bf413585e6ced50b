import type { HealthState, ScheduleProblem, Severity } from '../../contract/index.ts';
import { hasOutcome, standingOf, statusOf, type Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import type { Change } from '../changes.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import { stateWords } from '../words.ts';
import { keepListed, selectListed, type WindowMove } from './cronjob-list.ts';
import type { LastRun } from './run-columns.ts';

/** Columns that state and change of a CronJob are made of, beside those of its row in the list. */
const columns =
  'c.state, c.worst_severity, c.held_alerts, c.last_schedule_at, c.failed_run, c.missed_slot_at, c.waiting';

/**
 * Decides the state of these CronJobs anew and keeps it on their rows and in the list, so that filters, counts and orders are those of the
 * one judgement; then what the stream tells of them as they are now. Each writer of a fact of a CronJob calls it in the same transaction.
 * `perhaps`: they are told only when their state moved. `moves`: runs that move their windows; `recount`: their windows are others now.
 */
export async function cronJobChanges(
  tx: Tx,
  cronJobIds: readonly number[],
  perhaps: readonly number[] = [],
  windows: { readonly moves?: readonly WindowMove[]; readonly recount?: boolean } = {},
): Promise<Change[]> {
  const asked = [...new Set([...cronJobIds, ...perhaps])];
  const found = await rowsIn(tx, asked, (marks) => `${selectListed(columns)} where c.id in (${marks})`);
  const decided = found.map((row) => ({ row, state: stateOf(row) }));
  const moved = decided.filter(
    ({ row, state }) => row['state'] === null || Number(row['state']) !== stateWords.toNumber(state),
  );
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: { state: 'smallint' },
    rows: moved.map(({ row, state }) => [row['id'], stateWords.toNumber(state)]),
  });
  await keepListed(
    tx,
    decided.map(({ row, state }) => ({ row, state: stateWords.toNumber(state) })),
    windows,
  );
  const told = new Set([...cronJobIds, ...moved.map(({ row }) => Number(row['id']))]);
  return decided.filter(({ row }) => told.has(Number(row['id']))).map(({ row, state }) => toChange(row, state));
}

function stateOf(row: Row): HealthState {
  const worstSeverity = optionalText(row['worst_severity']) as Severity | undefined; // severities only: raise writes it
  return standingOf({
    isDeleted: row['deleted_at'] !== null,
    worstSeverity,
    hasFailed: row['failed_run'] !== null,
    hasMissed: missedSlotOf(row) !== undefined,
    hasBrokenTarget: row['broken'] !== null,
    isWaiting: row['waiting'] !== null || (worstSeverity === undefined && Number(row['held_alerts']) > 0),
    hasProblem: (optionalText(row['problem']) as ScheduleProblem | undefined) !== undefined,
    // recordRuns writes it
    hasRun: hasOutcome(fromJson(row['last_run']) as LastRun | undefined, optionalNumber(row['last_success_at'])),
    isSuspended: Number(row['suspended']) === 1,
  }).state;
}

function toChange(row: Row, state: HealthState): Change {
  const namespace = String(row['namespace']);
  return {
    kind: 'cronjob',
    namespace,
    data: {
      namespace,
      name: String(row['name']),
      status: statusOf(state),
      state,
      suspended: Number(row['suspended']) === 1,
      runningJobs: Number(row['running']),
      activeAlerts: Number(row['active_alerts']),
      deleted: row['deleted_at'] !== null,
    },
  };
}

/**
 * The newest judged slot of a row of `cronjobs`, if it is missed: one that was started after it has its outcome as well, whether its run has
 * ended or not.
 */
export function missedSlotOf(row: Row): Instant | undefined {
  const missedAt = optionalNumber(row['missed_slot_at']);
  if (missedAt === undefined) return undefined;
  const lastRun = fromJson(row['last_run']) as LastRun | undefined;
  const startedAt = Math.max(optionalNumber(row['last_schedule_at']) ?? -Infinity, lastRun?.scheduledAt ?? -Infinity);
  return startedAt >= missedAt ? undefined : missedAt;
}
