import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  migrate,
  openStore,
  takeEpoch,
  type Store,
  type StoreDeps,
  type StoreSettings,
} from '@cronjob-monitor/shared/store';
import { listFaults } from './list-faults.ts';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { TestDatabase } from './databases.ts';
import { TestClock } from './test-clock.ts';

/** What a test of the contract works with. */
export interface Bench {
  readonly store: Store;
  readonly clock: TestClock;
  readonly log: RecordingLogger;
  readonly settings: StoreSettings;
  /** The epoch of this suite's leader. */
  readonly epoch: number;
  /** Another store on the same rows, closed with the suite: another process, as far as the database can tell. */
  readonly open: (deps?: Partial<StoreDeps>) => Store;
}

/** Defines a test; `only` names the databases on which its subject exists at all. */
interface ContractTest {
  (title: string, run: (bench: Bench) => Promise<void>): void;
  (
    title: string,
    options: { readonly only: readonly TestDatabase['name'][] },
    run: (bench: Bench) => Promise<void>,
  ): void;
}

/** Short waits for the tests that wait for one to run out. MySQL counts its locks in whole seconds. */
export const shortLimits: Partial<StoreDeps> = {
  statementLimitMs: 1_500,
  limits: { lockMs: 1_000, idleInTransactionMs: 1_000 },
};

/**
 * One suite of the contract: its tests run on a schema of their own, made by migration, on each database in turn. What they have left in the list
 * of CronJobs is what follows from the other tables; `isListed` false: they write rows of these by hand.
 */
export function contract(
  title: string,
  define: (test: ContractTest) => void,
  { isListed = true }: { readonly isListed?: boolean } = {},
): (database: TestDatabase) => void {
  return (database) => {
    describe(title, () => {
      const stores: Store[] = [];
      let bench: Bench | undefined;
      before(async () => {
        bench = await prepare(database, stores);
      });
      after(async () => {
        const { store } = bench ?? {};
        if (store && isListed) assert.deepEqual(await listFaults(store), [], 'the list says what the other tables say');
        for (const store of stores) await store.close();
      });
      define((name: string, ...rest: readonly unknown[]) => {
        const run = rest.at(-1) as (bench: Bench) => Promise<void>;
        const { only } = rest.length === 2 ? (rest[0] as { only: readonly string[] }) : {};
        // Not a skip: there is nothing here that it could show.
        if (only !== undefined && !only.includes(database.name)) return;
        it(name, async () => {
          if (bench === undefined) throw new Error('the suite was not prepared');
          await run(bench);
        });
      });
    });
  };
}

async function prepare(database: TestDatabase, stores: Store[]): Promise<Bench> {
  const settings = await database.fresh();
  const clock = new TestClock();
  const log = new RecordingLogger();
  const open = (deps: Partial<StoreDeps> = {}): Store => {
    const store = openStore(settings, { clock, log, ...deps });
    stores.push(store);
    return store;
  };
  const store = open();
  await migrate(store, { version: 'test' });
  return { store, clock, log, settings, epoch: await takeEpoch(store, 'suite'), open };
}
