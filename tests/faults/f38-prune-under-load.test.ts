import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import type { MonitorProcess } from '../servers/index.ts';
import { readNumber, readRows } from '../store/rows.ts';
import { openBeside } from './checker/index.ts';
import { startBench, until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { dayMs } from '@cronjob-monitor/shared/domain';

const cronJobs = 20;
const oldRows = timesOf({ ci: 200_000, soak: 5_000_000 }) === 5_000_000 ? 5_000_000 : 200_000;
const youngRows = 10_000;
const rowsAtOnce = 20_000;
const runsPerSecond = 500;
/** Runs come for so long at least, and at most. */
const leastSeconds = 8;
const mostSeconds = 20;
const keptDays = 30;
/** On a machine that has other things to do; the round itself may take a fifth of its interval. */
const mostMs = oldRows * 2;
/** A prune takes a fifth of its interval at most: all of it in one round. */
const config = { 'history-retention.default-days': keptDays, 'scheduler.prune-interval': '1h' };

/** F38: a long history is pruned while runs are recorded. */
for (const { name, skip, start } of killableDatabases().filter((one) => one.name === 'postgres')) {
  describe(
    `F38, ${oldRows} old runs are pruned while ${runsPerSecond} a second are recorded, ${name}`,
    { skip },
    () => {
      test('all that is old goes, nothing that is newer, and each new run is recorded once', async (t) => {
        const server = await start();
        const bench = await startBench({ controllers: false });
        const store = openBeside(server.settings);
        t.after(async () => {
          await store.close();
          await bench.close();
          await server.remove();
        });
        const options = { entryPoint: 'controller', storage: server.settings } as const;
        const first = await bench.prepare(options);
        await first.startReady();
        const owners = Array.from({ length: cronJobs }, (_, number) => putCronJob(bench.sim, `long-${number}`));
        const known = 'select count(*) as n from cronjobs';
        await until(
          'the CronJobs are known',
          async () => (await readNumber(store, known).catch(() => 0)) === owners.length,
        );
        await first.end();
        const cutoffAt = Date.now() - keptDays * dayMs;
        await fill(store, { rows: oldRows, newestAt: cutoffAt - 1_000, spanMs: 30 * dayMs });
        // From an hour after what is cut off today.
        await fill(store, {
          rows: youngRows,
          newestAt: Date.now() - dayMs,
          spanMs: (keptDays - 1) * dayMs - 3_600_000,
        });
        await readRows(store, 'analyze');

        const service = await bench.prepare({ ...options, config });
        await service.startReady();
        await service.untilLeading();
        const before = await writesOf(service);
        const beganAt = performance.now();
        let runs = 0;
        let pruned = false;
        while (!pruned || performance.now() - beganAt < leastSeconds * 1_000) {
          const passedSeconds = (performance.now() - beganAt) / 1_000;
          const due = Math.floor(Math.min(passedSeconds, mostSeconds) * runsPerSecond);
          for (; runs < due; runs++) endRun(owners[runs % owners.length] ?? assert.fail(), runs);
          await wait(50);
          const old = `select count(*) as n from executions where created_at < ${cutoffAt}`;
          const left: number = pruned ? 0 : await readNumber(store, old);
          pruned = left === 0;
          assert.ok(performance.now() - beganAt < mostMs, `${left} of ${oldRows} old runs are left`);
        }
        const lastedMs = performance.now() - beganAt;
        const recorded = 'select count(distinct job_uid) as n from executions';
        await until('all is recorded', async () => (await readNumber(store, recorded)) >= runs + youngRows, 120_000);
        const after = await writesOf(service);
        const slow = after.all - before.all - (after.quick - before.quick);
        t.diagnostic(
          `${runs} runs came, all that is old was gone after ${Math.round(lastedMs)} ms; ${after.all - before.all} statements that write, ` +
            `${((100 * slow) / (after.all - before.all)).toFixed(2)} % of them over 250 ms`,
        );
        assert.equal(await readNumber(store, 'select count(*) as n from executions'), runs + youngRows);
        assert.equal(await readNumber(store, `select count(*) as n from executions where node = 'young'`), youngRows);

        function endRun(owner: KubeObject, number: number): void {
          putJob(bench.sim, owner, { slotAt: slotNumber(number), status: completeStatus() });
        }
      });
    },
  );
}

/** Runs of all CronJobs, evenly over a span of time. */
async function fill(
  store: Store,
  of: { readonly rows: number; readonly newestAt: number; readonly spanMs: number },
): Promise<void> {
  const { rows, newestAt, spanMs } = of;
  const word = rows === youngRows ? 'young' : 'old';
  for (let first = 1; first <= rows; first += rowsAtOnce) {
    const last = Math.min(rows, first + rowsAtOnce - 1);
    await readRows(
      store,
      `insert into executions (cronjob_id, created_at, job_uid, recorded_at, attempts, status, "trigger", flags, job_name, node)
       select c.id, ${newestAt} - (g.seq * ${Math.floor(spanMs / rows)}::bigint), gen_random_uuid(), 0, 1, 0, 0, 0, '${word}-' || g.seq, '${word}'
       from generate_series(${first}, ${last}) as g(seq)
       join (select id, row_number() over (order by id) - 1 as place from cronjobs) c on c.place = g.seq % ${cronJobs}`,
    );
  }
  await readRows(
    store,
    'update cronjobs set oldest_run_at = (select min(created_at) from executions e where e.cronjob_id = cronjobs.id)',
  );
}

/** Statements that write so far: all of them, and those that took 250 ms at most, the wait for a connection included. */
async function writesOf(service: MonitorProcess): Promise<{ readonly all: number; readonly quick: number }> {
  const bucket = async (le: string): Promise<number> =>
    (await service.metric('cronjob_monitor_db_query_seconds_bucket', { kind: 'write', le })) ?? 0;
  return { all: await bucket('+Inf'), quick: await bucket('0.25') };
}
