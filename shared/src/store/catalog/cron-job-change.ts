import type { HealthState, ScheduleProblem, Severity } from '../../contract/index.ts';
import { hasOutcome, standingOf, statusOf, type Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { type Change, recordChanges } from '../changes.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn, type RowUpdate, updateRows } from '../upsert.ts';
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

/** Decides the state of these CronJobs anew, and tells of those that moved. */
export async function decideStates(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  await recordChanges(tx, await cronJobChanges(tx, [], cronJobIds));
}

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
