import type { Instant } from '../domain/index.ts';
import { change, firstRow, inParts, marks, rows } from './ask.ts';
import { recordChanges } from './changes.ts';
import { cronJobChanges } from './catalog/cron-job-change.ts';
import { rowsOfFleet } from './bounded-reads.ts';
import type { Db, Store, Tx } from './database.ts';
import { deleteRunFacts } from './executions/run-facts.ts';
import { Batches, type BatchLimits } from './pruning/batches.ts';
import { pruneAlerts, type RemovedAlerts } from './pruning/prune-rest.ts';
import { pruneCronJobs } from './pruning/prune-catalog.ts';
import { keepFailedEnds } from './removed-failures.ts';
import { flagBits } from './words.ts';
import { listCronJobIds } from './catalog/list-cron-jobs.ts';

/** Rows that a deletion or a prune removed, or would remove. */
export interface RemovedHistory {
  readonly executions: number;
  readonly logs: number;
  readonly events: number;
  readonly slots: number;
  /** False when time ran out: call again. */
  readonly completed: boolean;
}

interface PruneRequest {
  /** Runs created before it go. */
  readonly before: Instant;
  /** Only stored logs and events. */
  readonly evidenceOnly?: boolean | undefined;
  /** Absent: every CronJob, removed ones included. */
  readonly cronJobIds?: readonly number[] | undefined;
  /** Counts and deletes nothing. */
  readonly dryRun?: boolean | undefined;
  readonly budgetMs: number;
  /** Set by the leader, whose term may end; absent in the apiserver. */
  readonly epoch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Removes all history of a namespace and name, earlier UIDs included: executions, evidence, slots, daily figures, closed epochs.
 * Moves the baseline to now, so that Jobs still in the cluster do not come back; one running now is recorded when it ends.
 * Alerts stay, without the logs and events that were kept with them, and so does the state of the CronJob. Not fenced: each batch locks the
 * CronJob's row, as a recording does.
 */
export async function deleteHistory(
  store: Store,
  cronJob: { readonly namespace: string; readonly name: string },
  limits: { readonly budgetMs: number },
): Promise<RemovedHistory> {
  const ids = await listCronJobIds(store, cronJob.namespace, cronJob.name);
  const removal = new Removal(new Batches(store, limits));
  for (const id of ids) {
    // First the baseline: a Job that is recorded meanwhile is either deleted below or not taken.
    await removal.inTransaction((tx) => clearOwner(tx, id));
    await removal.deleteRuns(id, everything);
    await removal.deleteSlots(id, everything);
    // Its alerts store copies of its logs and events.
    await removal.deleteEvidence(everything, [id]);
    await removal.inTransaction((tx) => clearFigures(tx, id));
    if (removal.outOfTime) break;
  }
  return removal.result();
}

/** Removes what is older, batch by batch; the same predicate counts and deletes. */
export async function pruneHistory(store: Store, request: PruneRequest): Promise<RemovedHistory> {
  const { before, evidenceOnly = false, cronJobIds, dryRun = false } = request;
  if (dryRun) return countOlder(store, before, evidenceOnly, cronJobIds);

  const removal = new Removal(new Batches(store, request));
  const range = { before };
  if (!evidenceOnly) {
    for (const id of await listOwnersOfOlder(store, before, cronJobIds)) {
      await removal.deleteRuns(id, range);
      await removal.deleteSlots(id, range);
      if (removal.outOfTime) break;
    }
  }
  if (!removal.outOfTime) await removal.deleteEvidence(range, cronJobIds);
  return removal.result();
}

interface PurgedCronJob extends RemovedHistory, RemovedAlerts {
  /** Its own row went too: nothing refers to it any more. */
  readonly forgotten: boolean;
}

/**
 * Removes everything about a deleted CronJob: history, figures, epochs, specs of Jobs, ended alerts with their messages, and its row. A live
 * alert stays, and so does the row then: the next call goes on.
 */
export async function purgeCronJob(store: Store, cronJobId: number, limits: BatchLimits): Promise<PurgedCronJob> {
  const batches = new Batches(store, limits);
  const removal = new Removal(batches);
  await removal.deleteRuns(cronJobId, everything);
  await removal.deleteSlots(cronJobId, everything);
  const alerts = await pruneAlerts(batches, everything.before, cronJobId);
  const owned = ['rollups', 'spec_epochs', 'templates', 'due', 'run_facts', 'fact_names'] as const;
  for (const table of batches.completed ? owned : []) {
    await batches.inTransaction((tx) => change(tx, `delete from ${table} where cronjob_id = ?`, [cronJobId]));
  }
  const decisions = await batches.repeat((tx, limit) => {
    const where = 'cronjob_id = ? and not exists (select 1 from alerts where alerts.id = alert_decisions.alert_id)';
    return change(tx, tx.dialect.deleteBatch({ table: 'alert_decisions', where, limit }), [cronJobId]);
  });
  const forgotten = batches.completed ? await pruneCronJobs(batches, everything.before, cronJobId) : 0;
  return {
    ...removal.result(),
    ...alerts,
    decisions: alerts.decisions + decisions,
    forgotten: forgotten === 1,
  };
}

/** Which rows of one CronJob go: the one predicate of counting and deleting. Runs and evidence by creation of the Job, slots by their instant. */
interface Range {
  readonly before: Instant;
}

const everything: Range = { before: Number.MAX_SAFE_INTEGER };
const textKinds = `kind in ('logs', 'events', 'decisive')`;

async function countOlder(
  db: Db,
  before: Instant,
  evidenceOnly: boolean,
  cronJobIds: readonly number[] | undefined,
): Promise<RemovedHistory> {
  const count = async (from: string): Promise<number> => {
    let sum = 0;
    for (const ids of cronJobIds === undefined ? [undefined] : inParts(cronJobIds)) {
      const where = ids === undefined ? '' : ` and cronjob_id in (${marks(ids)})`;
      const row = await firstRow(db, `select count(*) as n from ${from} < ?${where}`, [before, ...(ids ?? [])]);
      sum += Number(row?.['n']);
    }
    return sum;
  };
  const countFleet = async (): Promise<number> => {
    const sql = 'select count(*) as n from executions where created_at < ?';
    const found = await rowsOfFleet(db, (condition) => sql + condition, [before]);
    return found.reduce((sum, row) => sum + Number(row['n']), 0);
  };
  return {
    executions: evidenceOnly ? 0 : cronJobIds ? await count('executions where created_at') : await countFleet(),
    logs: await count(`evidence where kind = 'logs' and created_at`),
    events: await count(`evidence where kind = 'events' and created_at`),
    slots: evidenceOnly ? 0 : await count('slots where slot_at'),
    completed: true,
  };
}

/** CronJobs that can have something to give: oldest_run_at is a lower bound, and slots have a bound of their own. */
async function listOwnersOfOlder(
  db: Db,
  before: Instant,
  cronJobIds: readonly number[] | undefined,
): Promise<number[]> {
  const found = await rows(
    db,
    `select id from cronjobs where oldest_run_at < ?
     union select distinct cronjob_id from slots where slot_at < ? order by id`,
    [before, before],
  );
  const wanted = cronJobIds === undefined ? undefined : new Set(cronJobIds);
  return found.map((row) => Number(row['id'])).filter((id) => wanted === undefined || wanted.has(id));
}

/**
 * What the row of a CronJob says about its removed runs; but that the last of them failed, or was missed, is so until another one does better:
 * a removal is no success.
 */
async function clearOwner(tx: Tx, id: number): Promise<void> {
  await change(
    tx,
    `update cronjobs set baseline_at = ?, last_run = null, last_failure_at = null,
     broken = null, fact_problems = null, template_runs = null, template_ok = null where id = ?`,
    [tx.now(), id],
  );
  await recordChanges(tx, await cronJobChanges(tx, [id], [], { recount: true }));
}

async function clearFigures(tx: Tx, id: number): Promise<void> {
  await change(tx, 'delete from rollups where cronjob_id = ?', [id]);
  await change(tx, 'delete from spec_epochs where cronjob_id = ? and to_at is not null', [id]);
  // A reader since the history began to go has figures of a part of it.
  await recordChanges(tx, await cronJobChanges(tx, [id], [], { recount: true }));
}

/** One removal in batches, each a transaction of its own under the lock of the CronJob's row, until its time is over. */
class Removal {
  readonly #batches: Batches;
  readonly #counts = { executions: 0, logs: 0, events: 0, slots: 0 };

  constructor(batches: Batches) {
    this.#batches = batches;
  }

  get outOfTime(): boolean {
    return !this.#batches.completed;
  }

  result(): RemovedHistory {
    return { ...this.#counts, completed: this.#batches.completed };
  }

  async inTransaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#batches.inTransaction(fn);
  }

  async deleteRuns(cronJobId: number, range: Range): Promise<void> {
    await this.#batches.repeat(
      async (tx, limit) => {
        const batch = await rows(
          tx,
          `select job_uid, created_at, finished_at, status, "trigger" from executions
         where cronjob_id = ? and created_at < ? order by created_at limit ${limit}`,
          [cronJobId, range.before],
        );
        if (batch.length > 0) await this.#deleteBatchOfRuns(tx, cronJobId, range, batch);
        return batch.length;
      },
      { cronJobId },
    );
  }

  async #deleteBatchOfRuns(
    tx: Tx,
    cronJobId: number,
    range: Range,
    batch: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void> {
    await deleteRunFacts(tx, cronJobId, batch);
    await keepFailedEnds(tx, cronJobId, batch);
    const uids = batch.map((row) => row['job_uid']);
    for (const part of inParts(uids)) {
      const list = marks(part);
      const kinds = await rows(
        tx,
        `select kind, count(*) as n from evidence where owner in (${list}) group by kind`,
        part,
      );
      for (const row of kinds) this.#countEvidence(String(row['kind']), Number(row['n']));
      await change(tx, `delete from evidence where owner in (${list})`, part);
      this.#counts.executions += await change(tx, `delete from executions where job_uid in (${list})`, part);
    }
    // A removed run is not recorded again, although its Job may still be in the cluster.
    const ends = batch.map((row) => Number(row['finished_at'] ?? row['created_at']) + 1);
    const baselineAt = Math.max(...ends, range === everything ? 0 : range.before);
    await change(
      tx,
      `update cronjobs set baseline_at = case when baseline_at is null or baseline_at < ? then ? else baseline_at end,
       oldest_run_at = (select min(created_at) from executions where cronjob_id = ?) where id = ?`,
      [baselineAt, baselineAt, cronJobId, cronJobId],
    );
    await recordChanges(tx, await cronJobChanges(tx, [cronJobId], [], { recount: true }));
  }

  async deleteSlots(cronJobId: number, range: Range): Promise<void> {
    await this.#batches.repeat(
      async (tx, limit) => {
        const where = 'cronjob_id = ? and slot_at < ?';
        const deleted = await change(tx, tx.dialect.deleteBatch({ table: 'slots', where, limit }), [
          cronJobId,
          range.before,
        ]);
        this.#counts.slots += deleted;
        // Where missed runs count as failed they are a part of the window.
        if (deleted > 0) await recordChanges(tx, await cronJobChanges(tx, [cronJobId], []));
        return deleted;
      },
      { cronJobId },
    );
  }

  /** Stored logs and events of whatever CronJob; their runs say afterwards that they have none. */
  async deleteEvidence(range: Range, cronJobIds: readonly number[] | undefined): Promise<void> {
    for (const ids of cronJobIds === undefined ? [undefined] : inParts(cronJobIds)) {
      const owners = ids === undefined ? '' : ` and cronjob_id in (${marks(ids)})`;
      await this.#batches.repeat(
        async (tx, limit) => {
          const batch = await rows(
            tx,
            `select owner, kind, name from evidence where created_at < ? and ${textKinds}${owners} limit ${limit}`,
            [range.before, ...(ids ?? [])],
          );
          if (batch.length > 0) await this.#deleteBatchOfEvidence(tx, batch);
          return batch.length;
        },
        { most: 500 },
      );
    }
  }

  async #deleteBatchOfEvidence(tx: Tx, batch: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    for (const part of inParts(batch, 100)) {
      const where = part.map(() => '(owner = ? and kind = ? and name = ?)').join(' or ');
      await change(
        tx,
        `delete from evidence where ${where}`,
        part.flatMap((row) => [row['owner'], row['kind'], row['name']]),
      );
    }
    for (const [kind, bit] of [
      ['logs', flagBits.hasLogs],
      ['events', flagBits.hasEvents],
    ] as const) {
      const owners = batch.filter((row) => row['kind'] === kind).map((row) => row['owner']);
      this.#countEvidence(kind, owners.length);
      if (owners.length === 0) continue;
      await change(
        tx,
        `update executions set flags = flags & ${~bit & 0x7fff} where job_uid in (${marks(owners)})`,
        owners,
      );
    }
  }

  #countEvidence(kind: string, n: number): void {
    if (kind === 'logs' || kind === 'events') this.#counts[kind] += n;
  }
}
