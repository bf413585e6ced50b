import type { Execution, Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { toId16 } from '../id16.ts';
import { filledUp, rowsIn } from '../upsert.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { isProvisional, mostClockLeadMs } from './recorded-jobs.ts';
import type { Owner } from './owners.ts';

/** A row that is there already and speaks of the same run as one that is to be recorded, or may do so. */
export interface PresentRun {
  readonly id16: string;
  readonly cronJobId: number;
  readonly createdAt: Instant;
  readonly scheduledAt: Instant | undefined;
  readonly finishedAt: Instant | undefined;
  readonly provisional: boolean;
  readonly run: Pick<Execution, 'status' | 'trigger' | 'inMaintenance' | 'durationMs'>;
}

/** The row to write for one run. `instead`: rows that it replaces. */
type RunPlan =
  | { readonly outcome: 'inserted'; readonly instead: readonly PresentRun[] }
  | { readonly outcome: 'replaced'; readonly instead: readonly PresentRun[] }
  | { readonly outcome: 'known' | 'cleared' | 'orphaned' };

const columns = 'job_uid, cronjob_id, created_at, scheduled_at, finished_at, duration_ms, status, "trigger", flags';

/**
 * Rows with the same Job UID, the same slot, or the same end in success: an inferred success and an unobserved run are known by
 * slot or end alone, since their Job was not seen.
 */
export async function listPresentRuns(
  db: Db,
  runs: readonly Execution[],
  owners: ReadonlyMap<string, Owner>,
): Promise<Map<string, PresentRun>> {
  const found = new Map<string, PresentRun>();
  const keep = (row: Readonly<Record<string, unknown>>): void => {
    const present = toPresentRun(db, row);
    found.set(present.id16, present);
  };

  const bound = runs.map(({ jobUid }) => db.dialect.id16(jobUid));
  for (const row of await rowsIn(
    db,
    bound,
    (marks) => `select ${columns} from executions where job_uid in (${marks})`,
  )) {
    keep(row);
  }
  // One condition for each run; a pair of lists would be asked as their product. Slots and ends apart: each statement has its index.
  for (const conditionOf of [sameSlot, sameEnd]) {
    const conditions = runs.flatMap((run) => conditionOf(run, owners.get(run.cronJobUid)) ?? []);
    for (const some of inParts(conditions, 200)) {
      const part = filledUp(some);
      const where = part.map(({ sql }) => `(${sql})`).join(' or ');
      const bindings = part.flatMap((condition) => condition.bindings);
      for (const row of await rows(db, `select ${columns} from executions where ${where}`, bindings)) keep(row);
    }
  }
  return found;
}

interface Condition {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

function sameSlot({ scheduledAt }: Execution, owner: Owner | undefined): Condition | undefined {
  if (owner === undefined || scheduledAt === undefined) return undefined;
  return {
    sql: 'cronjob_id = ? and created_at >= ? and scheduled_at = ?',
    bindings: [owner.id, scheduledAt - mostClockLeadMs, scheduledAt],
  };
}

function sameEnd({ status, finishedAt }: Execution, owner: Owner | undefined): Condition | undefined {
  if (owner === undefined || status !== 'success' || finishedAt === undefined) return undefined;
  return {
    sql: 'cronjob_id = ? and status = ? and finished_at = ?',
    bindings: [owner.id, statusWords.toNumber('success'), finishedAt],
  };
}

/** True for a run whose end was not seen: it gives way to one whose end was seen. */
export function isUnseen(run: Execution): boolean {
  return run.inferred || run.status === 'unobserved';
}

/** Decides one run against the rows that are there. */
export function planRun(run: Execution, owner: Owner | undefined, present: Iterable<PresentRun>): RunPlan {
  if (owner === undefined) return { outcome: 'orphaned' };
  const id16 = toId16(run.jobUid);
  const rivals = [...present].filter((row) => row.id16 === id16 || (row.cronJobId === owner.id && sameRun(row, run)));
  const itself = rivals.find((row) => row.id16 === id16);
  if (itself !== undefined && (!itself.provisional || isUnseen(run))) return { outcome: 'known' };
  // What was not seen adds nothing beside a row of the same run.
  if (isUnseen(run) && rivals.length > 0) return { outcome: 'known' };
  if (owner.baselineAt !== undefined && (run.finishedAt ?? run.createdAt) < owner.baselineAt) {
    return { outcome: 'cleared' };
  }
  const instead = rivals.filter((row) => row.provisional);
  return { outcome: instead.length > 0 ? 'replaced' : 'inserted', instead };
}

/** One slot has one run. An inferred success has the end of its Job and perhaps no slot. */
function sameRun(row: PresentRun, run: Execution): boolean {
  if (row.scheduledAt !== undefined && run.scheduledAt !== undefined) return row.scheduledAt === run.scheduledAt;
  const bothSucceeded = row.run.status === 'success' && run.status === 'success';
  const oneUnseen = row.provisional || isUnseen(run);
  return bothSucceeded && oneUnseen && row.finishedAt !== undefined && row.finishedAt === run.finishedAt;
}

/** The row that a run becomes, for the plans of the runs after it. */
export function asPresent(run: Execution, owner: Owner): PresentRun {
  return {
    id16: toId16(run.jobUid),
    cronJobId: owner.id,
    createdAt: run.createdAt,
    scheduledAt: run.scheduledAt,
    finishedAt: run.finishedAt,
    provisional: isUnseen(run),
    run,
  };
}

function toPresentRun(db: Db, row: Readonly<Record<string, unknown>>): PresentRun {
  return {
    id16: db.dialect.id16Text(row['job_uid']),
    cronJobId: Number(row['cronjob_id']),
    createdAt: Number(row['created_at']),
    scheduledAt: optionalNumber(row['scheduled_at']),
    finishedAt: optionalNumber(row['finished_at']),
    provisional: isProvisional(row['status'], row['flags']),
    run: {
      status: statusWords.toWord(row['status']),
      trigger: triggerWords.toWord(row['trigger']),
      inMaintenance: (Number(row['flags']) & flagBits.inMaintenance) !== 0,
      durationMs: optionalNumber(row['duration_ms']),
    },
  };
}
