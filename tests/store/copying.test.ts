import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import {
  beat,
  copyStore,
  getSchemaState,
  migrate,
  openStore,
  projectCronJob,
  takeEpoch,
  type CopyRequest,
  type Store,
  type StoreSettings,
  type TableProof,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases, type TestDatabase } from './databases.ts';
import { seen, someCronJob } from './facts.ts';
import { fillFile } from './filled-file.ts';
import { readNumber, readRows } from './rows.ts';
import { TestClock } from './test-clock.ts';

const leaseMs = 15_000;

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`a copy from SQLite to ${database.name}`, { skip: database.skip ?? false }, () => {
    after(() => database.remove());
    copies(database);
  });
}

function copies(database: TestDatabase): void {
  const stores: Store[] = [];
  after(async () => {
    for (const store of stores) await store.close();
  });
  const open = (settings: StoreSettings): Store => {
    const store = openStore(settings, { clock: new TestClock(), log: new RecordingLogger() });
    stores.push(store);
    return store;
  };
  const target = async (): Promise<Store> => open(await database.fresh());
  const copy = (from: Store, to: Store, changes: Partial<CopyRequest> = {}): Promise<readonly TableProof[]> =>
    copyStore({ from, to, version: 'test', leaseMs, ...changes });
  const different = (proofs: readonly TableProof[]): string[] =>
    proofs.filter(({ equal }) => !equal).map(({ table }) => table);

  it('brings every row of every table over, and proves it', async (t) => {
    const { store, tables } = await fillFile(t);
    const to = await target();
    const proofs = await copy(store, to);
    assert.deepEqual(different(proofs), []);
    assert.deepEqual(proofs.map(({ table }) => table).sort(), tables);
    for (const { table, from } of proofs) {
      const inTarget = await readNumber(to, `select count(*) as n from ${table}`);
      assert.equal(inTarget, await readNumber(store, `select count(*) as n from ${table}`), table);
      assert.equal(inTarget, from.rows, table);
    }
    assert.equal((await getSchemaState(to)).state, 'ready');
    // Values as the store's own questions give them, beside the checksums.
    const one = async (db: Store): Promise<unknown> => {
      const [row] = await readRows(db, `select uid, labels, time_zone, created_at from cronjobs where id = 77`);
      return [db.dialect.id16Text(row?.['uid']), row?.['labels'], row?.['time_zone'], Number(row?.['created_at'])];
    };
    assert.deepEqual(await one(to), await one(store));
    for (const name of tables) {
      const ofFile = Object.keys((await readRows(store, `select * from ${name} limit 1`))[0] ?? {});
      const copied = proofs.find(({ table }) => table === name)?.columns ?? [];
      assert.deepEqual([...copied].sort(), ofFile.sort(), `columns of ${name}`);
    }
  });

  it('leaves the file as it was', async (t) => {
    const { store } = await fillFile(t);
    const before = await contentOf(store);
    await copy(store, await target());
    assert.deepEqual(await contentOf(store), before);
  });

  it('gives no id again, also none whose row is gone', async (t) => {
    const { store } = await fillFile(t);
    const to = await target();
    const proofs = await copy(store, to);
    assert.equal(proofs.find(({ table }) => table === 'changes')?.to.lastId, 20);
    const epoch = await takeEpoch(to, 'new-leader');
    assert.equal(epoch, 42);
    const { id } = await to.fenced(epoch, (tx) => projectCronJob(tx, seen(someCronJob())));
    assert.equal(id, 201);
    const [newest] = await readRows(to, 'select max(id) as id from changes');
    assert.ok(Number(newest?.['id']) > 20, 'the change of the new CronJob');
  });

  it('goes into an empty database alone', async (t) => {
    const { store } = await fillFile(t);
    const to = await target();
    await migrate(to, { version: 'test' });
    // A schema alone is empty; a leader was there, so it was used.
    await takeEpoch(to, 'somebody');
    await assert.rejects(copy(store, to), { code: 'refused', message: /the target holds data \(table leader\)/ });
    await to.sql.raw('update leader set epoch = 0');
    assert.deepEqual(different(await copy(store, to)), []);
    await assert.rejects(copy(store, to), { code: 'refused', message: /the target holds data \(table cronjobs\)/ });
    assert.deepEqual((await getSchemaState(to)).state, 'ready');
  });

  it('refuses a file that a live process writes to, and takes it when that has ended', async (t) => {
    const { store } = await fillFile(t);
    const to = await target();
    const heartbeat = { holder: 'pod-0_y', version: 'v1', leading: true, epoch: 50, schedulers: [], figures: {} };
    const beatAt = store.now() - 4_000;
    await beat(store, { ...heartbeat, startedAt: beatAt, beatAt, evaluatedAt: undefined });
    await assert.rejects(copy(store, to), {
      code: 'refused',
      message: /the source is in use: pod-0_y wrote to it 4 s ago; end it first/,
    });
    assert.equal((await getSchemaState(to)).version, 0, 'nothing was done to the target');
    await beat(store, { ...heartbeat, leading: false, startedAt: beatAt, beatAt, evaluatedAt: undefined });
    assert.deepEqual(different(await copy(store, to)), []);
  });

  it('keeps every writer out of the file meanwhile', async (t) => {
    const { store, path } = await fillFile(t);
    const other = open({ type: 'sqlite', path });
    await other.sql.raw('pragma busy_timeout = 0');
    let tries = 0;
    const told = async (): Promise<void> => {
      if (tries++ === 0) await assert.rejects(async () => other.sql.raw('begin immediate'), { code: 'busy' });
    };
    assert.deepEqual(different(await copy(store, await target(), { told })), []);
    assert.ok(tries > 0);
  });

  it('refuses a file of another schema, and one that is none of ours', async (t) => {
    const { store } = await fillFile(t);
    const to = await target();
    const { version } = await getSchemaState(store);
    await store.sql.raw(`delete from schema_version where version = ${version}`);
    await assert.rejects(copy(store, to), {
      code: 'refused',
      message: new RegExp(
        `the source cannot be copied: it has schema ${version - 1} and this program writes ${version}`,
      ),
    });
    const { store: empty } = await fillFile(t);
    await empty.sql.raw('drop table schema_version');
    await assert.rejects(copy(empty, to), { code: 'refused', message: /holds no schema of ours/ });
    assert.equal((await getSchemaState(to)).version, 0);
  });

  it('that is interrupted leaves nothing that a service would start on, and is begun anew', async (t) => {
    const { store } = await fillFile(t);
    const settings = await database.fresh();
    const to = open(settings);
    const interrupted = copy(store, to, {
      told: ({ table }) => {
        if (table === 'executions') throw new Error('the plug was pulled');
      },
    });
    await assert.rejects(interrupted, /the plug was pulled/);
    const service = open(settings);
    const state = await getSchemaState(service);
    assert.equal(state.state, 'tooNew');
    assert.match(
      state.state === 'tooNew' ? state.sentence : '',
      /a copy into this database was begun and has not ended/,
    );
    await assert.rejects(migrate(service, { version: 'test' }), {
      code: 'schema',
      message: /run cronjob-monitor copy again/,
    });
    assert.ok((await readNumber(to, 'select count(*) as n from executions')) > 0);

    const cleared: string[] = [];
    const proofs = await copy(store, to, {
      told: ({ step, table }) => void (step === 'cleared' && cleared.push(table)),
    });
    assert.ok(cleared.includes('executions'));
    assert.deepEqual(different(proofs), []);
    assert.equal((await getSchemaState(service)).state, 'ready');
    await migrate(service, { version: 'test' });
  });

  it('is the only one at its target', async (t) => {
    const [first, second] = [await fillFile(t), await fillFile(t)];
    const settings = await database.fresh();
    let tries = 0;
    const told = async (): Promise<void> => {
      if (tries++ === 0) await assert.rejects(copy(second.store, open(settings)), { code: 'busy' });
    };
    assert.deepEqual(different(await copy(first.store, open(settings), { told })), []);
    assert.ok(tries > 0);
  });

  for (const [what, statement, table] of [
    [
      'a value that differs',
      `update slots set in_maintenance = in_maintenance + 1 where slot_at = (select slot_at from (select min(slot_at) as slot_at from slots) s)`,
      'slots',
    ],
    [
      'a row that is missing',
      `delete from rollups where "day" = (select d from (select min("day") as d from rollups) r)`,
      'rollups',
    ],
    ['a row too many', `insert into rate_limits (scope, tat) values ('other', 1)`, 'rate_limits'],
  ] as const) {
    it(`finds ${what}, and lets no service start on it`, async (t) => {
      const { store } = await fillFile(t);
      const settings = await database.fresh();
      const to = open(settings);
      const beside = open(settings);
      const proofs = await copy(store, to, {
        told: async ({ step, table: done }) => {
          // Every table is copied; the first is proved before these.
          if (step === 'proved' && done === 'cronjobs') await beside.sql.raw(statement);
        },
      });
      assert.deepEqual(different(proofs), [table]);
      assert.equal((await getSchemaState(to)).state, 'tooNew');
    });
  }
}

async function contentOf({ sql, dialect }: Store): Promise<unknown> {
  const found = dialect.rowsOf(await sql.raw('select name, sql from sqlite_master order by name'));
  const rows = dialect.rowsOf(await sql.raw('select job_uid, job_name, flags from executions order by job_uid'));
  const sequences = dialect.rowsOf(await sql.raw('select name, seq from sqlite_sequence order by name'));
  return { found, rows, sequences };
}
