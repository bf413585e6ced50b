import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type CronJobFacts, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  findOldestWatermark,
  forgetCronJob,
  listLedgerRuns,
  listLedgers,
  moveWatermarks,
  projectCronJob,
  projectMonitor,
  putActiveJobs,
  recordRuns,
  setTargets,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected, seen } from '../facts.ts';
import { contract } from '../suite.ts';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

const mark = (cronJobId: number, evaluatedThroughAt: number, waitingSlotAt?: number, anchorAt?: number) => ({
  cronJobId,
  evaluatedThroughAt,
  waitingSlotAt,
  anchorAt,
});

async function watched(store: Store, epoch: number, cronJobs: readonly CronJobFacts[], at: number): Promise<string> {
  const uid = randomUUID();
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, {
      uid,
      namespace: 'prod',
      name: uid,
      generation: 1,
      createdAt: now,
      spec: {},
      phase: 'Active',
      conditions: [],
      counts: {},
      evaluatedAt: undefined,
    });
    await setTargets(
      tx,
      uid,
      cronJobs.map((cronJob) => ({ cronJobUid: cronJob.uid, leading: true })),
      at,
    );
  });
  return uid;
}

export const watermarks = contract('watermarks', (test) => {
  test('begin at the first sight of a CronJob, with its spec', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch, { schedule: '0 * * * *', policy: 'Forbid', deadlineS: 60 });
    const ledger = (await listLedgers(store, [cronJob.id, 999_999])).get(cronJob.id);
    assert.equal(ledger?.evaluatedThroughAt, now);
    assert.equal(ledger.wasEvaluated, false);
    assert.equal(ledger.waitingSlotAt, undefined);
    assert.deepEqual([ledger.uid, ledger.namespace, ledger.name], [cronJob.uid, cronJob.namespace, cronJob.name]);
    assert.deepEqual(
      ledger.epochs.map(({ schedule, policy, deadlineS, fromAt, toAt }) => ({
        schedule,
        policy,
        deadlineS,
        fromAt,
        toAt,
      })),
      [{ schedule: '0 * * * *', policy: 'Forbid', deadlineS: 60, fromAt: now, toAt: undefined }],
    );
  });

  test('move for many CronJobs at once, each to its own instant', async ({ store, epoch }) => {
    const cronJobs = [];
    for (let count = 0; count < 4; count++) cronJobs.push(await projected(store, epoch));
    const [a, b, c, d] = cronJobs.map(({ id }) => id) as [number, number, number, number];
    const move = (marks: Parameters<typeof moveWatermarks>[1]): Promise<void> =>
      store.fenced(epoch, (tx) => moveWatermarks(tx, marks));
    await move([mark(a, now + 1), mark(b, now + 9, now + 10, now - 7), mark(c, now + 1)]);
    await move([mark(a, now + 5, undefined, now - 3)]);
    const ledgers = await listLedgers(store, [a, b, c, d]);
    assert.deepEqual(
      [a, b, c, d].map((id) => {
        const ledger = ledgers.get(id);
        return ledger && [ledger.evaluatedThroughAt - now, ledger.waitingSlotAt, ledger.anchorAt, ledger.wasEvaluated];
      }),
      [
        [5, undefined, now - 3, true],
        [9, now + 10, now - 7, true],
        [1, undefined, undefined, true],
        [0, undefined, undefined, false],
      ],
    );
  });

  test('leave only the specs that held since', async ({ store, epoch }) => {
    const facts = await projected(store, epoch, { schedule: '0 * * * *' });
    const edit = (schedule: string, at: number): Promise<unknown> =>
      store.fenced(epoch, (tx) => projectCronJob(tx, seen({ ...facts, schedule }, { seenAt: at })));
    await edit('5 * * * *', now + minuteMs);
    await edit('10 * * * *', now + 2 * minuteMs);
    const schedules = async (): Promise<unknown> =>
      (await listLedgers(store, [facts.id])).get(facts.id)?.epochs.map(({ schedule }) => schedule);
    assert.deepEqual(await schedules(), ['0 * * * *', '5 * * * *', '10 * * * *']);
    await store.fenced(epoch, (tx) => moveWatermarks(tx, [mark(facts.id, now + minuteMs)]));
    assert.deepEqual(await schedules(), ['5 * * * *', '10 * * * *']);
  });

  test('name the oldest of what monitors watch', async ({ store, epoch }) => {
    const [first, second, gone, unwatched] = [
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
    ];
    await watched(store, epoch, [first, second, gone], now);
    const marks = [mark(first.id, now + 9), mark(second.id, now + 4), mark(gone.id, now + 2), mark(unwatched.id, 5)];
    await store.fenced(epoch, (tx) => moveWatermarks(tx, marks));
    assert.equal(await findOldestWatermark(store), now + 2);
    await store.fenced(epoch, (tx) => forgetCronJob(tx, gone.uid, now));
    assert.equal(await findOldestWatermark(store), now + 4);
  });

  test('jump over a time in which no monitor watched', async ({ store, epoch }) => {
    const [left, shared] = [await projected(store, epoch), await projected(store, epoch)];
    const monitor = await watched(store, epoch, [left, shared], now);
    await watched(store, epoch, [shared], now);
    const marks = [mark(left.id, now + 1, now + 2), mark(shared.id, now + 1, now + 2)];
    await store.fenced(epoch, (tx) => moveWatermarks(tx, marks));
    const target = (cronJobs: readonly CronJobFacts[], at: number, selectedSinceAt = at): Promise<unknown> =>
      store.fenced(epoch, (tx) =>
        setTargets(
          tx,
          monitor,
          cronJobs.map((cronJob) => ({ cronJobUid: cronJob.uid, leading: true, selectedSinceAt })),
          at,
        ),
      );
    await target([], now + minuteMs);
    await target([left, shared], now + dayMs);
    await target([left, shared], now + 2 * dayMs, now + dayMs);
    const ledgers = await listLedgers(store, [left.id, shared.id]);
    const through = (id: number): unknown => {
      const ledger = ledgers.get(id);
      return [ledger?.evaluatedThroughAt, ledger?.waitingSlotAt];
    };
    assert.deepEqual(through(left.id), [now + dayMs - 1, undefined]);
    assert.deepEqual(through(shared.id), [now + 1, now + 2], 'another monitor watched all the time');
  });

  test('tell which runs may belong to slots after them', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const other = await projected(store, epoch);
    await store.fenced(epoch, (tx) => moveWatermarks(tx, [mark(cronJob.id, now)]));
    const at = (minutes: number): number => now + minutes * minuteMs;
    const runs = {
      before: aRun(cronJob, { createdAt: at(-9), scheduledAt: at(-9), finishedAt: at(-8) }),
      endedSince: aRun(cronJob, { createdAt: at(-7), scheduledAt: at(-7), finishedAt: at(3), status: 'failed' }),
      manual: aRun(cronJob, { createdAt: at(-6), scheduledAt: undefined, trigger: 'manual', finishedAt: at(4) }),
      after: aRun(cronJob, { createdAt: at(1), scheduledAt: at(1), finishedAt: at(2) }),
      lost: aRun(cronJob, {
        createdAt: at(-5),
        scheduledAt: at(-5),
        finishedAt: undefined,
        durationMs: undefined,
        status: 'unobserved',
      }),
      ofAnother: aRun(other, { createdAt: at(-20), scheduledAt: at(-20), finishedAt: at(-19) }),
    };
    await recordRuns(store, epoch, Object.values(runs));
    const going = anActiveJob(cronJob.uid, { jobName: 'going', createdAt: at(-4), startedAt: at(-4) });
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [going]));
    const found = await listLedgerRuns(store, [cronJob.id, other.id]);
    assert.deepEqual([...found.keys()], [cronJob.id]);
    const told = found.get(cronJob.id)?.toSorted((a, b) => a.createdAt - b.createdAt);
    assert.deepEqual(
      told?.map((run) => [run.jobId16, run.jobName, run.scheduledAt, run.finishedAt, run.status, run.provisional]),
      [
        [runs.endedSince.jobUid, runs.endedSince.jobName, at(-7), at(3), 'failed', false],
        [runs.manual.jobUid, runs.manual.jobName, undefined, at(4), 'success', false],
        [runs.lost.jobUid, runs.lost.jobName, at(-5), undefined, 'unobserved', true],
        [going.jobUid, 'going', at(-4), undefined, undefined, false],
        [runs.after.jobUid, runs.after.jobName, at(1), at(2), 'success', false],
      ],
    );
  });
});
