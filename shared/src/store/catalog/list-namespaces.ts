import { rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** Namespaces of which anything is known: of CronJobs, removed ones included while their rows are kept, and of monitors. By name. */
export async function listNamespaces(db: Db): Promise<string[]> {
  const found = await rows(
    db,
    'select namespace from cronjobs union select namespace from monitors order by namespace',
  );
  return found.map((row) => String(row['namespace']));
}
