import { type Execution, lateAfterMs } from '../../domain/index.ts';
import { change, inParts, insertRows, marks } from '../ask.ts';
import { cronJobChanges } from '../catalog/cron-job-change.ts';
import type { WindowMove } from '../catalog/cronjob-list.ts';
import { countRunning } from '../catalog/run-columns.ts';
import { tellWaits } from '../catalog/verdict-facts.ts';
import { type Change, recordChanges } from '../changes.ts';
import type { Store, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { countRuns } from '../rollups.ts';
import { answerSlots } from '../slots/record-slots.ts';
import { findStartSkew } from '../slots/recent-slots.ts';
import { changeIn, rowsIn } from '../upsert.ts';
import { flagBits } from '../words.ts';
import { executionColumns, toExecutionRow } from './execution-row.ts';
import { lockOwners, moveOwners, type Owner } from './owners.ts';
import { insertRunFacts } from './run-facts.ts';
import { asPresent, isUnseen, listPresentRuns, planRun, type PresentRun } from './plan-run.ts';

/** Results of recordRuns; every Job UID is in exactly one of the lists. */
interface RecordedRuns {
  /** New rows: only these are counted in metrics. */
  readonly inserted: readonly string[];
  /** Rows that took the place of an inferred or unobserved one: counted like new ones. */
  readonly replaced: readonly string[];
  /** Recorded before: a replay. */
  readonly known: readonly string[];
  /** Ended before the history was cleared or pruned: they do not come back. */
  readonly cleared: readonly string[];
  /** Their CronJob has no catalog row yet: hand them in again when it has. */
  readonly orphaned: readonly string[];
}

/** A run that gets a row now, and the CronJob it belongs to, locked. */
interface FreshRun {
  readonly run: Execution;
  readonly owner: Owner;
}

/** A run that got its row in this transaction. */
export interface CountedRunOf {
  readonly run: Execution;
  readonly cronJobId: number;
}

/** Most runs that one transaction takes. */
export const mostRunsAtOnce = 100;

/**
 * Records at most 100 ended runs in one fenced transaction: execution, counts of its UTC day (of the Job's creation), last run,
 * last success and last failure of its CronJob, the change the API streams; its active Job is removed. A run already
 * recorded changes nothing, so a replay is harmless. CronJob rows are locked in the order of their id. `judge` is asked about the new
 * rows in the same transaction: what follows from a run is written with it, or not at all.
 */
export async function recordRuns(
  store: Store,
  epoch: number,
  runs: readonly Execution[],
  judge?: (tx: Tx, counted: readonly CountedRunOf[]) => Promise<void>,
): Promise<RecordedRuns> {
  if (runs.length > mostRunsAtOnce) throw new RangeError(`at most ${mostRunsAtOnce} runs are recorded at once`);
  // What an earlier attempt of this call wrote: when its COMMIT got no answer and its rows are there now, they are ours.
  const written = new Map<string, 'inserted' | 'replaced'>();
  return store.fenced(epoch, async (tx) => {
    const { result, fresh } = await recordFresh(tx, runs, written);
    const counted = fresh.map(({ run, owner }) => ({ run, cronJobId: owner.id }));
    if (counted.length > 0) await judge?.(tx, counted);
    return result;
  });
}

/** The same within a transaction that already holds the fence. */
export async function recordInside(
  tx: Tx,
  runs: readonly Execution[],
  written: Map<string, 'inserted' | 'replaced'> = new Map(),
): Promise<RecordedRuns> {
  return (await recordFresh(tx, runs, written)).result;
}

async function recordFresh(
  tx: Tx,
  runs: readonly Execution[],
  written: Map<string, 'inserted' | 'replaced'>,
): Promise<{ readonly result: RecordedRuns; readonly fresh: readonly FreshRun[] }> {
  const owners = await lockOwners(
    tx,
    runs.map(({ cronJobUid }) => cronJobUid),
  );
  const present = await listPresentRuns(tx, runs, owners);

  const result = { inserted: [], replaced: [], known: [], cleared: [], orphaned: [] } as Record<
    keyof RecordedRuns,
    string[]
  >;
  const fresh: FreshRun[] = [];
  const gone: PresentRun[] = [];
  // Runs whose end was seen come first: one whose end was not seen then finds that it adds nothing.
  for (const run of runs.toSorted((a, b) => Number(isUnseen(a)) - Number(isUnseen(b)))) {
    const owner = owners.get(run.cronJobUid);
    const plan = planRun(run, owner, present.values());
    const outcome = plan.outcome === 'known' ? (written.get(run.jobUid) ?? 'known') : plan.outcome;
    result[outcome].push(run.jobUid);
    if (owner === undefined || (plan.outcome !== 'inserted' && plan.outcome !== 'replaced')) continue;
    written.set(run.jobUid, plan.outcome);
    for (const row of plan.instead) present.delete(row.id16);
    gone.push(...plan.instead);
    const row = asPresent(run, owner);
    present.set(row.id16, row);
    fresh.push({ run, owner });
  }
  if (fresh.length === 0) return { result, fresh };

  await deleteRuns(tx, gone);
  await insertRuns(tx, fresh);
  await insertRunFacts(
    tx,
    fresh.flatMap(({ run: { createdAt, jobUid, output }, owner: { id: cronJobId } }) =>
      output ? [{ cronJobId, createdAt, jobUid, output }] : [],
    ),
  );
  await answerSlots(
    tx,
    fresh.flatMap(({ run, owner }) =>
      run.scheduledAt === undefined ? [] : [{ cronJobId: owner.id, at: run.scheduledAt }],
    ),
  );
  const isLate = await lateness(tx, [...gone, ...fresh.map(({ run }) => run)]);
  const counted = [
    ...gone.map((row) => ({
      cronJobId: row.cronJobId,
      createdAt: row.createdAt,
      run: row.run,
      late: isLate(row),
      sign: -1 as const,
    })),
    ...fresh.map(({ run, owner }) => ({
      cronJobId: owner.id,
      createdAt: run.createdAt,
      run,
      late: isLate(run),
      sign: 1 as const,
    })),
  ];
  await countRuns(tx, counted);
  await moveOwners(tx, fresh);
  const moved = await endActiveJobs(tx, fresh);
  await tellRuns(tx, fresh, moved, counted);
  return { result, fresh };
}

type Start = Pick<Execution, 'createdAt' | 'scheduledAt'>;

/** Tells late starts. How late the cluster usually is must be asked only where one is later than any start in time may be. */
async function lateness(tx: Tx, starts: readonly Start[]): Promise<(start: Start) => boolean> {
  const delayOf = ({ createdAt, scheduledAt }: Start): number => createdAt - (scheduledAt ?? createdAt);
  const least = lateAfterMs(0);
  if (starts.every((start) => delayOf(start) <= least)) return () => false;
  const most = lateAfterMs(await findStartSkew(tx));
  return (start) => delayOf(start) > most;
}

async function deleteRuns(tx: Tx, gone: readonly PresentRun[]): Promise<void> {
  if (gone.length === 0) return;
  const bound = gone.map(({ id16 }) => tx.dialect.id16(id16));
  await change(tx, `delete from executions where job_uid in (${marks(bound)})`, bound);
}

async function insertRuns(tx: Tx, fresh: readonly FreshRun[]): Promise<void> {
  const evidence = await listEvidenceFlags(tx, fresh);
  const recordedAt = tx.now();
  await insertRows(tx, {
    table: 'executions',
    columns: executionColumns,
    rows: fresh.map(({ run, owner }) =>
      toExecutionRow(tx, run, {
        cronJobId: owner.id,
        recordedAt,
        evidenceFlags: evidence.get(toId16(run.jobUid)) ?? 0,
      }),
    ),
  });
}

/** Evidence is taken when a run is decided, which may be before its end: then the row says so from its birth. */
async function listEvidenceFlags(tx: Tx, fresh: readonly FreshRun[]): Promise<Map<string, number>> {
  const owners = fresh.map(({ run }) => tx.dialect.id16(run.jobUid));
  const found = await rowsIn(
    tx,
    owners,
    (list) => `select owner, kind from evidence where owner in (${list}) and body is not null`,
  );
  const flags = new Map<string, number>();
  for (const row of found) {
    const bit = row['kind'] === 'logs' ? flagBits.hasLogs : row['kind'] === 'events' ? flagBits.hasEvents : 0;
    const owner = tx.dialect.id16Text(row['owner']);
    flags.set(owner, (flags.get(owner) ?? 0) | bit);
  }
  return flags;
}

/** Returns the ids of the CronJobs that have fewer running Jobs now. */
async function endActiveJobs(tx: Tx, fresh: readonly FreshRun[]): Promise<number[]> {
  const bound = fresh.map(({ run }) => tx.dialect.id16(run.jobUid));
  const removed = await changeIn(tx, bound, (list) => `delete from active_jobs where job_uid in (${list})`);
  if (removed === 0) return [];
  const ids = [...new Set(fresh.map(({ owner }) => owner.id))];
  await tellWaits(tx, ids);
  return countRunning(tx, ids);
}

/** How long the stream keeps what it was told. */
const streamedMs = 600_000;

/**
 * Tells each run that ended of late, and each CronJob that shows something else now. Of runs that ended long ago, as at the first
 * sight of a cluster, only their CronJobs are told: no caller waits for them one by one.
 */
async function tellRuns(
  tx: Tx,
  fresh: readonly FreshRun[],
  moved: readonly number[],
  moves: readonly WindowMove[],
): Promise<void> {
  const since = tx.now() - streamedMs;
  const runs: Change[] = [];
  const cronJobIds = new Set(moved);
  for (const { run, owner } of fresh) {
    const late = (run.finishedAt ?? run.createdAt) < since;
    if (!late) runs.push(toChange(run));
    if (late || owner.lastRun === undefined) cronJobIds.add(owner.id);
  }
  const owners = fresh.map(({ owner }) => owner.id);
  await recordChanges(tx, [...runs, ...(await cronJobChanges(tx, [...cronJobIds], owners, { moves }))]);
}

function toChange(run: Execution): Change {
  const { namespace, cronJobName, jobName, status, trigger, durationMs } = run;
  const durationSeconds = durationMs === undefined ? null : durationMs / 1_000;
  return { kind: 'execution', namespace, data: { namespace, cronJobName, jobName, status, trigger, durationSeconds } };
}

/**
 * Notes of these runs, which were recorded in this transaction, that nothing was judged of them: the next judgement of their CronJobs takes
 * them as news. A watch that was never judged takes every run as news without that.
 */
export async function markUnjudged(tx: Tx, jobUids: readonly string[]): Promise<void> {
  for (const part of inParts(jobUids.map((uid) => tx.dialect.id16(uid)))) {
    await change(
      tx,
      `update executions set flags = flags + ${flagBits.unjudged} where job_uid in (${marks(part)}) ` +
        `and (flags & ${flagBits.unjudged}) = 0 and exists (select 1 from monitor_targets t ` +
        'where t.cronjob_id = executions.cronjob_id and t.judged_at is not null)',
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
