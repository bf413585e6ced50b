import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, watch } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { lockElsewhere } from '../store/lock-elsewhere.ts';
import { readNumber, readRows } from '../store/rows.ts';
import { untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { startServiceBench, type ServiceBench } from './harness/service-bench.ts';

const times = timesOf({ ci: 2, soak: 20 });
const away = 'the database is away, work waits for it';
const busy = 'the database is busy, work waits for it';
/** The longest that the service waits for a lock before it says that it does. */
const busyMs = 5_000;
const isLeftOut = process.env['DATABASES']?.split(',').includes('sqlite') === false;
const noPrlimit =
  spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit: it is not installed (util-linux)';

/** F35: what can happen to a database that is a file. */
describe('F35, a SQLite file', { skip: isLeftOut }, () => {
  for (const lockedMs of [4_000, 8_000]) {
    for (let time = 1; time <= times; time++) {
      test(`locked by another process for ${lockedMs / 1_000} s: it waits, and records all (${time})`, async (t) => {
        const load = await startLoad(t);
        const { service } = load.bench;
        const { path } = load.bench.sqlite();
        const other = await lockElsewhere(path, lockedMs);
        await other.ended;
        await load.end();
        const repeated = (await service.metric('cronjob_monitor_db_retries_total', { reason: 'busy' })) ?? 0;
        // A lock that is given back in time is not reported; a longer one is.
        assert.equal(repeated + service.said(busy).length > 0, lockedMs > busyMs, service.tail());
        assert.deepEqual(service.said(away), [], 'a file that is locked is there');
        assert.equal(service.said('this replica leads').length, 1, 'it is the same process');
      });
    }
  }

  for (let time = 1; time <= times; time++) {
    test(
      `no room for it: it says so, and goes on when there is some (${time})`,
      { skip: noPrlimit ?? false },
      async (t) => {
        const load = await startLoad(t);
        const { service, store } = load.bench;
        limitFiles(service.pid, 64 * 1024);
        await service.until('it notices', () => service.said(away).length > 0);
        assert.equal((await fetch(`${service.probes}/healthz`)).status, 200);
        const recorded = await readNumber(store, 'select count(*) as n from executions');
        await load.over(40);
        assert.equal(await readNumber(store, 'select count(*) as n from executions'), recorded, 'nothing is written');
        limitFiles(service.pid, 'unlimited');
        await load.end();
        assert.deepEqual(await soundness(load.bench), 'ok');
      },
    );
  }

  for (let time = 1; time <= times; time++) {
    test(`killed in the middle of a checkpoint: the file is sound, nothing is lost (${time})`, async (t) => {
      const load = await startLoad(t, 2);
      const { service } = load.bench;
      const { path } = load.bench.sqlite();
      let tries = 0;
      do {
        tries++;
        await nextWriteTo(path, () => service.signal('SIGKILL'));
        await service.ended();
        const isInside = isInCheckpoint(path);
        assert.deepEqual(await soundness(load.bench), 'ok');
        await service.startReady();
        if (isInside) break;
      } while (tries < 20);
      t.diagnostic(`in the middle of one at the try number ${tries}`);
      assert.ok(tries < 20);
      await load.end();
      assert.deepEqual(await soundness(load.bench), 'ok');
    });
  }
});

interface Load {
  readonly bench: ServiceBench;
  /** So many more runs have ended. */
  over(more: number): Promise<void>;
  /** No more runs, and all are recorded. */
  end(): Promise<void>;
}

/** A service on a file, and runs that end all the time. */
async function startLoad(test: TestContext, everyMs = 20): Promise<Load> {
  const bench = await startServiceBench({ controllers: false });
  const enough = new AbortController();
  let runs = 0;
  const { sim, store, reader } = bench;
  const owners = Array.from({ length: 10 }, (_, number) => putCronJob(sim, `file-${number}`));
  const known = 'select count(*) as n from cronjobs';
  await until('the CronJobs are known', async () => (await readNumber(store, known)) === owners.length);
  const load = (async () => {
    for (; !enough.signal.aborted; await wait(everyMs)) {
      const owner = owners[runs % owners.length] ?? assert.fail();
      putJob(sim, owner, { slotAt: slotNumber(++runs), status: completeStatus() });
    }
  })();
  test.after(async () => {
    enough.abort();
    await load;
    await bench.close();
  });
  await until('runs are recorded', async () => (await readNumber(store, 'select count(*) as n from executions')) > 50);
  return {
    bench,
    over: async (more) => {
      const wanted = runs + more;
      await until('more runs have ended', () => runs >= wanted);
    },
    end: async () => {
      enough.abort();
      await load;
      await untilAllRecorded(reader, store, { over: runs, withinMs: 60_000 });
    },
  };
}

async function soundness({ store }: ServiceBench): Promise<unknown> {
  const [row] = await readRows(store, 'pragma integrity_check');
  return row?.['integrity_check'];
}

/** No file of the process grows beyond this: to it the disk is full. */
function limitFiles(pid: number, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:unlimited`], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** The file itself is written in a checkpoint alone: commits go to the log beside it. */
async function nextWriteTo(path: string, onWrite: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(path, () => {
    watcher.close();
    onWrite();
    resolve();
  });
  await promise;
}

/** By the index of the log: more pages were to be copied than are. https://www.sqlite.org/walformat.html#the_checkpoint_info_block */
function isInCheckpoint(path: string): boolean {
  if (!existsSync(`${path}-shm`)) return false;
  const index = readFileSync(`${path}-shm`);
  const [copied, attempted] = [index.readUInt32LE(96), index.readUInt32LE(128)];
  return attempted > copied;
}
