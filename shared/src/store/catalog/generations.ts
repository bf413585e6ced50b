import { rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** The generation of every present CronJob as it was written down last: a higher one in the cluster tells of an edit since. */
export async function listGenerations(db: Db): Promise<{ readonly uid: string; readonly generation: number }[]> {
  const found = await rows(db, 'select uid_text, generation from cronjobs where deleted_at is null');
  return found.map((row) => ({ uid: String(row['uid_text']), generation: Number(row['generation']) }));
}
