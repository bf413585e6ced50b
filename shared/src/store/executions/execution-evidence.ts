import type { Execution, Fault, TemplateRun, TemplateRuns } from '../../domain/index.ts';
import { change, firstRow } from '../ask.ts';
import type { LastRun } from '../catalog/run-columns.ts';
import { cleanText, fromJson, optionalCleanText, optionalNumber, toJson } from '../column.ts';
import type { Db, Store, Tx } from '../database.ts';
import { faultColumns, toFault, toFaultColumns } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import { statusWords } from '../words.ts';
import { longestReason } from './execution-row.ts';
import { fullReason, shortReason } from './short-text.ts';

/**
 * Those of these runs that are recorded as failed with less than is known of them now: without an exit code or a reason of their own, since
 * their pods had not told it; or as `Error`, before the runtime had told the kubelet that memory ran out.
 */
export async function listIncompleteRuns(
  db: Db,
  runs: readonly Pick<Execution, 'jobUid' | 'reason'>[],
): Promise<ReadonlySet<string>> {
  const runOf = new Map(runs.map((run) => [toId16(run.jobUid), run]));
  const bound = [...runOf.keys()].map((id16) => db.dialect.id16(id16));
  const found = await rowsIn(
    db,
    bound,
    (marks) =>
      `select job_uid, status, exit_code, reason from executions where job_uid in (${marks}) and ((exit_code is null and (reason is null or reason = job_reason)) or reason = '${shortReason('Error')}')`,
  );
  const incomplete = new Set<string>();
  for (const row of found) {
    const run = runOf.get(db.dialect.id16Text(row['job_uid']));
    if (run === undefined || statusWords.toWord(row['status']) !== 'failed') continue;
    if (row['exit_code'] === null || isToldTooEarly(row['reason'], run.reason)) incomplete.add(run.jobUid);
  }
  return incomplete;
}

/**
 * Whether a kept reason is what the kubelet said before it knew better: it may write the end of a container as `Error`, and `OOMKilled` in its
 * place a moment later, since the runtime tells of an end and of memory by two ways.
 */
function isToldTooEarly(kept: unknown, told: string | undefined): boolean {
  return kept === shortReason('Error') && told === 'OOMKilled';
}

/** Fields that later evidence may add to a run; a stored value stays, except a reason that was recorded too early. */
interface MissingFacts {
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly attempts?: number | undefined;
  readonly failedIndexes?: string | undefined;
  readonly node?: string | undefined;
  /** Replaces the fault that was judged without these facts. */
  readonly fault?: Fault | undefined;
}

/** Fills what the execution lacks (attempts: only upwards). Returns false when nothing changed, or no such run is recorded. */
export async function updateExecutionEvidence(
  store: Store,
  epoch: number,
  jobUid: string,
  facts: MissingFacts,
): Promise<boolean> {
  const id16 = toId16(jobUid);
  return store.fenced(epoch, async (tx) => {
    const bound = tx.dialect.id16(id16);
    const owner = await firstRow(tx, 'select cronjob_id from executions where job_uid = ?', [bound]);
    if (owner === undefined) return false;
    const id = Number(owner['cronjob_id']);
    const cronJob = await firstRow(
      tx,
      `select last_run, failed_run, template_runs from cronjobs where id = ?${tx.dialect.lock.update}`,
      [id],
    );

    const row = await firstRow(
      tx,
      'select exit_code, reason, job_reason, attempts, failed_indexes, node, cause, scope from executions where job_uid = ?',
      [bound],
    );
    if (row === undefined) return false;
    const before = [
      row['exit_code'],
      row['reason'],
      row['attempts'],
      row['failed_indexes'],
      row['node'],
      row['cause'],
      row['scope'],
    ];
    // The reason of the Job stands in where no pod told one.
    const standsIn =
      row['reason'] === null || row['reason'] === row['job_reason'] || isToldTooEarly(row['reason'], facts.reason);
    const after = [
      row['exit_code'] ?? facts.exitCode ?? null,
      standsIn && facts.reason !== undefined ? shortReason(cleanText(facts.reason, longestReason)) : row['reason'],
      Math.max(Number(row['attempts']), facts.attempts ?? 0),
      row['failed_indexes'] ?? optionalCleanText(facts.failedIndexes, 1_000),
      row['node'] ?? optionalCleanText(facts.node, 253),
      ...toFaultColumns(facts.fault ?? toFault(row)),
    ];
    if (after.every((value, position) => value === before[position])) return false;

    await change(
      tx,
      'update executions set exit_code = ?, reason = ?, attempts = ?, failed_indexes = ?, node = ?, cause = ?, scope = ? where job_uid = ?',
      [...after, bound],
    );
    for (const column of ['last_run', 'failed_run']) {
      const kept = fromJson(cronJob?.[column]) as LastRun | undefined;
      if (kept?.jobUid !== id16) continue;
      const shown = { ...kept, exitCode: optionalNumber(after[0]), reason: fullReason(after[1]) };
      await change(tx, `update cronjobs set ${column} = ? where id = ?`, [toJson(shown), id]);
    }
    const runs = withEvidenceOfRun(fromJson(cronJob?.['template_runs']) ?? {}, id16, {
      exitCode: optionalNumber(after[0]),
      reason: fullReason(after[1]),
    });
    if (runs) await change(tx, 'update cronjobs set template_runs = ? where id = ?', [toJson(runs), id]);
    return true;
  });
}

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

/** Writes the faults that later evidence of failed runs shows. */
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

/** Adds to the kept runs what the evidence of one run tells later. Undefined: the run is not among them. */
function withEvidenceOfRun(
  runs: TemplateRuns,
  jobUid: string,
  learned: Pick<TemplateRun, 'exitCode' | 'reason'>,
): TemplateRuns | undefined {
  const { first, last } = runs;
  if (first?.jobUid !== jobUid && last?.jobUid !== jobUid) return undefined;
  const learn = (run: TemplateRun | undefined): TemplateRun | undefined =>
    run?.jobUid === jobUid ? { ...run, ...learned } : run;
  return { first: learn(first), last: learn(last) };
}
