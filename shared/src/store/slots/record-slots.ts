import type { SlotCause, SlotOutcome } from '../../contract/index.ts';
import { type Instant, dayOf } from '../../domain/index.ts';
import { change, inParts, insertRows, rows } from '../ask.ts';
import { optionalCleanText } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { causeWords, outcomeWords } from '../words.ts';
import { cronJobChanges } from '../catalog/cron-job-change.ts';
import { recordChanges } from '../changes.ts';
import { filledUp, updateRows } from '../upsert.ts';

/** An expected run that no run answered. */
export interface StoredSlot {
  readonly cronJobId: number;
  readonly at: Instant;
  readonly outcome: Exclude<SlotOutcome, 'matched' | 'late'>;
  readonly cause: SlotCause | undefined;
  /** At most 1,000 characters: of the run that stood in the way, or of the event that tells why. */
  readonly message: string | undefined;
  /** Beginning of the epoch that it fell into. */
  readonly epochAt: Instant | undefined;
  readonly inMaintenance: boolean;
}

const columns = [
  'cronjob_id',
  'slot_at',
  'outcome',
  'cause',
  'message',
  'job_uid',
  'epoch_at',
  'in_maintenance',
  'decided_at',
] as const;
const longestMessage = 1_000;

/**
 * Writes slots that no run answered, and counts them in their days. One that has its row already keeps it: an outcome is written once.
 * Returns how many are new. The rows of their CronJobs are locked by the caller.
 */
export async function recordSlots(tx: Tx, slots: readonly StoredSlot[]): Promise<number> {
  if (slots.length === 0) return 0;
  const known = await listKnown(tx, slots);
  const fresh = slots.filter((slot) => !known.has(keyOf(slot)));
  const decidedAt = tx.now();
  await insertRows(tx, {
    table: 'slots',
    columns,
    rows: fresh.map((slot) => [
      slot.cronJobId,
      slot.at,
      outcomeWords.toNumber(slot.outcome),
      slot.cause === undefined ? null : causeWords.toNumber(slot.cause),
      optionalCleanText(slot.message, longestMessage),
      null,
      slot.epochAt,
      Number(slot.inMaintenance),
      decidedAt,
    ]),
    tail: tx.dialect.ifAbsent(['cronjob_id', 'slot_at']),
  });
  await countSlots(
    tx,
    fresh.map((slot) => ({ slot, sign: 1 as const })),
  );
  await noteNewest(tx, fresh);
  return fresh.length;
}

/**
 * Runs were started for these slots after all: what had been written of them goes, since a slot has one outcome and that of a started one is
 * told by its run. Returns the ids of the CronJobs of which a row went. The rows of their CronJobs are locked by the caller.
 */
export async function answerSlots(
  tx: Tx,
  started: readonly { readonly cronJobId: number; readonly at: Instant }[],
): Promise<readonly number[]> {
  const answered = new Set<number>();
  for (const some of inParts(started, 100)) {
    const part = filledUp(some);
    const where = part.map(() => '(cronjob_id = ? and slot_at = ?)').join(' or ');
    const bindings = part.flatMap(({ cronJobId, at }) => [cronJobId, at]);
    const found = await rows(
      tx,
      `select cronjob_id, slot_at, outcome, in_maintenance from slots where ${where}`,
      bindings,
    );
    if (found.length === 0) continue;
    await change(tx, `delete from slots where ${where}`, bindings);
    const gone = found.map((row) => ({
      cronJobId: Number(row['cronjob_id']),
      at: Number(row['slot_at']),
      outcome: outcomeWords.toWord(row['outcome']),
      inMaintenance: Number(row['in_maintenance']) === 1,
    }));
    await countSlots(
      tx,
      gone.map((slot) => ({ slot, sign: -1 as const })),
    );
    for (const { cronJobId, at } of gone) {
      answered.add(cronJobId);
      await change(tx, 'update cronjobs set missed_slot_at = null where id = ? and missed_slot_at = ?', [
        cronJobId,
        at,
      ]);
    }
  }
  await recordChanges(tx, await cronJobChanges(tx, [], [...answered]));
  return [...answered];
}

/** Whether the newest slot of each CronJob is missed decides about its state. Slots are judged in their order. */
async function noteNewest(tx: Tx, fresh: readonly StoredSlot[]): Promise<void> {
  const newest = new Map<number, StoredSlot>();
  for (const slot of fresh) {
    const known = newest.get(slot.cronJobId);
    if (!known || slot.at > known.at) newest.set(slot.cronJobId, slot);
  }
  await updateRows(tx, {
    table: 'cronjobs',
    key: 'id',
    columns: { missed_slot_at: 'bigint' },
    rows: [...newest.values()].map(({ cronJobId, at, outcome }) => [cronJobId, outcome === 'missed' ? at : null]),
  });
  await recordChanges(tx, await cronJobChanges(tx, [], [...newest.keys()]));
}

async function listKnown(
  db: Db,
  slots: readonly { readonly cronJobId: number; readonly at: Instant }[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  const byCronJob = Map.groupBy(slots, ({ cronJobId }) => cronJobId);
  for (const part of inParts([...byCronJob], 100)) {
    const where = part.map(() => '(cronjob_id = ? and slot_at between ? and ?)').join(' or ');
    const bindings = part.flatMap(([id, list]) => [id, first(list), last(list)]);
    for (const row of await rows(db, `select cronjob_id, slot_at from slots where ${where}`, bindings)) {
      known.add(keyOf({ cronJobId: Number(row['cronjob_id']), at: Number(row['slot_at']) }));
    }
  }
  return known;
}

const first = (slots: readonly { readonly at: Instant }[]): Instant =>
  slots.reduce((least, { at }) => Math.min(least, at), Infinity);
const last = (slots: readonly { readonly at: Instant }[]): Instant =>
  slots.reduce((most, { at }) => Math.max(most, at), -Infinity);

function keyOf({ cronJobId, at }: { readonly cronJobId: number; readonly at: Instant }): string {
  return `${cronJobId} ${at}`;
}

/** Column of the day's figures that a slot without a run moves. */
const counterOfOutcome = {
  missed: 'missed',
  skippedForbid: 'skipped',
  skippedDeadline: 'skipped',
  suspended: 'suspended',
  unobserved: 'unseen',
  indeterminate: 'unseen',
} as const satisfies Record<StoredSlot['outcome'], string>;

const counters = ['missed', 'skipped', 'suspended', 'unseen'] as const;

/**
 * Moves the counts of the UTC days of these slots, in the transaction that wrote or removed their rows. A missed one in a maintenance window
 * that leaves runs out of the SLA is not counted, as its run would not have been.
 */
async function countSlots(
  tx: Tx,
  slots: readonly { readonly slot: CountedSlot; readonly sign: 1 | -1 }[],
): Promise<void> {
  const deltas = new Map<string, { readonly cronJobId: number; readonly day: number; readonly counts: number[] }>();
  for (const { slot, sign } of slots) {
    if (slot.outcome === 'missed' && slot.inMaintenance) continue;
    const day = dayOf(slot.at);
    const key = `${slot.cronJobId} ${day}`;
    const delta = deltas.get(key) ?? { cronJobId: slot.cronJobId, day, counts: counters.map(() => 0) };
    deltas.set(key, delta);
    const position = counters.indexOf(counterOfOutcome[slot.outcome]);
    delta.counts[position] = (delta.counts[position] ?? 0) + sign;
  }
  const sums = counters.map((column) => `"${column}" = rollups."${column}" + ${tx.dialect.proposed(column)}`);
  await insertRows(tx, {
    table: 'rollups',
    columns: ['cronjob_id', 'day', ...counters],
    rows: [...deltas.values()]
      .sort((a, b) => a.cronJobId - b.cronJobId || a.day - b.day)
      .map(({ cronJobId, day, counts }) => [cronJobId, day, ...counts]),
    tail: `${tx.dialect.orUpdate(['cronjob_id', 'day'])}${sums.join(', ')}`,
  });
}

type CountedSlot = Pick<StoredSlot, 'cronJobId' | 'outcome' | 'inMaintenance'> & { readonly at: Instant };
