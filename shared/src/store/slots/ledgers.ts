import type { Instant, SpecEpoch } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { judgedThrough } from '../catalog/judges-from.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
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
