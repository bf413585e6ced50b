import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { FaultProxy, MonitorProcess } from '../servers/index.ts';
import { readNumber, readRows } from '../store/rows.ts';
import { namespace, usualLease } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { shiftOfSuite } from './harness/shift.ts';

const nextRelease = new URL('schema/next-release.ts', import.meta.url).href;
const rows = 20_000;
const asked = ['stats', 'cronjobs', 'alerts', `cronjobs/${namespace}/shift-0-0001/executions`, 'monitors', 'channels'];

/** F37: a later release takes over and migrates while this one serves, and is killed in the middle of it. */
for (const database of killableDatabases()) {
  describe(`F37, a migration under traffic, ${database.name}`, { skip: database.skip }, () => {
    for (let time = 1; time <= timesOf({ ci: 1, soak: 3 }); time++) {
      describe(`(${time})`, () => {
        const shift = shiftOfSuite(database, {
          count: 3,
          preloadOf: (number) => (number === 0 ? undefined : nextRelease),
          startsWith: 1,
          keepsAlive: false,
          // Who loses a Lease on a slow machine ends, and the test starts none again.
          config: usualLease,
        });

        test('older apiservers answer all the time, a killed migration is completed by the next leader', async (t) => {
          const { bench, server } = shift();
          const { store } = bench;
          const [old, ...successors] = bench.replicas;
          assert.ok(old);
          await addRows();
          const apiservers = await Promise.all(
            [0, 1].map(() => bench.prepare({ entryPoint: 'apiserver', storage: server.settings })),
          );
          await Promise.all(apiservers.map((one) => one.startReady()));
          const incidents = await shift().alerts(100, 6);
          const traffic = new Traffic(apiservers);
          await Promise.all(successors.map((one) => one.process.startReady()));
          let kills = 0;
          for (const { process, database: proxy } of successors) {
            onNextIndex(proxy, () => {
              if (kills++ === 0) process.signal('SIGKILL');
            });
          }
          const schema = 'select max(version) as n from schema_version';
          const before = await readNumber(store, schema);
          assert.equal((await old.process.end('SIGTERM')).code, 0);
          await bench.untilLed(old);
          assert.ok(kills > 1, 'the first of them was killed, the second began anew');
          assert.equal(await readNumber(store, schema), before + 1);
          assert.equal(await readNumber(store, 'select count(*) as n from schema_steps where done_at is null'), 0);
          await readRows(store, 'select id, note from next_notes');
          await store.sql.raw('delete from executions where cronjob_id = 999999');
          const dead = successors.find(({ process }) => !process.running);
          await dead?.process.startReady();
          // And the release before goes on with the schema of the next.
          await old.process.startReady();
          await incidents.over();
          await shift().settle(t);
          const { answers, problems } = await traffic.stop();
          t.diagnostic(`${answers} answers while the schema changed`);
          assert.deepEqual(problems, []);

          async function addRows(): Promise<void> {
            // Of a CronJob that no page asks for: they only make the index take its time.
            const uid = store.dialect.name === 'postgres' ? 'gen_random_uuid()' : 'unhex(md5(seq))';
            const numbers =
              store.dialect.name === 'postgres' ? `generate_series(1, ${rows}) as g(seq)` : `seq_1_to_${rows}`;
            await store.sql.raw(
              `insert into executions (cronjob_id, created_at, job_uid, recorded_at, attempts, status, "trigger", flags, job_name, node)
               select 999999, ${Date.now()} - seq, ${uid}, 0, 1, 0, 0, 0, 'x', 'node-1' from ${numbers}`,
            );
          }
        });
      });
    }
  });
}

/** Tells when a process begins to make an index; the statement is on its way by then. */
function onNextIndex(proxy: FaultProxy, begun: () => void): void {
  proxy.inspect(({ direction, bytes }) => {
    if (direction === 'toServer' && bytes.includes('executions_next')) setImmediate(begun);
    return 'pass';
  });
}

/** Asks apiservers all the time. */
class Traffic {
  readonly #enough = new AbortController();
  readonly #asking: Promise<void>[];
  readonly #problems: string[] = [];
  #answers = 0;

  constructor(apiservers: readonly MonitorProcess[]) {
    this.#asking = apiservers.map((one) => this.#ask(one));
  }

  /** Answers that no apiserver may give in this time: anything above 499 but that the schema is being migrated. */
  async stop(): Promise<{ readonly answers: number; readonly problems: readonly string[] }> {
    this.#enough.abort();
    await Promise.all(this.#asking);
    return { answers: this.#answers, problems: this.#problems };
  }

  async #ask({ api }: MonitorProcess): Promise<void> {
    for (let number = 0; !this.#enough.signal.aborted; number++, await wait(25)) {
      const path = `/api/v1/${asked[number % asked.length]}`;
      const answer = await fetch(api + path);
      const text = await answer.text();
      this.#answers++;
      if (answer.status >= 500 && !(answer.status === 503 && text.includes('"MIGRATING"')))
        this.#problems.push(`${path}: ${answer.status} ${text}`);
      if (answer.status >= 400 && answer.status < 500) this.#problems.push(`${path}: ${answer.status} ${text}`);
    }
  }
}
