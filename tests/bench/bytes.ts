// What a recorded run takes on disk, all indexes included, on each database: 100,000 runs without logs, written as the service writes them.
import { type CronJobFacts, minuteMs } from '@cronjob-monitor/shared/domain';
import { systemClock } from '@cronjob-monitor/shared/process';
import { migrate, openStore, projectCronJobs, recordRuns, takeEpoch, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import { aRun, now, seen, someCronJob } from '../store/facts.ts';
import { Report } from './report.ts';

const runs = Number(process.env['BENCH_EXECUTIONS'] ?? 100_000);
/** How far back the history goes: 30 days are the default, in which it stands for most of its life. */
const days = Number(process.env['BENCH_DAYS'] ?? 30);
/** Each runs every 15 minutes: the median of a real fleet. */
const everyMs = 15 * minuteMs;
const cronJobs = Math.max(1, Math.round((runs * everyMs) / (days * 86_400_000)));
/** Of a history as long as it stands by default; shorter and longer ones show how it grows. */
const budgets = days === 30 ? { sqlite: 260, postgres: 300, mysql: 320 } : undefined;
const report = new Report(
  'bytes',
  `${runs} runs: ${days} days of ${cronJobs} CronJobs that run every 15 minutes, in the order of time`,
);

/** Bytes of the table and of its indexes. */
type Sizes = Readonly<Record<'table' | 'indexes', number>>;

for (const database of testDatabases()) {
  if (database.skip === undefined) await measure(database);
  else report.note(`${database.name}: ${database.skip}`);
}
report.end();

async function measure(database: TestDatabase): Promise<void> {
  const store = openStore(await database.fresh(), { clock: systemClock, log: new RecordingLogger() });
  try {
    await migrate(store, { version: 'bench' });
    const epoch = await takeEpoch(store, 'bench');
    const fleet = Array.from({ length: cronJobs }, () => someCronJob({ createdAt: now - runs * minuteMs }));
    await store.fenced(epoch, (tx) =>
      projectCronJobs(
        tx,
        fleet.map((facts) => seen(facts)),
      ),
    );
    const before = await sizesOf(store);
    await record(store, epoch, fleet);
    const after = await sizesOf(store);
    const [row, indexes] = [(after.table - before.table) / runs, (after.indexes - before.indexes) / runs];
    report.figure(`${database.name}: the row`, row, 'bytes');
    report.figure(`${database.name}: a run with its indexes`, row + indexes, 'bytes', budgets?.[database.name]);
  } finally {
    await store.close();
    await database.remove();
  }
}

/** Round by round each CronJob has its run, a second after the other. */
async function record(store: Store, epoch: number, fleet: readonly CronJobFacts[]): Promise<void> {
  const rounds = Math.ceil(runs / fleet.length);
  for (let round = 0; round < rounds; round++) {
    const slotAt = now - (rounds - round) * everyMs;
    const batch = fleet.map((cronJob, index) =>
      aRun(cronJob, {
        scheduledAt: slotAt + index * 1_000,
        createdAt: slotAt + index * 1_000,
        ...(index % 50 === 7 && { status: 'failed', exitCode: 1, reason: 'Error', jobReason: 'BackoffLimitExceeded' }),
      }),
    );
    for (let from = 0; from < batch.length; from += 100) await recordRuns(store, epoch, batch.slice(from, from + 100));
  }
}

async function sizesOf(store: Store): Promise<Sizes> {
  const ask = async (sql: string): Promise<Readonly<Record<string, unknown>>[]> => [
    ...store.dialect.rowsOf(await store.sql.raw(sql)),
  ];
  switch (store.dialect.name) {
    case 'sqlite': {
      const pages = await ask(
        "select s.name = 'executions' as is_table, sum(s.pgsize) as bytes from dbstat s join sqlite_master m on m.name = s.name " +
          "where m.tbl_name = 'executions' group by 1",
      );
      const bytes = (isTable: number): number =>
        Number(pages.find((page) => Number(page['is_table']) === isTable)?.['bytes'] ?? 0);
      return { table: bytes(1), indexes: bytes(0) };
    }
    case 'postgres': {
      await ask('vacuum analyze executions');
      const [row] = await ask("select pg_table_size('executions') as t, pg_indexes_size('executions') as i");
      return { table: Number(row?.['t']), indexes: Number(row?.['i']) };
    }
    default: {
      await ask('analyze table executions');
      const [row] = await ask(
        "select data_length as t, index_length as i from information_schema.tables where table_name = 'executions' and table_schema = database()",
      );
      return { table: Number(row?.['t']), indexes: Number(row?.['i']) };
    }
  }
}
