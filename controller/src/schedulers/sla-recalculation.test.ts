import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { systemClock } from '@cronjob-monitor/shared/process';
import { projectCronJob, projectMonitor, recordRuns, setTargets } from '@cronjob-monitor/shared/store';
import { aCronJob, aRecordedRun, aTestStore } from '@cronjob-monitor/shared/testing';
import { createSlaRounds } from './sla-recalculation.ts';
import { hourMs, minuteMs, dayMs } from '@cronjob-monitor/shared/domain';

/** A full hour: the turn of the share 0. */
const start = Date.UTC(2026, 10, 21, 8);

async function aFleet(t: TestContext) {
  const clock = { ...systemClock, now: () => start };
  const { store, epoch } = await aTestStore(t, { clock });
  const cronJob = async (name: string, createdAt: readonly number[] = []): Promise<{ uid: string; id: number }> => {
    const facts = aCronJob({ uid: randomUUID(), namespace: 'prod', name, createdAt: start - 30 * dayMs });
    const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, { facts, seenAt: start }));
    const runs = createdAt.map((at) =>
      aRecordedRun(facts, at, { jobName: `${name}-${at / minuteMs}`, finishedAt: at + 1_000 }),
    );
    await recordRuns(store, epoch, runs);
    return { uid: facts.uid, id };
  };
  const monitor = { uid: randomUUID(), namespace: 'prod', name: 'all', generation: 1, createdAt: start } as const;
  const select = (cronJobs: readonly { readonly uid: string }[]): Promise<void> =>
    store.fenced(epoch, async (tx) => {
      await projectMonitor(tx, { ...monitor, phase: 'Active', conditions: [], spec: {}, counts: null, evaluatedAt: 0 });
      const targets = cronJobs.map(({ uid }) => ({ cronJobUid: uid, leading: true }));
      await setTargets(tx, monitor.uid, targets, start);
    });
  return { store, cronJob, select };
}

test('a CronJob is asked for its rate in the round after a run has left a window of its monitors, and in no other', async (t) => {
  const { store, cronJob, select } = await aFleet(t);
  // Their shares have no turn while this looks.
  for (let id = 1; id < 7; id++) await cronJob(`unselected-${id}`);
  const daily = await cronJob('daily', [start - dayMs + 7 * minuteMs, start - dayMs + 22 * minuteMs, start - 5]);
  const weekly = await cronJob('weekly', [start - 7 * dayMs + 12 * minuteMs]);
  await select([daily, weekly]);

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

test('a round asks a twelfth of the CronJobs of which nothing happened, and so each once in an hour; the first of a term asks all', async (t) => {
  const { store, cronJob, select } = await aFleet(t);
  const cronJobs = [];
  for (let number = 0; number < 24; number++) cronJobs.push(await cronJob(`job-${number}`));
  await select(cronJobs);
  const all = cronJobs.map(({ id }) => id);
  let rounds = createSlaRounds(store, () => [7]);
  const askedAt = async (minutes: number): Promise<number[]> => {
    const asked: number[] = [];
    await rounds.run(start + minutes * minuteMs, async (ids) => void asked.push(...ids));
    return asked.toSorted((a, b) => a - b);
  };

  assert.deepEqual(await askedAt(2), all, 'the first round asks all');
  assert.deepEqual(await askedAt(4), [], 'no turn has come since');
  const byRound: number[][] = [];
  for (let minutes = 7; minutes < 67; minutes += 5) byRound.push(await askedAt(minutes));
  assert.deepEqual(
    byRound.map((ids) => ids.length),
    Array.from({ length: 12 }, () => 2),
  );
  assert.deepEqual(
    byRound.flat().toSorted((a, b) => a - b),
    all,
    'each of them in one round of the hour',
  );
  assert.deepEqual(await askedAt(67), byRound[0], 'an hour later it is its turn again');

  const [recorded, inTurn] = [cronJobs.find(({ id }) => id === byRound[6]?.[0]), byRound[1]];
  assert.ok(recorded && inTurn);
  rounds.recorded(recorded.uid);
  assert.deepEqual(
    await askedAt(72),
    [recorded.id, ...inTurn].toSorted((a, b) => a - b),
    'one with a new run is asked beside them',
  );
  const twoTurns = [...(byRound[2] ?? []), ...(byRound[3] ?? [])].toSorted((a, b) => a - b);
  assert.deepEqual(await askedAt(82), twoTurns, 'a round that comes late asks for all whose turn has passed');
  assert.deepEqual(await askedAt(82 + hourMs / minuteMs), all, 'rounds an hour apart ask all');

  const fails = rounds.run(start + 3 * hourMs, () => Promise.reject(new Error('the database is away')));
  await assert.rejects(fails, /away/);
  assert.deepEqual(await askedAt(181), all, 'a round that failed is made up for by one over all');
  rounds = createSlaRounds(store, () => [7]);
  assert.deepEqual(await askedAt(182), all, 'another leader begins with all of them');
});

test('a clock that is set back makes no CronJob wait for longer than an hour', async (t) => {
  const { store, cronJob, select } = await aFleet(t);
  const cronJobs = [];
  for (let number = 0; number < 12; number++) cronJobs.push(await cronJob(`job-${number}`));
  await select(cronJobs);
  const rounds = createSlaRounds(store, () => [7]);
  await rounds.run(start, async () => {});
  const asked = new Set<number>();
  for (let minutes = -180; minutes <= -120; minutes += 5)
    await rounds.run(start + minutes * minuteMs, async (ids) => {
      for (const id of ids) asked.add(id);
    });
  assert.equal(asked.size, 12);
});

test('a CronJob that no monitor selects any more is asked for runs that leave a window until its turn, not for as long as they do', async (t) => {
  const { store, cronJob, select } = await aFleet(t);
  const minutes = [2, 6, 12, 63, 67];
  // The share of the first one has its turn five minutes after each hour, that of the second one ten minutes after.
  await cronJob('unselected');
  const left = await cronJob(
    'left',
    minutes.map((minute) => start - dayMs + minute * minuteMs),
  );
  await select([left]);
  const rounds = createSlaRounds(store, () => [1]);
  await rounds.run(start, async () => {});
  await select([]);
  const askedAt: number[] = [];
  for (let minutes = 5; minutes <= 90; minutes += 5)
    await rounds.run(start + minutes * minuteMs, async (ids) => void (ids.length > 0 && askedAt.push(minutes)));
  assert.deepEqual(askedAt, [5]);
});
