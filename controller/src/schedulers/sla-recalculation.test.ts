import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { projectCronJob, projectMonitor, recordRuns, setTargets } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, aTestStore } from '@cronjob-monitor/shared/testing';
import { createSlaRounds } from './sla-recalculation.ts';
import { minuteMs, dayMs } from '@cronjob-monitor/shared/domain';

const start = Date.UTC(2026, 10, 21, 8);

test('a CronJob is asked for its rate in the round after a run has left a window of its monitors, and in no other', async (t) => {
  const clock = { ...systemClock, now: () => start };
  const { store, epoch } = await aTestStore(t, { clock });
  const cronJob = async (name: string, createdAt: readonly number[]): Promise<{ uid: string; id: number }> => {
    const facts = aCronJob({ uid: randomUUID(), namespace: 'prod', name, createdAt: start - 30 * dayMs });
    const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: start }));
    const runs = createdAt.map((at) =>
      aRecordedRun(facts, at, { jobName: `${name}-${at / minuteMs}`, finishedAt: at + 1_000 }),
    );
    await recordRuns(store, epoch, runs);
    return { uid: facts.uid, id };
  };
  const daily = await cronJob('daily', [start - dayMs + 7 * minuteMs, start - dayMs + 22 * minuteMs, start - 5]);
  const weekly = await cronJob('weekly', [start - 7 * dayMs + 12 * minuteMs]);
  const monitor = { uid: randomUUID(), namespace: 'prod', name: 'all', generation: 1, createdAt: start } as const;
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, { ...monitor, phase: 'Active', conditions: [], spec: {}, counts: null, evaluatedAt: 0 });
    const targets = [daily, weekly].map(({ uid }) => ({ cronJobUid: uid, leading: true }));
    await setTargets(tx, monitor.uid, targets, start);
  });

  const rounds = createSlaRounds(store, () => [1, 7, 7]);
  const asked: (readonly number[])[] = [];
  const leaving: (readonly number[])[] = [];
  for (let minutes = 0; minutes <= 30; minutes += 5)
    await rounds.run(start + minutes * minuteMs, async (ids, left) => {
      asked.push(ids);
      leaving.push(left);
    });

  assert.deepEqual(asked, [[daily.id, weekly.id], [], [daily.id], [weekly.id], [], [daily.id], []]);
  assert.deepEqual(leaving, [[], ...asked.slice(1)], 'the first round asks all, and knows of none that left');
  const later: (readonly number[])[] = [];
  await rounds.run(start + dayMs + minuteMs, async (...both) => void later.push(...both));
  assert.deepEqual(later, [[daily.id, weekly.id], [daily.id]], 'nor does one over all forget them');

  const missing: (readonly number[])[] = [];
  rounds.missed([weekly.id]);
  for (const minutes of [6, 11])
    await rounds.run(start + dayMs + minutes * minuteMs, async (ids) => void missing.push([...ids]));
  assert.deepEqual(missing, [[weekly.id], []], 'one of which a slot was missed is asked once');
});
