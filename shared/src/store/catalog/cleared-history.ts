import type { Instant } from '../../domain/index.ts';
import { rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** CronJobs whose history a person began to remove after `since`, by the clock of the store. What retention removes is older than that. */
export async function listClearedHistories(db: Db, since: Instant): Promise<number[]> {
  const found = await rows(db, 'select id from cronjobs where baseline_at > ? order by id', [since]);
  return found.map((row) => Number(row['id']));
}
