import type { Instant, OutputFacts } from '../../domain/index.ts';
import { change, firstRow, inParts, insertRows, marks, rows, type Row } from '../ask.ts';
import { toJson } from '../column.ts';
import { lockCronJobs } from '../catalog/cron-job-ids.ts';
import type { Db, Tx } from '../database.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import { flagBits } from '../words.ts';

/** Names of facts that one CronJob may have. */
const mostFactNames = 32;

/** A run as its facts are found: they lie by CronJob, fact and creation. */
interface RunOfFacts {
  readonly cronJobId: number;
  readonly createdAt: Instant;
  /** As its row has it. */
  readonly jobUid: string;
}

export type FactValues = ReadonlyMap<string, number>;

/**
 * Writes what these runs said, in the transaction that writes their rows. The rows of their CronJobs are locked, so that no two give a name
 * at once. A name beyond the 32nd of a CronJob is left out and named among its problems.
 */
export async function insertRunFacts(
  tx: Tx,
  runs: readonly (RunOfFacts & { readonly output: OutputFacts })[],
): Promise<void> {
  if (runs.length === 0) return;
  const ids = [...new Set(runs.map(({ cronJobId }) => cronJobId))];
  const known = await listNames(tx, ids);
  const added = ids.flatMap((id) => {
    const names = known.get(id) ?? new Map<string, number>();
    const given = new Set(runs.flatMap((run) => (run.cronJobId === id ? [...run.output.values.keys()] : [])));
    const unknown = [...given].filter((name) => !names.has(name));
    return unknown.slice(0, Math.max(0, mostFactNames - names.size)).map((name) => [id, name] as const);
  });
  if (added.length > 0) await insertRows(tx, { table: 'fact_names', columns: ['cronjob_id', 'name'], rows: added });
  const names = added.length > 0 ? await listNames(tx, ids) : known;

  const problems = new Map<number, readonly string[]>();
  const values = runs.flatMap(({ cronJobId, createdAt, jobUid, output }) => {
    const refused = [...output.values.keys()].filter((name) => !names.get(cronJobId)?.has(name));
    const beyond = refused.map((name) => `${name} is beyond the ${mostFactNames} facts that a CronJob may have`);
    problems.set(cronJobId, [...output.problems, ...beyond].slice(0, mostFactNames));
    return [...output.values].flatMap(([name, value]) => {
      const factId = names.get(cronJobId)?.get(name);
      return factId === undefined ? [] : [[cronJobId, factId, createdAt, value, tx.dialect.id16(jobUid)]];
    });
  });
  const columns = ['cronjob_id', 'fact_id', 'created_at', 'value', 'job_uid'];
  if (values.length > 0) await insertRows(tx, { table: 'run_facts', columns, rows: values });
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: { fact_problems: 'longText' },
    rows: [...problems].map(([id, list]) => [id, list.length === 0 ? null : toJson(list)]),
  });
}

/**
 * Writes what the log of a run said, or that it said nothing, unless its facts are known already: then it changes nothing. Locks
 * the row of its CronJob. Returns the id of the CronJob; undefined when nothing was written.
 */
export async function settleRunFacts(tx: Tx, jobUid: string, output: OutputFacts): Promise<number | undefined> {
  const id16 = tx.dialect.id16(jobUid);
  const row = await firstRow(tx, 'select cronjob_id, created_at from executions where job_uid = ?', [id16]);
  if (!row) return undefined;
  const cronJobId = Number(row['cronjob_id']);
  // In the order of all who write: first the CronJob, then its runs.
  await lockCronJobs(tx, [cronJobId]);
  const settled = await change(
    tx,
    `update executions set flags = flags - ${flagBits.factsUnknown} where job_uid = ? and (flags & ${flagBits.factsUnknown}) <> 0`,
    [id16],
  );
  if (settled === 0) return undefined;
  await insertRunFacts(tx, [{ cronJobId, createdAt: Number(row['created_at']), jobUid, output }]);
  return cronJobId;
}

/**
 * The facts of runs by Job UID, each run a row with `cronjob_id`, `created_at` and `job_uid`; a run without any is absent. One question for each
 * CronJob that has names.
 */
export async function listRunFacts(db: Db, ofRuns: readonly Row[]): Promise<ReadonlyMap<string, FactValues>> {
  const runs = ofRuns.map((row) => ({
    cronJobId: Number(row['cronjob_id']),
    createdAt: Number(row['created_at']),
    jobUid: db.dialect.id16Text(row['job_uid']),
  }));
  const names = await listNames(db, [...new Set(runs.map(({ cronJobId }) => cronJobId))]);
  const found = new Map<string, Map<string, number>>();
  const ranges = [...Map.groupBy(runs, ({ cronJobId }) => cronJobId)].flatMap(([id, ofOne]) => {
    const ids = [...(names.get(id)?.values() ?? [])];
    if (ids.length === 0) return [];
    const at = ofOne.map(({ createdAt }) => createdAt);
    const sql = `(cronjob_id = ? and fact_id in (${marks(ids)}) and created_at >= ? and created_at <= ?)`;
    return [{ sql, bindings: [id, ...ids, Math.min(...at), Math.max(...at)] }];
  });
  for (const part of inParts(ranges, 10)) {
    const where = part.map(({ sql }) => sql).join(' or ');
    const nameOf = new Map([...names.values()].flatMap((ofOne) => [...ofOne].map(([name, id]) => [id, name])));
    const select = `select fact_id, job_uid, value from run_facts where ${where}`;
    for (const row of await rows(
      db,
      select,
      part.flatMap(({ bindings }) => bindings),
    )) {
      const jobUid = db.dialect.id16Text(row['job_uid']);
      const values = found.get(jobUid) ?? new Map<string, number>();
      found.set(jobUid, values);
      values.set(nameOf.get(Number(row['fact_id'])) ?? '', Number(row['value']));
    }
  }
  return found;
}

export interface FactPoint {
  readonly createdAt: Instant;
  readonly value: number;
}

/** The values of this fact of one CronJob from `fromAt` on, oldest first; `most` newest ones. */
export async function listFactPoints(
  db: Db,
  cronJobIds: readonly number[],
  fact: string,
  wanted: { readonly fromAt: Instant; readonly most: number },
): Promise<readonly FactPoint[]> {
  const names = await listNames(db, cronJobIds);
  const points: FactPoint[] = [];
  for (const [id, ofOne] of names) {
    const factId = ofOne.get(fact);
    if (factId === undefined) continue;
    const found = await rows(
      db,
      `select created_at, value from run_facts where cronjob_id = ? and fact_id = ? and created_at >= ?
       order by created_at desc limit ${Math.floor(wanted.most)}`,
      [id, factId, wanted.fromAt],
    );
    points.push(...found.map((row) => ({ createdAt: Number(row['created_at']), value: Number(row['value']) })));
  }
  return points.sort((a, b) => a.createdAt - b.createdAt);
}

/** Names of the facts of these CronJobs, by CronJob: name to id. */
export async function listNames(
  db: Db,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (list) => `select id, cronjob_id, name from fact_names where cronjob_id in (${list}) order by name`,
  );
  const names = new Map<number, Map<string, number>>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const ofOne = names.get(id) ?? new Map<string, number>();
    names.set(id, ofOne.set(String(row['name']), Number(row['id'])));
  }
  return names;
}

/** Removes the facts of these runs of one CronJob with them, and names that no fact has any more. */
export async function deleteRunFacts(
  tx: Tx,
  cronJobId: number,
  runs: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const ids = [...((await listNames(tx, [cronJobId])).get(cronJobId)?.values() ?? [])];
  if (ids.length === 0 || runs.length === 0) return;
  const at = runs.map((row) => Number(row['created_at']));
  for (const part of inParts(runs.map((row) => row['job_uid']))) {
    const range = `fact_id in (${marks(ids)}) and created_at >= ? and created_at <= ?`;
    await change(tx, `delete from run_facts where cronjob_id = ? and ${range} and job_uid in (${marks(part)})`, [
      cronJobId,
      ...ids,
      Math.min(...at),
      Math.max(...at),
      ...part,
    ]);
  }
  await change(
    tx,
    `delete from fact_names where cronjob_id = ? and not exists (select 1 from run_facts r
     where r.cronjob_id = fact_names.cronjob_id and r.fact_id = fact_names.id)`,
    [cronJobId],
  );
}
