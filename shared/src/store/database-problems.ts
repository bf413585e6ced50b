import type { Problem } from '../domain/index.ts';
import type { Clock } from '../process/index.ts';
import type { Store } from './database.ts';

/** A database that answered before may be away for so long: restarts and failovers of servers take less. */
const patienceMs = 30_000;

/** What is wrong with the database, for the list of problems. A process that waits for its first answer cannot work at all. */
export function databaseProblems(store: Pick<Store, 'trouble' | 'hasAnswered'>, clock: Clock): readonly Problem[] {
  const trouble = store.trouble();
  if (!trouble) {
    if (store.hasAnswered()) return [];
    return [
      {
        key: 'database',
        cause: 'databaseAway',
        sentence: 'the database has not answered yet: it is being asked',
        blocks: true,
      },
    ];
  }
  const { code } = trouble.error;
  const isForAPerson = code === 'refused' || code === 'full';
  const blocks = isForAPerson || !store.hasAnswered() || clock.monotonicMs() - trouble.sinceMs >= patienceMs;
  return [
    { key: 'database', cause: code === 'full' ? 'volumeFull' : 'databaseAway', sentence: trouble.sentence, blocks },
  ];
}

/** Whether the database takes writes, as far as is known; undefined while it cannot be asked. For the metric of it. */
export function isWritable(store: Pick<Store, 'trouble' | 'hasAnswered'>): boolean | undefined {
  const trouble = store.trouble();
  if (trouble) return trouble.error.code === 'full' ? false : undefined;
  return store.hasAnswered() ? true : undefined;
}

/** Most connections that the database server takes from all; undefined: there is no server. Throws `StoreError` while it is away. */
export async function findMaxConnections(store: Store): Promise<number | undefined> {
  return store.dialect.maxConnections(store);
}
