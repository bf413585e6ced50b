import type { WallOutcome } from '../contract/index.ts';
import { dayMs, type RunsOfColumn, type SlotsOfColumn, type WallSpan } from '../domain/index.ts';
import { inParts, marks, rows } from './ask.ts';
import { optionalNumber } from './column.ts';
import type { Db } from './database.ts';
import { fullJobName, fullReason } from './executions/short-text.ts';
import { isFailed, outcomeWords, statusWords } from './words.ts';

const dueAt = 'coalesce(scheduled_at, created_at)';

/** A run that began after the last column ends may be one of its expected runs that started late: one that is later than this is not looked for. */
const latestMs = dayMs;

/**
 * The ended runs of each of these CronJobs in each column, counted by how they ended, with the newest of each. A run belongs to the column
 * in which it was due; without an expected run, to that in which its Job was created.
 */
export async function countWallRuns(
  db: Db,
  cronJobIds: readonly number[],
  span: WallSpan,
  lateAfterMs: number,
): Promise<ReadonlyMap<number, readonly RunsOfColumn[]>> {
  const found = new Map<number, Map<string, RunsOfColumn>>();
  const grouped = `select cronjob_id, ${endingAlike(span, lateAfterMs)}, count(*) as n, max(created_at) as newest_at from executions`;
  for (const ids of inParts(cronJobIds)) {
    const counted = await rows(
      db,
      'select g.cronjob_id, g.column_at, g.status, g.is_late, g.n, g.newest_at, e.job_name, e.exit_code, e.reason, e.job_reason, e.duration_ms, ' +
        `c.name as cronjob_name from (${grouped} where cronjob_id in (${marks(ids)}) and created_at >= ? and created_at < ? ` +
        'group by 1, 2, 3, 4) g join executions e on e.cronjob_id = g.cronjob_id and e.created_at = g.newest_at ' +
        'join cronjobs c on c.id = g.cronjob_id',
      [...ids, span.from, span.until + latestMs],
    );
    for (const row of counted) {
      const id = Number(row['cronjob_id']);
      const group = {
        at: Number(row['column_at']),
        status: statusWords.toWord(row['status']),
        isLate: Number(row['is_late']) === 1,
        count: Number(row['n']),
        newest: {
          createdAt: Number(row['newest_at']),
          jobName: fullJobName(String(row['job_name']), String(row['cronjob_name'])),
          exitCode: optionalNumber(row['exit_code']),
          reason: fullReason(row['reason']),
          jobReason: fullReason(row['job_reason']),
          durationMs: optionalNumber(row['duration_ms']),
        },
      };
      // Two Jobs may have been created in the same instant: one of them stands for the group.
      const ofOne = found.get(id) ?? new Map<string, RunsOfColumn>();
      found.set(id, ofOne.set(`${group.at} ${group.status} ${Number(group.isLate)}`, group));
    }
  }
  return new Map([...found].map(([id, groups]) => [id, [...groups.values()]]));
}

/** Key of a cell's runs. It uses the remainder of a division, which is a whole number in all databases; the quotient is not. */
function endingAlike({ stepMs }: WallSpan, lateAfterMs: number): string {
  return (
    `${dueAt} - ${dueAt} % ${Math.floor(stepMs)} as column_at, status, ` +
    `case when created_at - ${dueAt} > ${Math.floor(lateAfterMs)} then 1 else 0 end as is_late`
  );
}

/** The ended runs of all these CronJobs together, as `countWallRuns` counts those of each; which is the newest is not asked. */
export async function countLaneRuns(
  db: Db,
  cronJobIds: readonly number[],
  span: WallSpan,
  lateAfterMs: number,
): Promise<RunsOfColumn[]> {
  const found: RunsOfColumn[] = [];
  for (const ids of inParts(cronJobIds)) {
    const counted = await rows(
      db,
      `select ${endingAlike(span, lateAfterMs)}, count(*) as n from executions ` +
        `where cronjob_id in (${marks(ids)}) and created_at >= ? and created_at < ? group by 1, 2, 3`,
      [...ids, span.from, span.until + latestMs],
    );
    for (const row of counted)
      found.push({
        at: Number(row['column_at']),
        status: statusWords.toWord(row['status']),
        isLate: Number(row['is_late']) === 1,
        count: Number(row['n']),
        newest: undefined,
      });
  }
  return found;
}

/** The expected runs of each of these CronJobs that came to nothing, counted in each column by what became of them. */
export async function countWallSlots(
  db: Db,
  cronJobIds: readonly number[],
  span: WallSpan,
): Promise<ReadonlyMap<number, readonly SlotsOfColumn[]>> {
  const found = new Map<number, SlotsOfColumn[]>();
  for (const ids of inParts(cronJobIds)) {
    const counted = await rows(
      db,
      `select cronjob_id, slot_at - slot_at % ${Math.floor(span.stepMs)} as column_at, outcome, count(*) as n from slots ` +
        `where cronjob_id in (${marks(ids)}) and slot_at >= ? and slot_at < ? group by 1, 2, 3`,
      [...ids, span.from, span.until],
    );
    for (const row of counted) {
      const id = Number(row['cronjob_id']);
      const list = found.get(id) ?? [];
      found.set(id, list);
      list.push({
        at: Number(row['column_at']),
        outcome: outcomeWords.toWord(row['outcome']),
        count: Number(row['n']),
      });
    }
  }
  return found;
}

type Recorded = Exclude<WallOutcome, 'atRisk'>;

const success = statusWords.toNumber('success');
const runsOf: Readonly<Record<Recorded, (lateAfterMs: number) => string | undefined>> = {
  failed: () => isFailed,
  late: (lateAfterMs) => `status = ${success} and created_at - ${dueAt} > ${Math.floor(lateAfterMs)}`,
  missed: () => undefined,
  skipped: () => `status in (${statusWords.toNumber('replaced')}, ${statusWords.toNumber('deleted')})`,
  unseen: () => `status = ${statusWords.toNumber('unobserved')}`,
};
const slotsOf: Readonly<Record<Recorded, readonly SlotsOfColumn['outcome'][]>> = {
  failed: [],
  late: [],
  missed: ['missed'],
  skipped: ['skippedForbid', 'skippedDeadline', 'suspended'],
  unseen: ['unobserved', 'indeterminate'],
};

/** Those of these CronJobs that have a run, or an expected run, with one of these outcomes between two instants. */
export async function listIdsWithOutcome(
  db: Db,
  cronJobIds: readonly number[],
  { from, until }: Pick<WallSpan, 'from' | 'until'>,
  { outcomes, lateAfterMs }: { readonly outcomes: readonly Recorded[]; readonly lateAfterMs: number },
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const ofRuns = outcomes.flatMap((outcome) => runsOf[outcome](lateAfterMs) ?? []).map((condition) => `(${condition})`);
  const ofSlots = outcomes.flatMap((outcome) => slotsOf[outcome]).map((outcome) => outcomeWords.toNumber(outcome));
  for (const ids of inParts(cronJobIds)) {
    const pieces = [
      ...(ofRuns.length === 0
        ? []
        : [
            `select distinct cronjob_id from executions where cronjob_id in (${marks(ids)}) and created_at >= ? and created_at < ? and (${ofRuns.join(' or ')}) ` +
              `and ${dueAt} >= ? and ${dueAt} < ?`,
          ]),
      ...(ofSlots.length === 0
        ? []
        : [
            `select distinct cronjob_id from slots where cronjob_id in (${marks(ids)}) and slot_at >= ? and slot_at < ? and outcome in (${ofSlots.join(', ')})`,
          ]),
    ];
    const bindings = [
      ...(ofRuns.length === 0 ? [] : [...ids, from, until + latestMs, from, until]),
      ...(ofSlots.length === 0 ? [] : [...ids, from, until]),
    ];
    for (const row of await rows(db, pieces.join(' union all '), bindings)) found.add(Number(row['cronjob_id']));
  }
  return found;
}
