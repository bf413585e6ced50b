import { rows } from '../ask.ts';
import { fromJson } from '../column.ts';
import type { Db } from '../database.ts';
import type { CronJobNotes } from '../../domain/index.ts';

/** Who owns each CronJob that is there, by its id; those without an owner are left out. */
export async function listOwners(db: Db): Promise<ReadonlyMap<number, string>> {
  const found = await rows(db, 'select id, notes from cronjobs where deleted_at is null');
  return new Map(
    found.flatMap((row) => {
      const { owner } = (fromJson(row['notes']) ?? {}) as CronJobNotes; // written by projectCronJob
      return owner === undefined ? [] : [[Number(row['id']), owner] as const];
    }),
  );
}
