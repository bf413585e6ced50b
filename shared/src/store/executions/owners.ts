import { type Execution, type Instant, withRun } from '../../domain/index.ts';
import { cronJobIdsOf } from '../catalog/cron-job-ids.ts';
import { type LastRun, toLastRun } from '../catalog/run-columns.ts';
import { type KnownTemplate, templateColumns, templateRunValues, toKnownTemplate } from '../catalog/job-templates.ts';
import { fromJson, optionalNumber, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn, updateRows } from '../upsert.ts';
import { toId16 } from '../id16.ts';

/** The row of a CronJob whose history is written, locked. */
export interface Owner {
  readonly id: number;
  /** What ended before it was removed and does not come back. */
  readonly baselineAt: Instant | undefined;
  readonly lastRun: LastRun | undefined;
  /** The newest scheduled run that failed, while nothing has succeeded since. */
  readonly failedRun: LastRun | undefined;
  readonly lastSuccessAt: Instant | undefined;
  readonly lastFailureAt: Instant | undefined;
  /** No run is older; a lower bound. */
  readonly oldestRunAt: Instant | undefined;
  readonly known: KnownTemplate;
}

/** The rows of these CronJobs by UID, locked in the order of their ids; unknown UIDs are missing. */
export async function lockOwners(tx: Tx, cronJobUids: readonly string[]): Promise<ReadonlyMap<string, Owner>> {
  const ids = await cronJobIdsOf(tx, cronJobUids);
  const found = await rowsIn(
    tx,
    [...ids.values()].sort((a, b) => a - b),
    (
      marks,
    ) => `select id, baseline_at, last_run, failed_run, last_success_at, last_failure_at, oldest_run_at, ${templateColumns.join(', ')}
                from cronjobs
                where id in (${marks}) order by id${tx.dialect.lock.update}`,
  );
  const byId = new Map(
    found.map((row): [number, Owner] => [
      Number(row['id']),
      {
        id: Number(row['id']),
        baselineAt: optionalNumber(row['baseline_at']),
        // Written by moveOwners from the same type.
        lastRun: fromJson(row['last_run']) as LastRun | undefined,
        failedRun: fromJson(row['failed_run']) as LastRun | undefined,
        lastSuccessAt: optionalNumber(row['last_success_at']),
        lastFailureAt: optionalNumber(row['last_failure_at']),
        oldestRunAt: optionalNumber(row['oldest_run_at']),
        known: toKnownTemplate(tx, row),
      },
    ]),
  );
  const owners = new Map<string, Owner>();
  for (const [uid, id] of ids) {
    const owner = byId.get(id);
    if (owner !== undefined) owners.set(uid, owner);
  }
  return owners;
}

/** Moves last run, last success, last failure, oldest run and what is known of the job template of the owners of these new runs. */
export async function moveOwners(tx: Tx, fresh: readonly { run: Execution; owner: Owner }[]): Promise<void> {
  const moved = new Map<number, Owner>();
  for (const { run, owner } of fresh) moved.set(owner.id, afterRun(moved.get(owner.id) ?? owner, run));
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: {
      last_run: 'longText',
      failed_run: 'longText',
      last_success_at: 'bigint',
      last_failure_at: 'bigint',
      oldest_run_at: 'bigint',
      template_runs: 'longText',
      template_ok: 'smallint',
    },
    rows: [...moved.values()].map((owner) => [
      owner.id,
      owner.lastRun === undefined ? null : toJson(owner.lastRun),
      owner.failedRun === undefined ? null : toJson(owner.failedRun),
      owner.lastSuccessAt,
      owner.lastFailureAt,
      owner.oldestRunAt,
      ...templateRunValues(owner.known),
    ]),
  });
}

function afterRun(owner: Owner, run: Execution): Owner {
  const endAt = run.finishedAt ?? run.createdAt;
  return {
    ...owner,
    lastRun: newerRun(owner.lastRun, toLastRun(run)),
    failedRun: failedAfter(owner, toLastRun(run)),
    lastSuccessAt: run.status === 'success' ? Math.max(owner.lastSuccessAt ?? endAt, endAt) : owner.lastSuccessAt,
    lastFailureAt: run.status === 'failed' ? Math.max(owner.lastFailureAt ?? endAt, endAt) : owner.lastFailureAt,
    oldestRunAt: Math.min(owner.oldestRunAt ?? run.createdAt, run.createdAt),
    known: afterTemplateRun(owner.known, run),
  };
}

/** The same template for rows and runs, which keep a hash as 16 bytes. */
function inStore(run: Execution): Execution {
  const { jobUid, templateHash } = run;
  return {
    ...run,
    jobUid: toId16(jobUid),
    templateHash: templateHash === undefined ? undefined : toId16(templateHash),
  };
}

function afterTemplateRun(known: KnownTemplate, run: Execution): KnownTemplate {
  const { template, templateRuns } = known;
  return template ? { template, templateRuns: withRun(templateRuns, inStore(run), template) } : known;
}

/** Newest by creation of the Job; of two made in one second the one with the lesser UID, whichever came first, as lists of runs show them. */
function newerRun(a: LastRun | undefined, b: LastRun): LastRun {
  if (a === undefined || b.createdAt > a.createdAt) return b;
  return b.createdAt === a.createdAt && b.jobUid <= a.jobUid ? b : a;
}

/**
 * The newest scheduled run that failed, while no run of any kind has succeeded since: a repair by hand ends it, as it ends its alert. Told
 * by when they ended, so that the order of arrival does not matter.
 */
function failedAfter(
  before: Pick<Owner, 'failedRun' | 'lastRun' | 'lastSuccessAt'>,
  run: LastRun,
): LastRun | undefined {
  const { failedRun, lastRun, lastSuccessAt = -Infinity } = before;
  if (run.status === 'success') {
    // It is newer than what was removed.
    return failedRun && endedLater(failedRun, run) ? { ...failedRun, removedEnds: undefined } : undefined;
  }
  if (run.status !== 'failed' || run.trigger !== 'scheduled') return failedRun;
  const isOfSuccess = lastRun?.status === 'success' && endOf(lastRun) === lastSuccessAt;
  if (endOf(run) < lastSuccessAt || (isOfSuccess && endedLater(lastRun, run))) return failedRun;
  return failedRun && endedLater(failedRun, run) ? failedRun : { ...run, removedEnds: failedRun?.removedEnds };
}

/** Kubernetes tells ends in whole seconds: of two in one second the run that lists show first ended later. */
function endedLater(a: LastRun, b: LastRun): boolean {
  return endOf(a) === endOf(b) ? newerRun(b, a) === a : endOf(a) > endOf(b);
}

function endOf(run: LastRun): Instant {
  return run.finishedAt ?? run.createdAt;
}
