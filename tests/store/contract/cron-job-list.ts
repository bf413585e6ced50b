import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { slaVerdicts } from '@cronjob-monitor/shared/contract';
import {
  countMonitorPhases,
  countCronJobs,
  countTargets,
  findCronJob,
  findMonitor,
  forgetCronJob,
  forgetMonitor,
  gatherFigures,
  getSchemaState,
  listChannels,
  listCronJobs,
  listCronJobsById,
  listIdsInOrder,
  listMonitors,
  listMonitorsOf,
  listWindowCounts,
  migrate,
  projectChannel,
  projectCronJob,
  projectMonitor,
  pruneHistory,
  rateDue,
  recordRuns,
  recordSlots,
  setTargets,
  type CatalogCronJob,
  type CronJobFilter,
  type CronJobOrder,
} from '@cronjob-monitor/shared/store';
import { listFaults } from '../list-faults.ts';
import { aRun, now, projected, seen, someCronJob } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';
import { dayMs, minuteMs } from '@cronjob-monitor/shared/domain';

const namesOf = (cronJobs: readonly CatalogCronJob[]): string[] => cronJobs.map(({ name }) => name);

/** A monitor that selects these CronJobs. */
async function watch(
  { store, epoch }: Bench,
  name: string,
  uids: readonly string[],
  leading = true,
  sla: object = {},
): Promise<string> {
  const uid = randomUUID();
  const monitor = {
    uid,
    namespace: 'prod',
    name,
    generation: 1,
    createdAt: now,
    spec: { sla: { windowDays: 14, ...sla } },
    phase: 'Active' as const,
    conditions: [{ type: 'Ready', status: 'True' }],
    counts: {},
    evaluatedAt: now,
  };
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, monitor);
    await setTargets(
      tx,
      uid,
      uids.map((cronJobUid) => ({ cronJobUid, leading })),
      now,
    );
  });
  return uid;
}

export const cronJobList = contract('the list of CronJobs', (test) => {
  test('filters, sorts and pages in the database', async (bench) => {
    const { store, epoch } = bench;
    const backup = await projected(store, epoch, { namespace: 'prod', name: 'backup' });
    const etl = await projected(store, epoch, { namespace: 'data', name: 'etl_1', suspended: true });
    const report = await projected(store, epoch, { namespace: 'prod', name: 'report' });
    await projected(store, epoch, { namespace: 'prod', name: 'unselected' });
    await watch(bench, 'dr', [backup.uid, etl.uid, report.uid]);
    await watch(bench, 'second', [backup.uid], false);
    await recordRuns(store, epoch, [aRun(backup, { createdAt: now - minuteMs })]);

    const all = await listCronJobs(store, {});
    assert.deepEqual(namesOf(all), ['etl_1', 'backup', 'report'], 'by namespace and name');
    assert.deepEqual(
      all.map(({ status }) => status),
      ['unknown', 'healthy', 'unknown'],
    );
    assert.equal(all[1]?.lastRun?.status, 'success');
    assert.equal(all[1]?.uid, backup.uid);

    assert.deepEqual(namesOf(await listCronJobs(store, { namespaces: ['prod'] })), ['backup', 'report']);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: 'E' })), ['etl_1', 'report']);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '_' })), ['etl_1'], 'no character stands for others');
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '%' })), []);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '!' })), []);
    assert.deepEqual(namesOf(await listCronJobs(store, { monitor: { namespace: 'prod', name: 'second' } })), [
      'backup',
    ]);
    assert.deepEqual(namesOf(await listCronJobs(store, {}, { statuses: ['unknown', 'suspended'] })), [
      'etl_1',
      'report',
    ]);

    const by = (key: 'status' | 'name' | 'lastSuccess', descending = false) =>
      listCronJobs(store, {}, { sort: { key, descending } }).then(namesOf);
    assert.deepEqual(await by('status'), ['etl_1', 'report', 'backup']);
    assert.deepEqual(await by('status', true), ['backup', 'etl_1', 'report']);
    assert.deepEqual(await by('name', true), ['report', 'etl_1', 'backup']);
    assert.deepEqual(await by('lastSuccess'), ['backup', 'etl_1', 'report'], 'unknown values are last');
    assert.deepEqual(await by('lastSuccess', true), ['backup', 'etl_1', 'report'], 'both ways');
    const page = await listCronJobs(
      store,
      {},
      { sort: { key: 'name', descending: false }, page: { limit: 1, offset: 1 } },
    );
    assert.deepEqual(namesOf(page), ['etl_1']);

    assert.deepEqual(await countCronJobs(store, {}, { statuses: ['unknown'] }), {
      total: 2,
      summary: { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 2 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 2, suspended: 0, healthy: 1 },
    });
    assert.deepEqual((await countCronJobs(store, { namespaces: ['nowhere'] })).total, 0);

    const monitors = await listMonitorsOf(store, [backup.id]);
    assert.deepEqual(
      monitors.map(({ name, leading }) => [name, leading]),
      [
        ['dr', true],
        ['second', false],
      ],
    );
    assert.equal((await listMonitorsOf(store)).length, 4);
    const counts = await countTargets(store);
    const dr = monitors[0]?.monitorId ?? 0;
    assert.deepEqual(counts.get(dr), {
      cronJobs: 3,
      summary: { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 2 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 2, suspended: 0, healthy: 1 },
    });
  });

  test('keeps what was removed as long as a run of it is kept, once for each name', async (bench) => {
    const { store, epoch } = bench;
    const gone = await projected(store, epoch, { namespace: 'old', name: 'gone' });
    const empty = await projected(store, epoch, { namespace: 'old', name: 'empty' });
    const first = await projected(store, epoch, { namespace: 'old', name: 'again' });
    await recordRuns(store, epoch, [aRun(gone), aRun(first)]);
    for (const { uid } of [gone, empty, first]) await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now));
    const second = await projected(store, epoch, { namespace: 'old', name: 'again' });
    await watch(bench, 'old', [second.uid]);

    const present = { namespaces: ['old'] };
    assert.deepEqual(namesOf(await listCronJobs(store, present)), ['again']);
    const all = await listCronJobs(store, { ...present, includeRemoved: true });
    assert.deepEqual(namesOf(all), ['again', 'gone']);
    assert.equal(all[0]?.uid, second.uid);
    assert.equal(all[1]?.deletedAt, now);
    assert.equal((await findCronJob(store, 'old', 'again'))?.uid, second.uid);
    assert.equal((await findCronJob(store, 'old', 'gone'))?.uid, gone.uid);
    assert.equal(await findCronJob(store, 'old', 'never'), undefined);
  });

  test('finds monitors and channels that exist, and says of others that they were deleted', async (bench) => {
    const { store, epoch } = bench;
    const uid = await watch(bench, 'short-lived', []);
    const { monitor } = await findMonitor(store, { namespace: 'prod', name: 'short-lived' });
    assert.equal(monitor?.uid, uid);
    assert.deepEqual(monitor.spec, { sla: { windowDays: 14 } });
    assert.deepEqual(monitor.conditions, [{ type: 'Ready', status: 'True' }]);
    await store.fenced(epoch, (tx) => forgetMonitor(tx, uid, now));
    assert.deepEqual(await findMonitor(store, { namespace: 'prod', name: 'short-lived' }), {
      monitor: undefined,
      wasDeleted: true,
    });
    assert.equal((await findMonitor(store, { namespace: 'prod', name: 'never' })).wasDeleted, false);
    assert.ok(!(await listMonitors(store)).some(({ name }) => name === 'short-lived'));
    const listed = Map.groupBy(await listMonitors(store), ({ phase }) => phase);
    assert.deepEqual(
      await countMonitorPhases(store),
      new Map([...listed].map(([phase, monitors]) => [phase, monitors.length])),
    );

    const channel = {
      uid: randomUUID(),
      name: 'team-chat',
      type: 'chat' as const,
      generation: 1,
      spec: {},
      ready: true,
      reason: 'Validated',
      message: '',
      secretVersion: undefined,
    };
    await store.fenced(epoch, (tx) => projectChannel(tx, channel, now));
    assert.deepEqual(await listChannels(store), [
      { name: 'team-chat', type: 'chat', ready: true, reason: 'Validated' },
    ]);
  });
});

export const orderedLists = contract('lists in an order', (test) => {
  /** Four CronJobs that a monitor selects: two have run, the first without fault; one waits for its run and one is suspended. */
  async function fourOf(bench: Bench, namespace: string) {
    const { store, epoch, clock } = bench;
    const at = clock.now();
    const put = (name: string, nextRunAt: number | undefined, suspended = false) => {
      const facts = someCronJob({ namespace, name, suspended, schedule: '0 3 * * *' });
      return store
        .fenced(epoch, (tx) => projectCronJob(tx, seen(facts, { nextRunAt })))
        .then(({ id }) => ({ ...facts, id }));
    };
    const a = await put('a', at + 120 * minuteMs);
    const b = await put('b', at - minuteMs);
    const c = await put('c', at + 180 * minuteMs);
    const d = await put('d', undefined, true);
    await watch(
      bench,
      namespace,
      [a, b, c, d].map(({ uid }) => uid),
    );
    await recordRuns(store, epoch, [
      aRun(b, { createdAt: at - 3 * minuteMs }),
      aRun(c, { createdAt: at - 5 * minuteMs, finishedAt: at - 3 * minuteMs, status: 'failed', exitCode: 1 }),
    ]);
    return { a, b, c, d, at, names: { namespaces: [namespace] } };
  }
  const inOrder = async ({ store }: Bench, filter: CronJobFilter, options: CronJobOrder): Promise<string> =>
    namesOf(await listCronJobs(store, filter, options)).join(' ');

  test('what is not known comes last both ways, ties follow the name, and pages are parts of the whole', async (bench) => {
    const { names } = await fourOf(bench, 'orders');
    const wanted = {
      name: ['a b c d', 'd c b a'],
      status: ['c a d b', 'b a d c'],
      activeAlerts: ['a b c d', 'a b c d'],
      successRate: ['c b a d', 'b c a d'],
      verdict: ['c b a d', 'a d b c'],
      lastRun: ['c b a d', 'b c a d'],
      duration: ['b c a d', 'c b a d'],
      lastSuccess: ['b a c d', 'b a c d'],
      nextRun: ['b a c d', 'c a b d'],
    } as const;
    for (const [key, ways] of Object.entries(wanted) as [keyof typeof wanted, readonly [string, string]][]) {
      for (const [descending, whole] of [
        [false, ways[0]],
        [true, ways[1]],
      ] as const) {
        const sort = { key, descending };
        assert.equal(await inOrder(bench, names, { sort }), whole, `${key}, descending: ${descending}`);
        for (let offset = 0; offset <= 4; offset++) {
          const page = await inOrder(bench, names, { sort, page: { limit: 2, offset } });
          assert.equal(
            page,
            whole
              .split(' ')
              .slice(offset, offset + 2)
              .join(' '),
            `${key} from ${offset} on`,
          );
        }
      }
    }
  });

  test('a next run that has passed, or was never computed, stands where it comes next', async (bench) => {
    const { store } = bench;
    const { b, at, names } = await fourOf(bench, 'passed');
    const sort = { key: 'nextRun', descending: false } as const;
    // It waits for its run: 3 in the morning is not known to the store, the caller computes it.
    const nextRunOf = ({ id }: { readonly id: number }) => (id === b.id ? at + 150 * minuteMs : undefined);
    assert.equal(await inOrder(bench, names, { sort, nextRunOf }), 'a b c d');
    assert.equal(await inOrder(bench, names, { sort: { ...sort, descending: true }, nextRunOf }), 'c b a d');
    for (let offset = 0; offset <= 4; offset++) {
      const ids = await listIdsInOrder(store, names, { sort, nextRunOf, page: { limit: 1, offset } });
      assert.equal(namesOf(await listCronJobsById(store, ids)).join(''), 'abcd'.charAt(offset));
    }
    assert.equal(await inOrder(bench, names, { sort, nextRunOf: () => undefined }), 'a c b d', 'it never runs again');
  });

  test('rates and verdicts follow each run at once, and each change of what the monitor asks', async (bench) => {
    const { store, epoch } = bench;
    const { b, at, names } = await fourOf(bench, 'rates');
    const verdictsOf = async () => {
      const found = await Promise.all(
        slaVerdicts.map(async (verdict) => [verdict, await inOrder(bench, { ...names, verdicts: [verdict] }, {})]),
      );
      return Object.fromEntries(found.filter(([, list]) => list !== ''));
    };
    assert.deepEqual(await verdictsOf(), { pending: 'c', atRisk: 'b', noData: 'a d' });
    const counts = async () => (await listWindowCounts(store, [b.id])).get(b.id);
    assert.deepEqual(await counts(), { success: 1, failed: 0 });
    await recordRuns(store, epoch, [
      aRun(b, { createdAt: at - 20 * dayMs }),
      aRun(b, { createdAt: at - minuteMs, trigger: 'manual' }),
      ...Array.from({ length: 30 }, (_, number) => aRun(b, { createdAt: at - dayMs - number * minuteMs })),
    ]);
    assert.deepEqual(await counts(), { success: 31, failed: 0 }, 'neither of another window nor by hand');
    assert.deepEqual(await verdictsOf(), { pending: 'c', met: 'b', noData: 'a d' });
    const { monitor } = await findMonitor(store, { namespace: 'prod', name: 'rates' });
    assert.ok(monitor);
    const ask = (spec: unknown) =>
      store.fenced(epoch, (tx) => projectMonitor(tx, { ...monitor, phase: 'Active', spec, generation: 2 }));
    await ask({ sla: { windowDays: 30, minRuns: 40 } });
    assert.deepEqual(await counts(), { success: 32, failed: 0 }, 'the window is longer');
    assert.deepEqual(await verdictsOf(), { noData: 'a b c d' });
    await ask({ sla: { enabled: false } });
    assert.deepEqual(await verdictsOf(), { off: 'a b c d' });
  });

  test('a prune leaves what the window counted, in the list as in the targets, though runs are kept for less long', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await projected(store, epoch, { namespace: 'pruned' });
    await watch(bench, 'pruned', [cronJob.uid], true, { minSuccessRate: 45, countMissed: true });
    const record = async (at: number): Promise<void> => {
      await recordRuns(store, epoch, [aRun(cronJob, { createdAt: at })]);
      const slot = { cronJobId: cronJob.id, at: at + minuteMs, outcome: 'missed', inMaintenance: false } as const;
      await store.fenced(epoch, (tx) =>
        recordSlots(tx, [{ ...slot, epochAt: at - dayMs, cause: undefined, message: undefined }]),
      );
    };
    for (let day = 0; day < 7; day++) await record(now - day * dayMs);
    const prune = (before: number) => pruneHistory(store, { before, cronJobIds: [cronJob.id], budgetMs: 60_000 });
    const counted = async (): Promise<unknown[]> => {
      const listed = (await listWindowCounts(store, [cronJob.id])).get(cronJob.id);
      const figures = await gatherFigures(store, [cronJob.id], store.now(), { withPrevious: false });
      const { current, judged } = figures.get(cronJob.id) ?? {};
      return [listed, { success: current?.success, failed: current?.failed }, judged?.current.failed];
    };
    const all = { success: 7, failed: 0 };
    await rateDue(store, epoch, { of: [cronJob.id] });
    assert.deepEqual(await counted(), [all, all, 7], 'each of its seven days has a run and a missed one');
    assert.deepEqual(await prune(now - 3 * dayMs).then(({ executions, slots }) => [executions, slots]), [3, 3]);
    assert.deepEqual(await counted(), [all, all, 7]);
    // Of the day in which the window begins the part that lies in it cannot be told any more.
    const beginsAt = store.now() - 14 * dayMs;
    for (const at of [beginsAt - 2 * minuteMs, beginsAt + 5 * minuteMs]) await record(at);
    await rateDue(store, epoch, { of: [cronJob.id] });
    await prune(now);
    const [listed, current] = await counted();
    assert.deepEqual(listed, current);
    assert.deepEqual(await listFaults(store), []);
  });

  test('a run leaves the window with time, at the latest when the leader counts again', async (bench) => {
    const { store, epoch, clock } = bench;
    const { b, c } = await fourOf(bench, 'leaving');
    const successes = async () => (await listWindowCounts(store, [b.id, c.id])).get(b.id)?.success;
    assert.equal(await successes(), 1);
    clock.offsetMs += 15 * dayMs;
    try {
      assert.equal(await successes(), 1);
      await rateDue(store, epoch, { of: [c.id] });
      assert.equal(await successes(), 1, 'another one was counted');
      await rateDue(store, epoch, { of: [b.id] });
      assert.equal(await successes(), 0);
      // The last of all that are due.
      await store.sql.raw(`update cronjob_list set rated_at = ${clock.now() - dayMs}`);
      await store.sql.raw(
        `update cronjob_list set win_ok = 1, rated_at = ${clock.now() - dayMs / 2} where cronjob_id = ${b.id}`,
      );
      await rateDue(store, epoch, { of: 'longestAgo' });
      assert.equal(await successes(), 0, 'a round of a small cluster is of all');
    } finally {
      clock.offsetMs -= 15 * dayMs;
      await rateDue(store, epoch, { of: 'all' });
    }
  });

  test('an upgraded database has the list of all its CronJobs at once, and a new leader mends what an earlier release wrote beside it', async (bench) => {
    const { store, epoch } = bench;
    const { a, names } = await fourOf(bench, 'upgraded');
    await store.sql.raw('drop table cronjob_list');
    await store.sql.raw('alter table cronjobs drop column earlier_words');
    await store.sql.raw('delete from schema_version where version >= 10');
    await store.sql.raw('delete from schema_steps where version >= 10');
    assert.equal((await getSchemaState(store)).state, 'migrating');
    await migrate(store, { version: 'test' });
    assert.deepEqual(await listFaults(store), []);
    assert.equal(await inOrder(bench, names, { sort: { key: 'successRate', descending: true } }), 'b c a d');

    await store.sql.raw(`update cronjobs set suspended = 1, running = 3 where id = ${a.id}`);
    await store.sql.raw(`delete from cronjob_list where name = 'd'`);
    assert.equal((await listFaults(store)).length, 3 + 5, 'a of this test, d of all');
    await rateDue(store, epoch, { of: 'all' });
    assert.deepEqual(await listFaults(store), []);
  });
});
