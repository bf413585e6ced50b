import type { Instant } from '../domain/index.ts';
import { change, inParts } from './ask.ts';
import { optionalText } from './column.ts';
import type { Tx } from './database.ts';
import { putDue, type DueInstant } from './due.ts';
import { rowsIn } from './upsert.ts';

/** A verdict's next instant, or that there is none. */
export interface DueWish extends Omit<DueInstant, 'at' | 'ref'> {
  /** Undefined: only an event can change the verdict. */
  readonly at: Instant | undefined;
}

/**
 * Makes the instants of monitors what is wished, writing only what differs: most verdicts are asked anew at the instant they name.
 * `onlyEarlier`: one that is there already and comes first is left; it is moved when it has come.
 */
export async function setDue(tx: Tx, wishes: readonly DueWish[], onlyEarlier = false): Promise<void> {
  if (wishes.length === 0) return;
  const ids = [...new Set(wishes.map(({ cronJobId }) => cronJobId))];
  const found = await rowsIn(
    tx,
    ids,
    (marks) => `select cronjob_id, monitor_id, kind, at from due where cronjob_id in (${marks}) and monitor_id > 0`,
  );
  const before = new Map(
    found.map((row) => [
      keyOf({
        cronJobId: Number(row['cronjob_id']),
        monitorId: Number(row['monitor_id']),
        kind: optionalText(row['kind']) ?? '',
      }),
      Number(row['at']),
    ]),
  );
  const moved: DueInstant[] = [];
  const gone: DueWish[] = [];
  for (const wish of wishes) {
    const at = before.get(keyOf(wish));
    if (wish.at === undefined) {
      if (at !== undefined && !onlyEarlier) gone.push(wish);
    } else if (at === undefined || (onlyEarlier ? wish.at < at : wish.at !== at)) {
      moved.push({ ...wish, at: wish.at, ref: '' });
    }
  }
  await putDue(tx, moved);
  for (const part of inParts(gone, 100)) {
    const where = part.map(() => '(cronjob_id = ? and monitor_id = ? and kind = ?)').join(' or ');
    await change(
      tx,
      `delete from due where ${where}`,
      part.flatMap(({ cronJobId, monitorId, kind }) => [cronJobId, monitorId, kind]),
    );
  }
}

function keyOf({ cronJobId, monitorId, kind }: Omit<DueInstant, 'at' | 'ref'>): string {
  return `${cronJobId} ${monitorId} ${kind}`;
}
