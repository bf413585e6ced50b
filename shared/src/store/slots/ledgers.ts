import type { Instant, SpecEpoch } from '../../domain/index.ts';
import { change, firstRow, inParts, marks, type Row } from '../ask.ts';
import { judgedThrough } from '../catalog/cron-job-ids.ts';
import { optionalNumber } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toEpoch } from '../spec-epochs.ts';
import { rowsIn } from '../upsert.ts';

/** How far the expected runs of one CronJob are judged, and by which specs they go on. */
export interface StoredLedger {
  readonly id: number;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Instant;
  readonly deletedAt: Instant | undefined;
  /** Slots at or before it are judged, or never will be: no monitor judged it then, or their history was removed. */
  readonly evaluatedThroughAt: Instant;
  /** False: nothing was judged yet. */
  readonly wasEvaluated: boolean;
  readonly waitingSlotAt: Instant | undefined;
  /** The newest slot known to have been started when it was judged last. */
  readonly anchorAt: Instant | undefined;
  /** Specs that held at any time since, oldest first. */
  readonly epochs: readonly SpecEpoch[];
}

/** By id; ids without a row are missing. One statement for 500 CronJobs. */
export async function listLedgers(db: Db, cronJobIds: readonly number[]): Promise<ReadonlyMap<number, StoredLedger>> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select c.id, c.uid_text, c.namespace, c.name, c.created_at, c.deleted_at, c.baseline_at, ` +
      `${judgedThrough('c')} as judged_through_at, c.evaluated_through_at, c.waiting_slot_at, c.every_anchor_at, ` +
      `e.from_at, e.to_at, e.schedule, e.time_zone, e.suspended, e.policy, e.deadline_s, e.certain, e.generation ` +
      `from cronjobs c left join spec_epochs e on e.cronjob_id = c.id ` +
      `and (e.to_at is null or e.to_at > ${judgedThrough('c')}) ` +
      `where c.id in (${marks}) order by c.id, e.from_at`,
  );
  const ledgers = new Map<number, StoredLedger & { readonly epochs: SpecEpoch[] }>();
  for (const row of found) {
    const id = Number(row['id']);
    let ledger = ledgers.get(id);
    if (!ledger) ledgers.set(id, (ledger = toLedger(row)));
    if (row['from_at'] !== null) ledger.epochs.push(toEpoch(row));
  }
  return ledgers;
}

function toLedger(row: Row): StoredLedger & { readonly epochs: SpecEpoch[] } {
  return {
    id: Number(row['id']),
    uid: String(row['uid_text']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    createdAt: Number(row['created_at']),
    deletedAt: optionalNumber(row['deleted_at']),
    evaluatedThroughAt: Math.max(Number(row['judged_through_at']), optionalNumber(row['baseline_at']) ?? 0),
    wasEvaluated: row['evaluated_through_at'] !== null,
    waitingSlotAt: optionalNumber(row['waiting_slot_at']),
    anchorAt: optionalNumber(row['every_anchor_at']),
    epochs: [],
  };
}

/** How far a CronJob is judged now. */
interface Watermark {
  readonly cronJobId: number;
  readonly evaluatedThroughAt: Instant;
  /** The slot that waits for the run before it. */
  readonly waitingSlotAt: Instant | undefined;
  /** The newest slot known to have been started by then. */
  readonly anchorAt: Instant | undefined;
}

/** Moves the watermarks of these CronJobs, one statement for 500 of them. They never move back. */
export async function moveWatermarks(tx: Tx, moved: readonly Watermark[]): Promise<void> {
  for (const part of inParts(moved)) {
    const through = caseOf(tx, part, 'evaluated_through_at', (mark) => mark.evaluatedThroughAt);
    const waiting = caseOf(tx, part, 'waiting_slot_at', (mark) => mark.waitingSlotAt);
    const anchor = caseOf(tx, part, 'every_anchor_at', (mark) => mark.anchorAt);
    const ids = part.map(({ cronJobId }) => cronJobId);
    await change(tx, `update cronjobs set ${through.sql}, ${waiting.sql}, ${anchor.sql} where id in (${marks(ids)})`, [
      ...through.bindings,
      ...waiting.bindings,
      ...anchor.bindings,
      ...ids,
    ]);
  }
}

/** Most CronJobs of a batch are judged up to the same instant and wait for nothing: that value is said once. */
function caseOf(
  db: Db,
  marked: readonly Watermark[],
  column: string,
  valueOf: (mark: Watermark) => Instant | undefined,
): { readonly sql: string; readonly bindings: readonly unknown[] } {
  const usual = mostFrequent(marked.map(valueOf));
  const others = marked.filter((mark) => valueOf(mark) !== usual);
  const value = db.dialect.parameter('bigint');
  if (others.length === 0) return { sql: `${column} = ${value}`, bindings: [usual ?? null] };
  return {
    sql: `${column} = case id ${others.map(() => `when ? then ${value}`).join(' ')} else ${value} end`,
    bindings: [...others.flatMap((mark) => [mark.cronJobId, valueOf(mark) ?? null]), usual ?? null],
  };
}

function mostFrequent<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let found: [T | undefined, number] = [undefined, 0];
  for (const entry of counts) if (entry[1] > found[1]) found = entry;
  return found[0];
}

/** Up to where every CronJob that is watched by a monitor is judged; undefined: there is none, or one was never judged. */
export async function findOldestWatermark(db: Db): Promise<Instant | undefined> {
  const row = await firstRow(
    db,
    'select min(coalesce(evaluated_through_at, 0)) as at from cronjobs c where deleted_at is null ' +
      'and exists (select 1 from monitor_targets t where t.cronjob_id = c.id and t.removed_at is null)',
  );
  const at = row?.['at'];
  return at === null || at === undefined ? undefined : Number(at);
}
