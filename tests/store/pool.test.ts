import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  findClusterState,
  migrate,
  openStore,
  PoolBusyError,
  putClusterState,
  schemaOpener,
  takeEpoch,
  type ServerSettings,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { change, firstRow } from '../../shared/src/store/ask.ts';
// The sweep runs every 30 s; here it is asked.
import { clientOf, closeIdle } from '../../shared/src/store/dialect/connection.ts';
import { ownServers, type OwnServer } from './servers.ts';
import { shortLimits } from './suite.ts';
import { TestClock } from './test-clock.ts';

const connectionsOf = {
  postgres: `select count(*) as n from pg_stat_activity where application_name = 'cronjob-monitor'`,
  mysql: `select count(*) as n from information_schema.processlist where db = 'monitor'`,
};

const sleeping = {
  postgres: `select pid as id from pg_stat_activity where state = 'active' and query like '%pg_sleep%' and pid <> pg_backend_pid()`,
  mysql: `select id from information_schema.processlist where info like '%sleep(%' and id <> connection_id()`,
};

for (const kind of ownServers) {
  describe(`the pool of ${kind.name}`, { skip: kind.skip }, () => {
    const stores: Store[] = [];
    let own: OwnServer;
    const open = (pool: Partial<ServerSettings['pool']>): Store => {
      const whole = { maxIdleConns: 10, maxOpenConns: 4, connMaxLifetimeMs: 0, connMaxIdleTimeMs: 0, ...pool };
      const deps = { clock: new TestClock(), log: new RecordingLogger(), ...shortLimits };
      const store = openStore(own.settings(undefined, { pool: whole }), deps);
      stores.push(store);
      return store;
    };
    const sleep = (seconds: number): string =>
      `select 1 as one, ${kind.name === 'postgres' ? 'pg_sleep' : 'sleep'}(${seconds}) as slept`;
    const cutWhatSleeps = async (): Promise<void> => {
      for (;;) {
        const [row] = await own.run(sleeping[kind.name]);
        if (row !== undefined) {
          const id = Number(row['id']);
          await own.run(kind.name === 'postgres' ? `select pg_terminate_backend(${id})` : `kill ${id}`);
          return;
        }
        await wait(20);
      }
    };
    const openConnections = async (): Promise<number> => {
      const [row] = await own.run(connectionsOf[kind.name]);
      return Number(row?.['n']) - (kind.name === 'mysql' ? 1 : 0);
    };
    /** A server may still be ending those of the test before. */
    const restingConnections = async (): Promise<number> => {
      for (let before = NaN, now = await openConnections(); ; before = now, now = await openConnections()) {
        if (now === before) return now;
        await wait(300);
      }
    };
    const useAtOnce = async (store: Store, n: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: n }, () =>
          store.transaction(async (tx) => {
            await tx.sql.raw('select 1');
            await wait(100);
          }),
        ),
      );

    before(async () => {
      own = await kind.start();
      await migrate(open({}), { version: 'test' });
    });
    after(async () => {
      for (const store of stores) await store.close();
      await own.server.remove();
    });

    it('opens connections when they are needed, and never more than allowed', async () => {
      const before = await restingConnections();
      const store = open({ maxOpenConns: 3 });
      assert.equal(await openConnections(), before);
      await useAtOnce(store, 9);
      assert.equal(await openConnections(), before + 3);
      await store.close();
    });

    it('closes what is idle above the allowed number, and goes on with the rest', async () => {
      const before = await restingConnections();
      const store = open({ maxOpenConns: 5 });
      await useAtOnce(store, 5);
      closeIdle(clientOf(store.sql).pool, 2);
      await wait(300);
      assert.equal(await openConnections(), before + 2);
      await useAtOnce(store, 5);
      assert.equal(await openConnections(), before + 5);
      await store.close();
    });

    it('replaces a connection that is too old, and closes one that is idle for too long', async () => {
      const before = await restingConnections();
      const store = open({ maxOpenConns: 1, connMaxLifetimeMs: 200, connMaxIdleTimeMs: 600 });
      const id = async (): Promise<unknown> => {
        const question = kind.name === 'postgres' ? 'select pg_backend_pid() as id' : 'select connection_id() as id';
        return store.dialect.rowsOf(await store.sql.raw(question))[0]?.['id'];
      };
      const first = await id();
      assert.equal(await id(), first);
      await wait(250);
      assert.notEqual(await id(), first);
      // The pool looks once a second.
      await wait(2_200);
      assert.equal(await openConnections(), before);
      await store.close();
    });

    it('has twenty connections for all other schemas together and two for each, and every store reads its own', async () => {
      const names = Array.from({ length: 12 }, (_, index) => `monitor_other_${index}`);
      const make = kind.name === 'postgres' ? 'schema' : 'database';
      for (const name of names) {
        await own.run(`create ${make} ${name}`);
        await own.run(`create table ${name}.whose (name varchar(30))`);
        await own.run(`insert into ${name}.whose values ('${name}')`);
      }
      const opener = schemaOpener(own.settings(), { clock: new TestClock(), log: new RecordingLogger() });
      const others = names.map((name) => opener(name));
      const read = async (store: Store): Promise<unknown> => {
        const [row] = await store.sql('whose').select();
        await store.sql.raw(kind.name === 'postgres' ? 'select pg_sleep(0.05)' : 'select sleep(0.05)');
        return (row as { name: string }).name;
      };
      let most = 0;
      const held = new Set<() => void>();
      const holding = Array.from({ length: 6 }, () =>
        (others[0] as Store).transaction(async (tx) => {
          most = Math.max(most, held.size + 1);
          await new Promise<void>((resolve) => held.add(resolve));
          await tx.sql.raw('select 1');
        }),
      );
      for (let round = 0; round < 3; round++) {
        const all = await Promise.all(others.slice(1).flatMap((store) => [read(store), read(store), read(store)]));
        assert.deepEqual(
          all,
          names.slice(1).flatMap((name) => [name, name, name]),
        );
      }
      assert.deepEqual([most, held.size], [2, 2], 'one schema holds two');
      const counted = `select count(*) as n from ${kind.name === 'postgres' ? 'pg_stat_activity' : 'information_schema.processlist'}`;
      const [row] = await own.run(counted);
      assert.ok(Number(row?.['n']) < 45, `${String(row?.['n'])} connections`);
      for (let ended = 0; ended < 6;) {
        const [one] = held;
        one?.();
        if (one && held.delete(one)) ended++;
        await wait(10);
      }
      await Promise.all(holding);
      await Promise.all(others.map((store) => store.close()));
      for (const name of names) await own.run(`drop ${make} ${name}${kind.name === 'postgres' ? ' cascade' : ''}`);
    });

    it('asks a read once more whose connection broke under it, and a write never', async () => {
      const store = open({ maxOpenConns: 2 });
      await store.probe();
      const asked = firstRow(store, sleep(1));
      await cutWhatSleeps();
      assert.equal(Number((await asked)?.['one']), 1);
      const written = assert.rejects(change(store, sleep(1)), { code: 'unavailable' });
      await cutWhatSleeps();
      await written;
      await store.close();
    });

    it('lets a read wait on for a connection while the database answers others', async () => {
      const store = open({ maxOpenConns: 1 });
      const answers = await Promise.all([1.2, 1.2, 1.2, 0].map((seconds) => firstRow(store, sleep(seconds))));
      assert.deepEqual(
        answers.map((row) => Number(row?.['one'])),
        [1, 1, 1, 1],
      );
      await store.close();
    });

    it('says that all its connections are busy while the database answers others, and which key has more of them', async () => {
      const store = open({ maxOpenConns: 1 });
      const busy = store.transaction(async (tx) => {
        for (let asked = 0; asked < 12; asked++) await firstRow(tx, sleep(0.3));
      });
      await wait(100);
      const [written] = await Promise.allSettled([change(store, sleep(0)), busy]);
      assert.ok(written.status === 'rejected');
      const error = written.reason as PoolBusyError;
      assert.ok(error instanceof PoolBusyError);
      assert.deepEqual(
        [error.code, error.connections, error.key, store.trouble()],
        ['busy', 1, `storage.${kind.name}.pool.max-open-conns`, undefined],
      );
      await store.close();
    });

    it('says within 3 s that no connection is free', async () => {
      const store = open({ maxOpenConns: 1 });
      const started = performance.now();
      await assert.rejects(
        store.transaction(async () => store.probe()),
        { code: 'unavailable', driverCode: 'POOL_TIMEOUT' },
      );
      assert.ok(performance.now() - started < 4_000);
      await store.probe();
      await store.close();
    });

    // PostgreSQL and MariaDB end them by a setting; MySQL has none, and MariaDB can be told to be like it.
    if (kind.name === 'mysql') {
      it('ends the connections of a frozen leader where the server does not', async () => {
        const [frozen, successor] = [open({}), open({})];
        const old = await takeEpoch(frozen, 'frozen');
        // MariaDB ends an idle transaction by itself. Told not to, it behaves as MySQL does, whose leaders write their connections down.
        const connection = await frozen.sql.client.acquireConnection();
        connection.endsIdleTransactions = false;
        await frozen.sql.raw('set session idle_transaction_timeout = 0').connection(connection);
        frozen.sql.client.releaseConnection(connection);
        let raisedAfterMs = Infinity;
        const writing = frozen.fenced(old, async (tx) => {
          const [row] = frozen.dialect.rowsOf(await frozen.sql.raw('select count(*) as n from leader_connections'));
          assert.equal(Number(row?.['n']), 1);
          const started = performance.now();
          await takeEpoch(successor, 'successor');
          raisedAfterMs = performance.now() - started;
          await putClusterState(tx, 'startSkew', 'from the grave');
        });
        await assert.rejects(writing, { code: 'unavailable' });
        assert.ok(raisedAfterMs < 900, `${raisedAfterMs} ms`);
        assert.equal(await findClusterState(successor, 'startSkew'), undefined);
      });
    }
  });
}
