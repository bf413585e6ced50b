import { inSchema, type ServerSettings } from '@cronjob-monitor/shared/store';
import type { TestDatabase } from '../store/databases.ts';

/** Settings of several schemas on one server: of PostgreSQL in one database, of MySQL a database each. */
export async function schemas(database: TestDatabase, ...names: readonly string[]): Promise<ServerSettings[]> {
  if (database.name === 'mysql') {
    const made: ServerSettings[] = [];
    for (const _ of names) made.push((await database.fresh()) as ServerSettings);
    return made;
  }
  const settings = await database.fresh();
  return names.map((name) => inSchema(settings, name));
}
