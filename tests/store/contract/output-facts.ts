import assert from 'node:assert/strict';
import { type OutputFacts, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  deleteHistory,
  findExecution,
  listExecutions,
  listFactPoints,
  listNames,
  listOutputRuns,
  pruneHistory,
  readHistories,
  recordRuns,
  settleRunFacts,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const says = (values: Readonly<Record<string, number>>, problems: readonly string[] = []): OutputFacts => ({
  values: new Map(Object.entries(values)),
  problems,
});
const page = { page: { limit: 100, offset: 0 } };

async function rowsOfFacts(store: Store, cronJobId: number): Promise<number> {
  return readNumber(store, `select count(*) as n from run_facts where cronjob_id = ${cronJobId}`);
}

export const outputFacts = contract('facts of the output', (test) => {
  test('they are written with the run, once, and read with it', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { output: says({ rows: 0, bytes: 1.2e9, drift: -0.125, most: 1e15 }) });
    await recordRuns(store, epoch, [run]);
    const again = await recordRuns(store, epoch, [run]);
    assert.deepEqual(again.known, [run.jobUid]);
    assert.equal(await rowsOfFacts(store, cronJob.id), 4);
    const [listed] = await listExecutions(store, { cronJobIds: [cronJob.id] }, page);
    assert.deepEqual(Object.fromEntries(listed?.facts ?? []), { rows: 0, bytes: 1.2e9, drift: -0.125, most: 1e15 });
    const found = await findExecution(store, { cronJobIds: [cronJob.id], jobName: run.jobName });
    assert.equal(found?.facts.get('most'), 1e15);
  });

  test('what the judge throws leaves neither run nor facts', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { output: says({ rows: 1 }) });
    await assert.rejects(
      recordRuns(store, epoch, [run], () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await rowsOfFacts(store, cronJob.id), 0);
    await recordRuns(store, epoch, [run]);
    assert.equal(await rowsOfFacts(store, cronJob.id), 1);
  });

  test('a CronJob has at most 32 names, and what is beyond is named', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const named = (from: number, count: number): OutputFacts =>
      says(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${from + index}`, index])));
    const runs = [0, 16, 32].map((from, index) =>
      aRun(cronJob, { createdAt: now + index * minuteMs, output: named(from, 16) }),
    );
    for (const run of runs) await recordRuns(store, epoch, [run]);
    assert.equal((await listNames(store, [cronJob.id])).get(cronJob.id)?.size, 32);
    const problems = async (): Promise<unknown> => {
      const [row] = await readRows(store, `select fact_problems from cronjobs where id = ${cronJob.id}`);
      return row?.['fact_problems'];
    };
    assert.match(String(await problems()), /"f47 is beyond the 32 facts that a CronJob may have"/);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + 9 * minuteMs, output: named(0, 1) })]);
    assert.equal(await problems(), null, 'a run that tells its facts well ends it');
  });

  test('the last successes with known facts, in the order of their end', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const at = (minutes: number) => ({ createdAt: now + minutes * minuteMs });
    await recordRuns(store, epoch, [
      aRun(cronJob, { ...at(0), output: says({ rows: 1 }) }),
      aRun(cronJob, { ...at(1), output: says({ rows: 2 }) }),
      aRun(cronJob, at(2)),
      aRun(cronJob, { ...at(3), status: 'failed', output: says({ rows: 3 }) }),
      aRun(cronJob, { ...at(4), factsUnknown: true }),
      aRun(cronJob, { ...at(5), inferred: true }),
      aRun(cronJob, { ...at(6), trigger: 'manual', scheduledAt: undefined, output: says({ rows: 4 }) }),
    ]);
    const told = async (count: number): Promise<unknown> =>
      (await listOutputRuns(store, [cronJob.id], count))
        .get(cronJob.id)
        ?.map(({ values, isScheduled }) => [values.get('rows'), isScheduled]);
    assert.deepEqual(await told(10), [
      [1, true],
      [2, true],
      [undefined, true],
      [4, false],
    ]);
    assert.deepEqual(await told(2), [
      [undefined, true],
      [4, false],
    ]);
    const { of } = await readHistories(store, [cronJob.id], { from: now, mostRows: 100 });
    assert.deepEqual(
      of.get(cronJob.id)?.runs.map(({ values }) => values?.get('rows') ?? (values ? 'none' : 'unknown')),
      [1, 2, 'none', 3, 'unknown', 'unknown', 4],
    );
  });

  test('what a log told later settles a run once', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const run = aRun(cronJob, { factsUnknown: true });
    await recordRuns(store, epoch, [run]);
    const settle = (output: OutputFacts) => store.fenced(epoch, (tx) => settleRunFacts(tx, run.jobUid, output));
    assert.equal(await settle(says({ rows: 7 })), cronJob.id);
    assert.equal(await settle(says({ rows: 8 })), undefined);
    const runs = (await listOutputRuns(store, [cronJob.id], 5)).get(cronJob.id);
    assert.equal(runs?.[0]?.values.get('rows'), 7);
  });

  test('the values of one fact over time, the newest where there are more', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const runs = [1, 2, 3].map((rows) => aRun(cronJob, { createdAt: now + rows * minuteMs, output: says({ rows }) }));
    await recordRuns(store, epoch, runs);
    const values = async (fromAt: number, most: number): Promise<number[]> =>
      (await listFactPoints(store, [cronJob.id], 'rows', { fromAt, most })).map(({ value }) => value);
    assert.deepEqual(await values(0, 9), [1, 2, 3]);
    assert.deepEqual(await values(0, 2), [2, 3]);
    assert.deepEqual(await values(now + 2 * minuteMs, 9), [2, 3]);
    assert.deepEqual(await listFactPoints(store, [cronJob.id], 'bytes', { fromAt: 0, most: 9 }), []);
  });

  test('they go with their runs, and a name with its last fact', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    const old = now - 40 * dayMs;
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: old, output: says({ rows: 1, gone: 2 }) }),
      aRun(cronJob, { createdAt: now, output: says({ rows: 3 }) }),
      aRun(other, { createdAt: now, output: says({ rows: 4 }) }),
    ]);
    const names = async (): Promise<string[]> => [
      ...((await listNames(store, [cronJob.id])).get(cronJob.id)?.keys() ?? []),
    ];
    await pruneHistory(store, { before: now - 30 * dayMs, cronJobIds: [cronJob.id], budgetMs: 60_000 });
    assert.deepEqual([await rowsOfFacts(store, cronJob.id), await names()], [1, ['rows']]);
    await deleteHistory(store, cronJob, { budgetMs: 60_000 });
    assert.deepEqual([await rowsOfFacts(store, cronJob.id), await names()], [0, []]);
    assert.equal(await rowsOfFacts(store, other.id), 1);
  });
});
