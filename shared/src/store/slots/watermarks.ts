import type { Instant } from '../../domain/index.ts';
import { change, firstRow, inParts, marks } from '../ask.ts';
import type { Db, Tx } from '../database.ts';

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
