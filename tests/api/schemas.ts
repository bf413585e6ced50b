import { inSchema, type StoreSettings } from '@cronjob-monitor/shared/store';
import type { TestDatabase } from '../store/databases.ts';

/** Settings of several schemas on one server: of PostgreSQL in one database, of MySQL a database each. */
export async function schemas(database: TestDatabase, ...names: readonly string[]): Promise<StoreSettings[]> {
  if (database.name === 'mysql') {
    const made: StoreSettings[] = [];
    for (const _ of names) made.push(await database.fresh());
    return made;
  }
  const settings = await database.fresh();
  return names.map((name) => inSchema(settings, name));
}
