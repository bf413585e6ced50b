import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startFaultProxy, type FaultProxy, type PassedPiece } from '../servers/index.ts';
import { readNumber } from '../store/rows.ts';
import { listStoredRuns, untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases, type KillableServer } from './harness/database-servers.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';

/** Loses the answer to the next COMMIT of a transaction that wrote a run, and the connection with it. */
class CommitSilencer {
  /** How many it has silenced. */
  silenced = 0;
  #armed = false;
  /** Connections whose transaction has written a run. */
  readonly #writing = new Set<number>();
  readonly #awaited = new Set<number>();

  arm(): void {
    this.#armed = true;
  }

  look({ direction, bytes, connection }: PassedPiece): 'pass' | 'cut' {
    if (direction === 'toClient') {
      if (!this.#awaited.delete(connection)) return 'pass';
      this.silenced++;
      return 'cut';
    }
    const said = bytes.toString('latin1').toLowerCase();
    if (said.includes('insert into executions')) this.#writing.add(connection);
    if (!/\bcommit\b/.test(said)) return 'pass';
    if (this.#writing.delete(connection) && this.#armed) {
      this.#armed = false;
      this.#awaited.add(connection);
    }
    return 'pass';
  }
}

/** F33: the database commits, and its answer is lost. */
for (const { name, skip, start } of killableDatabases()) {
  describe(`F33, the answer to COMMIT is lost, ${name}`, { skip }, () => {
    let server: KillableServer;
    let proxy: FaultProxy;
    const silencer = new CommitSilencer();
    const bench = benchOfSuite({ controllers: false }, async () => {
      server = await start();
      proxy = await startFaultProxy({ port: server.settings.port });
      proxy.inspect((piece) => silencer.look(piece));
      const storage = { ...server.settings, port: proxy.port };
      return { entryPoint: 'controller', storage, settings: server.settings };
    });
    after(async () => {
      await proxy.close();
      await server.remove();
    });

    const times = timesOf({ ci: 20, soak: 200 });
    test(`${times} times: exactly one row, one increment`, async () => {
      const { sim, service, reader, store } = bench();
      const owner = putCronJob(sim, 'unheard');
      // A run that ended before its CronJob was first seen is history, and not counted.
      await until(
        'the CronJob is known',
        async () => (await readNumber(store, 'select count(*) as n from cronjobs')) === 1,
      );
      await wait(1_000);
      for (let time = 1; time <= times; time++) {
        silencer.arm();
        putJob(sim, owner, { slotAt: slotNumber(time), status: completeStatus() });
        // Rows, the counts of their day, and nothing twice.
        await untilAllRecorded(reader, store, { over: time, withinMs: 30_000 });
        assert.equal(silencer.silenced, time);
        assert.equal((await listStoredRuns(store)).length, time);
        await service.until('it is counted', async () => (await counted()) >= time, 10_000);
        assert.equal(await counted(), time);
      }
      async function counted(): Promise<number> {
        const runs = (await service.metric('cronjob_monitor_executions_total')) ?? 0;
        return runs + ((await service.metric('cronjob_monitor_executions_other_total')) ?? 0);
      }
    });
  });
}
