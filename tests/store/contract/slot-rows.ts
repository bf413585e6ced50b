import assert from 'node:assert/strict';
import type { SlotOutcome } from '@cronjob-monitor/shared/contract';
import {
  answerSlots,
  countSlots,
  listRecentSlots,
  listSlots,
  putActiveJobs,
  putClusterState,
  recordRuns,
  recordSlots,
  type Store,
  type StoredSlot,
} from '@cronjob-monitor/shared/store';
import { aRun, now, projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { hourMs, dayMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { anActiveJob } from '@cronjob-monitor/shared/testing';

function aSlot(cronJobId: number, at: number, changes: Partial<StoredSlot> = {}): StoredSlot {
  return {
    cronJobId,
    at,
    outcome: 'missed',
    cause: undefined,
    message: undefined,
    epochAt: now - dayMs,
    inMaintenance: false,
    ...changes,
  };
}

const slotCounts = (store: Store, id: number): Promise<unknown> =>
  readRows(store, 'select missed, skipped, suspended, unseen, late from rollups where cronjob_id = ? order by day', [
    id,
  ]);
const counts = (changes: object): object => ({
  missed: 0,
  skipped: 0,
  suspended: 0,
  unseen: 0,
  late: 0,
  ...changes,
});
const outcomes = async (store: Store, id: number): Promise<unknown> =>
  (
    await listSlots(
      store,
      { cronJobIds: [id], since: 0, until: now + dayMs, outcomes: [], lateAfterMs: 60_000 },
      { descending: false, page: { limit: 100, offset: 0 } },
    )
  ).map(({ at, outcome, cause }) => [(at - now) / minuteMs, outcome, cause]);

export const slotRows = contract('slots', (test) => {
  test('are written once and counted once in their day', async ({ store, epoch }) => {
    const { id } = await projected(store, epoch);
    const slots = [
      aSlot(id, now),
      aSlot(id, now + minuteMs, { outcome: 'skippedForbid', cause: 'previousRunning', message: 'job-1' }),
      aSlot(id, now + 2 * minuteMs, { outcome: 'skippedDeadline' }),
      aSlot(id, now + 3 * minuteMs, { outcome: 'suspended' }),
      aSlot(id, now + 4 * minuteMs, { outcome: 'unobserved', cause: 'monitorDown' }),
      aSlot(id, now + 5 * minuteMs, { outcome: 'indeterminate', cause: 'specUncertain' }),
      aSlot(id, now + 6 * minuteMs, { inMaintenance: true }),
    ];
    assert.equal(await store.fenced(epoch, (tx) => recordSlots(tx, slots)), 7);
    const again = slots.map((slot) => ({ ...slot, outcome: 'missed' as const }));
    assert.equal(await store.fenced(epoch, (tx) => recordSlots(tx, [...again, aSlot(id, now + dayMs)])), 1);
    assert.deepEqual(await outcomes(store, id), [
      [0, 'missed', undefined],
      [1, 'skippedForbid', 'previousRunning'],
      [2, 'skippedDeadline', undefined],
      [3, 'suspended', undefined],
      [4, 'unobserved', 'monitorDown'],
      [5, 'indeterminate', 'specUncertain'],
      [6, 'missed', undefined],
    ]);
    assert.deepEqual(await slotCounts(store, id), [
      counts({ missed: 1, skipped: 2, suspended: 1, unseen: 2 }),
      counts({ missed: 1 }),
    ]);
  });

  test('give way to a run that is recorded for them later, which is late', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await store.fenced(epoch, (tx) => recordSlots(tx, [aSlot(cronJob.id, now), aSlot(cronJob.id, now + hourMs)]));
    const late = aRun(cronJob, { scheduledAt: now, createdAt: now + 10 * minuteMs });
    await recordRuns(store, epoch, [late]);
    await recordRuns(store, epoch, [late]);
    assert.deepEqual(await outcomes(store, cronJob.id), [
      [0, 'late', undefined],
      [60, 'missed', undefined],
    ]);
    assert.deepEqual(await slotCounts(store, cronJob.id), [counts({ missed: 1, late: 1 })]);
  });

  test('give way to a run that has started for them, before it ends', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    await store.fenced(epoch, (tx) => recordSlots(tx, [aSlot(cronJob.id, now)]));
    const times = { scheduledAt: now, createdAt: now + 5 * minuteMs };
    const job = anActiveJob(cronJob.uid, { jobName: 'late', ...times });
    await store.fenced(epoch, (tx) => putActiveJobs(tx, [job]));
    assert.deepEqual(await outcomes(store, cronJob.id), [[0, 'late', undefined]]);
    assert.deepEqual(await slotCounts(store, cronJob.id), [counts({})]);
    assert.deepEqual((await listRecentSlots(store, [cronJob.id], 5)).get(cronJob.id), [
      { at: now, outcome: 'late', cause: undefined, startedAt: now + 5 * minuteMs },
    ]);
  });

  test('are listed and counted while the Job runs that answers them, and once when it has ended', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const inTime = aRun(cronJob, { scheduledAt: now, createdAt: now + 1_000 });
    const late = aRun(cronJob, { scheduledAt: now + hourMs, createdAt: now + hourMs + 5 * minuteMs });
    const manual = aRun(cronJob, { scheduledAt: undefined, trigger: 'manual', createdAt: now + 2_000 });
    const jobs = [inTime, late, manual].map((run) => {
      const { jobUid, jobName, trigger, scheduledAt, createdAt } = run;
      return anActiveJob(cronJob.uid, { jobUid, jobName, trigger, scheduledAt, createdAt });
    });
    await store.fenced(epoch, (tx) => putActiveJobs(tx, jobs));
    const filter = { cronJobIds: [cronJob.id], since: 0, until: now + dayMs, lateAfterMs: 60_000 };
    const tell = async (outcomesWanted: readonly SlotOutcome[] = []) => {
      const page = { descending: true, page: { limit: 10, offset: 0 } };
      const found = await listSlots(store, { ...filter, outcomes: outcomesWanted }, page);
      const { matched, late: behind } = await countSlots(store, { ...filter, outcomes: outcomesWanted });
      return [found.map(({ at, outcome, status }) => [(at - now) / hourMs, outcome, status]), matched, behind];
    };
    assert.deepEqual(await tell(), [
      [
        [1, 'late', undefined],
        [0, 'matched', undefined],
      ],
      1,
      1,
    ]);
    assert.deepEqual(await tell(['late']), [[[1, 'late', undefined]], 1, 1]);
    assert.deepEqual(await tell(['missed']), [[], 1, 1]);
    await recordRuns(store, epoch, [inTime]);
    assert.deepEqual(await tell(), [
      [
        [1, 'late', undefined],
        [0, 'matched', 'success'],
      ],
      1,
      1,
    ]);
  });

  test('that were answered are told once, with the CronJobs they belong to', async ({ store, epoch }) => {
    const [first, second] = [await projected(store, epoch), await projected(store, epoch)];
    await store.fenced(epoch, (tx) => recordSlots(tx, [aSlot(first.id, now), aSlot(second.id, now)]));
    const answer = (): Promise<readonly number[]> =>
      store.fenced(epoch, (tx) =>
        answerSlots(tx, [
          { cronJobId: first.id, at: now },
          { cronJobId: second.id, at: now + 1 },
        ]),
      );
    assert.deepEqual(await answer(), [first.id]);
    assert.deepEqual(await answer(), []);
  });

  test('and runs are late by what the cluster usually needs', async ({ store, epoch }) => {
    const slow = await projected(store, epoch);
    const usual = aRun(slow, { scheduledAt: now - 2 * minuteMs, createdAt: now });
    await store.fenced(epoch, (tx) => putClusterState(tx, 'startSkew', { p99Ms: minuteMs }));
    await recordRuns(store, epoch, [usual]);
    assert.deepEqual(await slotCounts(store, slow.id), [counts({})]);
    const later = aRun(slow, { scheduledAt: now - 3 * minuteMs - 1, createdAt: now });
    await recordRuns(store, epoch, [later]);
    assert.deepEqual(await slotCounts(store, slow.id), [counts({ late: 1 })]);
    const recent = (await listRecentSlots(store, [slow.id], 5)).get(slow.id);
    assert.deepEqual(
      recent?.map(({ outcome }) => outcome),
      ['matched', 'late'],
    );
    await store.fenced(epoch, (tx) => putClusterState(tx, 'startSkew', { p99Ms: 0 }));
  });

  test('are the newest by the instant they were due, also after one was run again', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const slots = [3, 2, 1].map((hours) => now - hours * hourMs);
    await recordRuns(
      store,
      epoch,
      slots.map((at) => aRun(cronJob, { createdAt: at })),
    );
    const again = aRun(cronJob, { createdAt: now, scheduledAt: now - 5 * hourMs, trigger: 'rerun' });
    await recordRuns(store, epoch, [again]);
    const recent = (await listRecentSlots(store, [cronJob.id], 2)).get(cronJob.id);
    assert.deepEqual(
      recent?.map(({ at }) => at),
      [now - hourMs, now - 2 * hourMs],
    );
  });

  test('of many CronJobs are told newest first, started, missed or skipped', async ({ store, epoch }) => {
    const [busy, quiet, other] = [
      await projected(store, epoch),
      await projected(store, epoch),
      await projected(store, epoch),
    ];
    await recordRuns(store, epoch, [
      aRun(busy, { createdAt: now - hourMs }),
      aRun(busy, { createdAt: now - hourMs + 1, trigger: 'manual', scheduledAt: undefined }),
      aRun(busy, { createdAt: now - 3 * hourMs, finishedAt: now }),
    ]);
    await store.fenced(epoch, (tx) =>
      recordSlots(tx, [
        aSlot(busy.id, now, { cause: 'controllerSilent' }),
        aSlot(busy.id, now - 2 * hourMs, { outcome: 'skippedDeadline', cause: 'previousRunning' }),
        aSlot(busy.id, now - minuteMs, { outcome: 'suspended' }),
        aSlot(other.id, now),
      ]),
    );
    const recent = await listRecentSlots(store, [busy.id, quiet.id], 3);
    assert.deepEqual([...recent.keys()], [busy.id]);
    assert.deepEqual(recent.get(busy.id), [
      { at: now, outcome: 'missed', cause: 'controllerSilent', message: undefined },
      { at: now - hourMs, outcome: 'matched', cause: undefined, startedAt: now - hourMs },
      { at: now - 2 * hourMs, outcome: 'skippedDeadline', cause: 'previousRunning', message: undefined },
    ]);
  });

  test('lists of three and of four CronJobs are asked for in the same words, which a driver has compiled', async ({
    store,
  }) => {
    const asked: string[] = [];
    const hear = ({ sql }: { readonly sql: string }): void => void asked.push(sql);
    store.sql.on('query', hear);
    await listRecentSlots(store, [1, 2, 3], 3);
    const ofThree = asked.splice(0);
    await listRecentSlots(store, [1, 2, 3, 4], 3);
    store.sql.removeListener('query', hear);
    assert.deepEqual(asked, ofThree);
  });
});
