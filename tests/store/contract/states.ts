import assert from 'node:assert/strict';
import type { CronJobStatusFilter, HealthState } from '@cronjob-monitor/shared/contract';
import { statusOf, type CronJobFacts, type Execution, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  countCronJobs,
  countTargets,
  insertAlerts,
  listChanges,
  listCronJobs,
  moveAlertCounters,
  projectCronJob,
  recordRuns,
  recordSlots,
  deleteHistory,
  setBrokenTargets,
  setTargets,
  setWaiting,
  updateAlert,
  projectMonitor,
  type StoredSlot,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { randomUUID } from 'node:crypto';
import { anAlert } from '../alert-facts.ts';
import { aRun, now, projected, seen } from '../facts.ts';
import { readNumber } from '../rows.ts';
import { contract, type Bench } from '../suite.ts';

type Written = CronJobFacts & { readonly id: number };

/** The state as the row, the list and the filter of its status have it: they are always one. */
async function stateOf({ store }: Bench, { id, namespace, name }: Written): Promise<HealthState> {
  const [found] = await listCronJobs(store, { namespaces: [namespace], search: name });
  assert.equal(found?.id, id);
  assert.equal(found.status, statusOf(found.state));
  const { summary, states } = await countCronJobs(store, { namespaces: [namespace], search: name });
  const words: readonly CronJobStatusFilter[] = ['healthy', 'warning', 'critical', 'unknown'];
  const counted = words.filter((word) => summary[word] === 1);
  assert.deepEqual(counted, found.status === 'suspended' ? [] : [found.status]);
  assert.deepEqual(
    Object.entries(states).filter(([, count]) => count > 0),
    [[found.state, 1]],
  );
  return found.state;
}

/** A selected CronJob. */
async function watched(bench: Bench, changes: Partial<CronJobFacts> = {}): Promise<Written> {
  const { store, epoch } = bench;
  const cronJob = await projected(store, epoch, { namespace: `n${randomUUID().slice(0, 8)}`, ...changes });
  const uid = randomUUID();
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, {
      uid,
      namespace: cronJob.namespace,
      name: 'all',
      generation: 1,
      createdAt: now,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: {},
      evaluatedAt: now,
    });
    await setTargets(tx, uid, [{ cronJobUid: cronJob.uid, leading: true }], now);
  });
  return cronJob;
}

const failed = (cronJob: Written, changes: Partial<Execution> = {}): Execution =>
  aRun(cronJob, { status: 'failed', exitCode: 137, reason: 'OOMKilled', ...changes });

const slot = (cronJobId: number, at: number, outcome: StoredSlot['outcome']): StoredSlot => ({
  cronJobId,
  at,
  outcome,
  cause: undefined,
  message: undefined,
  epochAt: now - dayMs,
  inMaintenance: false,
});

export const states = contract('the state of a CronJob', (test) => {
  test('follows its runs: unknown before the first, failing after a failure, healthy after a success', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    assert.equal(await stateOf(bench, cronJob), 'unknown');
    const since = await readNumber(store, 'select max(id) as n from changes');
    await recordRuns(store, epoch, [failed(cronJob)]);
    assert.equal(await stateOf(bench, cronJob), 'failing');
    const told = (await listChanges(store, { id: since, limit: 10 })).filter(({ kind }) => kind === 'cronjob');
    assert.deepEqual(
      told.map(({ data }) => 'state' in data && [data.state, 'status' in data && data.status]),
      [['failing', 'warning']],
      'who listens hears of it once',
    );
    await recordRuns(store, epoch, [failed(cronJob, { createdAt: now + minuteMs })]);
    const [twice] = await listCronJobs(store, { namespaces: [cronJob.namespace] });
    assert.equal(twice?.failedRun?.createdAt, now + minuteMs, 'the newest failure is the one that is told of');
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + 2 * minuteMs })]);
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('does not depend on the order in which runs arrive', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + 10 * minuteMs })]);
    await recordRuns(store, epoch, [failed(cronJob, { createdAt: now })]);
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('follows, of two runs that end in one second, the one whose Job was made later, in whatever order they arrive', async (bench) => {
    const { store, epoch } = bench;
    for (const [isFailureLater, state] of [
      [true, 'failing'],
      [false, 'healthy'],
    ] as const) {
      for (const isFailureFirst of [true, false]) {
        const cronJob = await watched(bench);
        const finishedAt = now + 10 * minuteMs;
        const failure = failed(cronJob, { createdAt: now + (isFailureLater ? 2 : 1) * minuteMs, finishedAt });
        const success = aRun(cronJob, { createdAt: now + (isFailureLater ? 1 : 2) * minuteMs, finishedAt });
        for (const run of isFailureFirst ? [failure, success] : [success, failure])
          await recordRuns(store, epoch, [run]);
        assert.equal(
          await stateOf(bench, cronJob),
          state,
          `failure later: ${isFailureLater}, first: ${isFailureFirst}`,
        );
      }
    }
  });

  test('is mended by a run that was started by hand, and not spoiled by one', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [failed(cronJob)]);
    const byHand = { createdAt: now + 5 * minuteMs, trigger: 'manual', scheduledAt: undefined } as const;
    await recordRuns(store, epoch, [aRun(cronJob, { ...byHand, jobName: 'by-hand' })]);
    assert.equal(await stateOf(bench, cronJob), 'healthy');
    const again = failed(cronJob, { ...byHand, createdAt: now + 9 * minuteMs, jobName: 'again' });
    await recordRuns(store, epoch, [again]);
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('is failing while its newest slot is missed, until a later one is started', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob)]);
    await store.fenced(epoch, (tx) => recordSlots(tx, [slot(cronJob.id, now + 60 * minuteMs, 'missed')]));
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await store.fenced(epoch, (tx) => recordSlots(tx, [slot(cronJob.id, now + 90 * minuteMs, 'skippedForbid')]));
    assert.equal(await stateOf(bench, cronJob), 'healthy', 'the newest one was skipped');
    await store.fenced(epoch, (tx) => recordSlots(tx, [slot(cronJob.id, now + 120 * minuteMs, 'missed')]));
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await recordRuns(store, epoch, [
      aRun(cronJob, { createdAt: now + 125 * minuteMs, scheduledAt: now + 120 * minuteMs }),
    ]);
    assert.equal(await stateOf(bench, cronJob), 'healthy', 'it was started late');
  });

  test('is failing while a figure breaks a promise or a Job waits in vain', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob)]);
    const write = (work: (tx: Tx) => Promise<void>): Promise<void> => store.fenced(epoch, work);
    const broken = {
      monitorId: 1,
      subject: 'successRate',
      sinceAt: now,
      measured: 90,
      limit: 95,
      windowDays: 7,
    } as const;
    await write((tx) => setBrokenTargets(tx, [{ cronJobId: cronJob.id, broken: [broken] }]));
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await write((tx) => setBrokenTargets(tx, [{ cronJobId: cronJob.id, broken: [{ ...broken, sinceAt: now + 9 }] }]));
    const [known] = await listCronJobs(store, { namespaces: [cronJob.namespace] });
    assert.equal(known?.broken[0]?.sinceAt, now + 9, 'it is so since what was judged says');
    await write((tx) => setBrokenTargets(tx, [{ cronJobId: cronJob.id, broken: [] }]));
    assert.equal(await stateOf(bench, cronJob), 'healthy');
    const waiting = { jobName: 'backup-1', sinceAt: now, reason: 'InvalidImageName' };
    await write((tx) => setWaiting(tx, [{ cronJobId: cronJob.id, waiting }]));
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await write((tx) => setWaiting(tx, [{ cronJobId: cronJob.id, waiting: undefined }]));
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('is that of its worst alert, and failing while one is pending', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [aRun(cronJob)]);
    const alert = anAlert(cronJob.id, now, { state: 'pending', dueAt: now + minuteMs });
    const put = (work: (tx: Tx) => Promise<void>): Promise<void> =>
      store.fenced(epoch, async (tx) => {
        await work(tx);
        await moveAlertCounters(tx, [cronJob.id]);
      });
    await put((tx) => insertAlerts(tx, [alert]));
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await put((tx) => updateAlert(tx, { ...alert, state: 'active', dueAt: undefined }));
    assert.equal(await stateOf(bench, cronJob), 'warning');
    await put((tx) => updateAlert(tx, { ...alert, state: 'suppressed', severity: 'critical', dueAt: undefined }));
    assert.equal(await stateOf(bench, cronJob), 'critical');
    await put((tx) => updateAlert(tx, { ...alert, state: 'resolved', endedAt: now }));
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('tells suspension and a schedule that cannot be read, unless something is worse', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    const { id: _, ...facts } = cronJob;
    const see = (changes: object, more: object = {}): Promise<unknown> =>
      store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...facts, ...changes }, more)));
    await recordRuns(store, epoch, [aRun(cronJob)]);
    await see({ suspended: true });
    assert.equal(await stateOf(bench, cronJob), 'suspended');
    await see({ suspended: true }, { problem: 'unknownZone' });
    assert.equal(await stateOf(bench, cronJob), 'unknown');
    await recordRuns(store, epoch, [failed(cronJob, { createdAt: now + minuteMs })]);
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await see({ suspended: true });
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: now + 9 * minuteMs })]);
    assert.equal(await stateOf(bench, cronJob), 'suspended');
  });

  test('is failing until a run succeeds, though its history is removed', async (bench) => {
    const { store, epoch } = bench;
    const cronJob = await watched(bench);
    await recordRuns(store, epoch, [failed(cronJob)]);
    await deleteHistory(store, cronJob, { budgetMs: 10_000 });
    assert.equal(await stateOf(bench, cronJob), 'failing');
    await recordRuns(store, epoch, [aRun(cronJob, { createdAt: store.now() + minuteMs })]);
    assert.equal(await stateOf(bench, cronJob), 'healthy');
  });

  test('sorts worst first and adds up in the counts of a monitor', async (bench) => {
    const { store, epoch } = bench;
    const bad = await watched(bench);
    await recordRuns(store, epoch, [failed(bad)]);
    const filter = { namespaces: [bad.namespace] };
    const counts = [...(await countTargets(store, [bad.namespace])).values()][0];
    assert.deepEqual(counts?.states, { critical: 0, warning: 0, failing: 1, unknown: 0, suspended: 0, healthy: 0 });
    assert.equal(counts?.summary.warning, 1);
    const [first] = await listCronJobs(store, filter, {
      statuses: ['warning'],
      sort: { key: 'status', descending: false },
    });
    assert.equal(first?.name, bad.name);
  });
});
