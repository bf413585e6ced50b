import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { takeEpoch } from '@cronjob-monitor/shared/store';
import { readNumber, readRows } from '../store/rows.ts';
import { assertEpochsInOrder, untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { holdCommit } from './harness/held-commit.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { startServiceBench } from './harness/service-bench.ts';
import { shiftOfSuite } from './harness/shift.ts';

const counts = { ci: 1, soak: 20 };
const isLeftOut = process.env['DATABASES']?.split(',').includes('sqlite') === false;

/** F6: a leader that stands still in the middle of a transaction while another raises the epoch. */
for (const database of killableDatabases()) {
  describe(`F6, the old leader holds an open transaction, ${database.name}`, { skip: database.skip }, () => {
    const shift = shiftOfSuite(database, { count: 2, monitor: {} });
    /** When the held COMMIT arrives: the transaction is over by then, or it was in time. */
    const arrivals = { late: 'its COMMIT comes after the raise', early: 'its COMMIT comes before the raise' } as const;
    let runs = 0;

    for (const [when, title] of Object.entries(arrivals)) {
      for (let time = 1; time <= timesOf(counts); time++) {
        test(`${title}: the run is recorded once, in the order of epochs (${time})`, async (t) => {
          const { bench, server } = shift();
          const { sim, store, reader } = bench;
          const leader = await bench.untilLed();
          const before = Number(leader.process.said('this replica leads').at(-1)?.['epoch']);
          const owner = putCronJob(sim, `held-${when}-${time}`);
          await until('the CronJob is known', async () => {
            const known = 'select count(*) as n from cronjobs where name = ?';
            return (await readNumber(store, known, [owner.metadata.name])) === 1;
          });
          const other = bench.replicas.find((replica) => replica !== leader) ?? assert.fail();
          const commit = holdCommit(leader.database, () => leader.process.signal('SIGSTOP'));
          const job = putJob(sim, owner, { slotAt: slotNumber(++runs), status: completeStatus() });
          await commit.held;
          if (when === 'early') {
            await other.process.until(
              'its raise waits',
              () => other.process.saidOfLate('the Lease is ours').length > 0,
            );
            commit.release();
          }
          await bench.untilLed(leader);
          commit.release();
          leader.process.signal('SIGCONT');
          await leader.process.ended(2_000);
          await untilAllRecorded(reader, store, { over: runs, withinMs: 20_000 });
          const epochs = await readRows(
            store,
            `select distinct epoch from changes where kind = 'execution' and data like '%"${job.metadata.name}"%'`,
          );
          const written = epochs.map(({ epoch }) => Number(epoch));
          assert.deepEqual(written, [when === 'early' ? before : before + 1], server.settings.type);
          t.diagnostic(`recorded in epoch ${written.join(', ')}, the raise was to ${before + 1}`);
          await assertEpochsInOrder(store);
          await shift().untilAllReady();
        });
      }
    }
  });
}

describe('F6, the old leader holds an open transaction, sqlite', { skip: isLeftOut }, () => {
  for (let time = 1; time <= timesOf(counts); time++) {
    test(`the raise waits for it, and the old one ends at its next write (${time})`, async (t) => {
      const bench = await startServiceBench({ controllers: false });
      t.after(() => bench.close());
      const { sim, service, reader, store } = bench;
      const owners = Array.from({ length: 20 }, (_, number) => putCronJob(sim, `file-${number}`));
      const known = 'select count(*) as n from cronjobs';
      await until('the CronJobs are known', async () => (await readNumber(store, known)) === owners.length);
      await store.sql.raw('pragma busy_timeout = 0');
      let runs = 0;
      for (let isInside = false; !isInside;) {
        for (const owner of owners) putJob(sim, owner, { slotAt: slotNumber(++runs), status: completeStatus() });
        for (let tries = 0; tries < 20 && !isInside; tries++) {
          await wait(1);
          service.signal('SIGSTOP');
          isInside = await isLocked();
          if (!isInside) service.signal('SIGCONT');
        }
      }
      await assert.rejects(takeEpoch(store, 'another'), { code: 'busy' });
      service.signal('SIGCONT');
      await until('the epoch is raised', async () =>
        takeEpoch(store, 'another').then(
          () => true,
          () => false, // it is in the way still
        ),
      );
      for (const owner of owners) putJob(sim, owner, { slotAt: slotNumber(++runs), status: completeStatus() });
      const { code } = await service.ended();
      assert.equal(code, 1, service.tail());
      await service.startReady();
      await untilAllRecorded(reader, store, { over: runs, withinMs: 20_000 });
      assert.equal(await assertEpochsInOrder(store), 2, 'the one that raised it has written nothing');

      async function isLocked(): Promise<boolean> {
        try {
          await store.sql.raw('begin immediate');
          await store.sql.raw('rollback');
          return false;
        } catch {
          return true; // busy: another is in the middle of a transaction
        }
      }
    });
  }
});
