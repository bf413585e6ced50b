import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { projectCronJob, recordRuns } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, aTestStore } from '@cronjob-monitor/shared/testing';
import { KeptDurations } from './kept-durations.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const now = Date.UTC(2026, 10, 21, 8);

async function aFixture(t: TestContext) {
  const { store, epoch } = await aTestStore(t);
  const cronJob = aCronJob({ uid: randomUUID(), name: 'nightly' });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts: cronJob, seenAt: now }));
  const add = (createdAt: number, durationMs: number) =>
    recordRuns(store, epoch, [aRecordedRun(cronJob, createdAt, { finishedAt: createdAt + durationMs })]);
  const kept = new KeptDurations(store);
  const average = async (runs: number, at: number, windowDays = 7): Promise<number | undefined> =>
    (await kept.measure([{ cronJobId: id, runs }], windowDays, at)).get(id)?.avgMs;
  return { add, average };
}

test('durations are read again when runs were added, every five minutes at most', async (t) => {
  const { add, average } = await aFixture(t);
  await add(now - minuteMs, 1_000);
  assert.equal(await average(1, now), 1_000);
  await add(now - minuteMs + 1, 3_000);
  assert.equal(await average(2, now + 5 * minuteMs - 1), 1_000);
  assert.equal(await average(2, now + 5 * minuteMs), 2_000);
});

test('where no run was added they are read again after an hour', async (t) => {
  const { add, average } = await aFixture(t);
  await add(now - minuteMs, 1_000);
  assert.equal(await average(1, now), 1_000);
  await add(now - minuteMs + 1, 3_000);
  assert.equal(await average(1, now + 60 * minuteMs - 1), 1_000);
  assert.equal(await average(1, now + 60 * minuteMs), 2_000);
});

test('each window has figures of its own, and without runs there are none', async (t) => {
  const { add, average } = await aFixture(t);
  await add(now - 2 * 86_400_000, 5_000);
  await add(now - minuteMs, 1_000);
  assert.equal(await average(2, now), 3_000);
  assert.equal(await average(1, now, 1), 1_000);
  assert.equal(await average(0, now), undefined);
});
