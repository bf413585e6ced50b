import { relistAll, type Db, type Store } from '@cronjob-monitor/shared/store';

type Row = Readonly<Record<string, unknown>>;

/** What of the list of CronJobs is not what the other tables say, in sentences: none, unless a writer has forgotten it. Nothing is changed. */
export async function listFaults(store: Store): Promise<string[]> {
  const faults: string[] = [];
  const undo = new Error('what was computed for the comparison is not kept');
  await store
    .transaction(async (tx) => {
      const before = await readList(store, tx);
      await tx.sql.raw('delete from cronjob_list');
      await relistAll(tx);
      const after = await readList(store, tx);
      for (const id of new Set([...before.keys(), ...after.keys()]))
        faults.push(...differences(id, before.get(id), after.get(id)));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return faults;
}

async function readList(store: Store, db: Db): Promise<Map<number, Row>> {
  const found = store.dialect.rowsOf(await db.sql.raw('select * from cronjob_list'));
  return new Map([...found].map((row) => [Number(row['cronjob_id']), row]));
}

function differences(id: number, kept: Row | undefined, computed: Row | undefined): string[] {
  if (!kept || !computed) return [`CronJob ${id}: its row ${kept ? 'is left' : 'is missing'}`];
  return Object.keys(computed)
    .filter((column) => column !== 'rated_at' && kept[column] !== computed[column])
    .map(
      (column) =>
        `CronJob ${id}, ${String(kept['name'])}: ${column} is ${String(kept[column])}, and ${String(computed[column])} is right`,
    );
}
