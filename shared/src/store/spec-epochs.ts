import type { ConcurrencyPolicy, CronJobFacts, Instant, SpecEpoch } from '../domain/index.ts';
import { change, insertRows, type Row } from './ask.ts';
import { cleanText, optionalCleanText, optionalNumber, optionalText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { quoted, rowsIn, updateAll } from './upsert.ts';

/** A CronJob's present spec, to compare with its open epoch. */
interface SpecSeen {
  readonly cronJobId: number;
  readonly facts: Pick<
    CronJobFacts,
    'schedule' | 'timeZone' | 'suspended' | 'policy' | 'deadlineS' | 'generation' | 'specWrites'
  >;
  readonly changedAt: Instant;
  readonly uncertainFrom: Instant | undefined;
}

const columns = [
  'cronjob_id',
  'from_at',
  'to_at',
  'schedule',
  'time_zone',
  'suspended',
  'policy',
  'deadline_s',
  'certain',
  'generation',
] as const;

export const longestSchedule = 1_024;
export const longestZone = 253;

/** The epochs of these CronJobs by id, oldest first. */
export async function listSpecEpochs(db: Db, cronJobIds: readonly number[]): Promise<ReadonlyMap<number, SpecEpoch[]>> {
  return readEpochs(db, cronJobIds, '');
}

/** Opens the first epoch, or closes the open one and opens another where the spec differs. Returns the ids that got a new one. */
export async function followSpecs(tx: Tx, seen: readonly SpecSeen[]): Promise<Set<number>> {
  const open = await readEpochs(
    tx,
    seen.map(({ cronJobId }) => cronJobId),
    ' and to_at is null',
  );
  const inserted: unknown[][] = [];
  const opened = new Set<number>();
  for (const spec of seen) {
    const present = open.get(spec.cronJobId)?.at(-1);
    // The same again after a time that is unknown is told as such.
    if (present !== undefined && sameSpec(present, spec.facts) && spec.uncertainFrom === undefined) continue;
    opened.add(spec.cronJobId);
    inserted.push(...(await replaceEpoch(tx, spec, present)));
  }
  // Two changes within a millisecond, or a clock that went back: the later spec takes the place of the one that never was.
  await insertRows(tx, {
    table: 'spec_epochs',
    columns,
    rows: inserted,
    tail: updateAll(tx.dialect, ['cronjob_id', 'from_at'], columns.slice(2)),
  });
  return opened;
}

/** Closes the open epoch of a CronJob that is no more. */
export async function closeEpoch(tx: Tx, cronJobId: number, at: Instant): Promise<void> {
  await change(
    tx,
    'update spec_epochs set to_at = case when from_at > ? then from_at else ? end where cronjob_id = ? and to_at is null',
    [at, at, cronJobId],
  );
}

/** The rows that follow `present`, which is closed where they begin: the uncertain span, if there is one, and the new epoch. */
async function replaceEpoch(tx: Tx, spec: SpecSeen, present: SpecEpoch | undefined): Promise<unknown[][]> {
  const changedAt = Math.max(spec.changedAt, present?.fromAt ?? -Infinity);
  const beginAt = Math.max(Math.min(spec.uncertainFrom ?? changedAt, changedAt), present?.fromAt ?? -Infinity);
  if (present !== undefined && beginAt > present.fromAt) await closeEpoch(tx, spec.cronJobId, beginAt);
  const opened = toRow(spec, { fromAt: changedAt, toAt: undefined, certain: true });
  if (present === undefined || beginAt >= changedAt) return [opened];
  const switchedAt = present.suspended === spec.facts.suspended ? beginAt : suspendWrittenAt(spec, beginAt);
  return [
    { fromAt: beginAt, toAt: switchedAt, certain: false, suspended: present.suspended },
    { fromAt: switchedAt, toAt: changedAt, certain: false },
  ]
    .filter(({ fromAt, toAt }) => fromAt < toAt)
    .map((span) => toRow(spec, span))
    .concat([opened]);
}

/**
 * When it was suspended, or resumed, within a span in which other fields may have changed too: the first of the writes that still say so,
 * whose manager would no longer own the field had it been changed since. Where no write tells, it was suspended as the span began, and resumed
 * as it ended.
 */
function suspendWrittenAt({ facts, changedAt }: SpecSeen, from: Instant): Instant {
  const writes = facts.specWrites.filter(
    ({ at, fields }) => fields.includes('suspend') && at > from && at <= changedAt,
  );
  if (writes.length > 0) return Math.min(...writes.map(({ at }) => at));
  return facts.suspended ? from : changedAt;
}

function sameSpec(epoch: SpecEpoch, facts: SpecSeen['facts']): boolean {
  return (
    epoch.schedule === cleanText(facts.schedule, longestSchedule) &&
    epoch.timeZone === (facts.timeZone === undefined ? undefined : cleanText(facts.timeZone, longestZone)) &&
    epoch.suspended === facts.suspended &&
    epoch.policy === facts.policy &&
    epoch.deadlineS === facts.deadlineS
  );
}

function toRow(
  { cronJobId, facts }: SpecSeen,
  {
    fromAt,
    toAt,
    certain,
    suspended = facts.suspended,
  }: Pick<SpecEpoch, 'fromAt' | 'toAt' | 'certain'> & { readonly suspended?: boolean },
): unknown[] {
  return [
    cronJobId,
    fromAt,
    toAt,
    cleanText(facts.schedule, longestSchedule),
    optionalCleanText(facts.timeZone, longestZone),
    Number(suspended),
    facts.policy,
    facts.deadlineS,
    Number(certain),
    facts.generation,
  ];
}

async function readEpochs(db: Db, cronJobIds: readonly number[], where: string): Promise<Map<number, SpecEpoch[]>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select ${quoted(columns)} from spec_epochs where cronjob_id in (${marks})${where} order by cronjob_id, from_at`,
  );
  const epochs = new Map<number, SpecEpoch[]>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const list = epochs.get(id);
    if (list) list.push(toEpoch(row));
    else epochs.set(id, [toEpoch(row)]);
  }
  return epochs;
}

/** An epoch out of a row that has its columns. */
export function toEpoch(row: Row): SpecEpoch {
  return {
    fromAt: Number(row['from_at']),
    toAt: optionalNumber(row['to_at']),
    schedule: String(row['schedule']),
    timeZone: optionalText(row['time_zone']),
    suspended: Number(row['suspended']) === 1,
    // Written from the same type.
    policy: String(row['policy']) as ConcurrencyPolicy,
    deadlineS: optionalNumber(row['deadline_s']),
    certain: Number(row['certain']) === 1,
    generation: Number(row['generation']),
  };
}
