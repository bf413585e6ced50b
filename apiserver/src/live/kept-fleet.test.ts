import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetCronJob, setTargets } from '@cronjob-monitor/shared/store';
import type { FakeClock } from '@cronjob-monitor/shared/testing';
import { createKeptFleet } from './kept-fleet.ts';
import { testNow } from '../testing/api.ts';
import { startFleet, type TestFleet } from '../testing/fleet.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

/** What is kept of a fleet that is large, for every look at the clock comes 20 ms after the one before. */
function keep({ store, clock }: Pick<TestFleet, 'store'> & { clock: FakeClock }) {
  let ms = 0;
  const fleet = createKeptFleet({
    store,
    clock: {
      now: () => clock.now(),
      monotonicMs: () => (ms += 20),
      sleep: (sleepMs, signal) => clock.sleep(sleepMs, signal),
      every: (everyMs, fn, signal) => clock.every(everyMs, fn, signal),
    },
  });
  const namesOf = async () => (await fleet.outlines()).map(({ namespace, name }) => `${namespace}/${name}`);
  return { fleet, namesOf, wait: (byMs: number) => void (ms += byMs) };
}

async function startLarge() {
  const fleet = await startFleet();
  const [a, b, c] = [
    await fleet.addCronJob({ name: 'a', namespace: 'prod' }),
    await fleet.addCronJob({ name: 'b', namespace: 'data' }),
    await fleet.addCronJob({ name: 'c', namespace: 'prod' }),
  ];
  const monitor = await fleet.addMonitor({}, [a, b, c]);
  const kept = keep(fleet);
  // The first read learns that the fleet is large, the second is kept.
  await kept.namesOf();
  await kept.namesOf();
  return { fleet, a, b, c, monitor, kept, [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose]() };
}

test('is read once, and shows every change that is told: runs, suspensions, new and deleted CronJobs', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, b } = large;
  assert.deepEqual(await kept.namesOf(), ['data/b', 'prod/a', 'prod/c']);
  await fleet.store.sql('cronjobs').where({ name: 'c' }).update({ running: 7 });
  const c = (await kept.fleet.outlines())[2];
  assert.equal(c?.running, 0, 'what no change tells is not looked for');

  await fleet.addRuns(a, { createdAt: testNow - hourMs });
  assert.equal((await kept.fleet.outlines())[1]?.status, 'healthy');
  await fleet.addRuns(a, { createdAt: testNow - minuteMs });
  assert.equal((await kept.fleet.outlines())[1]?.lastRunAt, testNow - minuteMs + 1_000);
  await fleet.addCronJob({ ...b, suspended: true });
  const paused = (await kept.fleet.outlines())[0];
  assert.deepEqual([paused?.suspended, paused?.state], [true, 'unknown'], 'it never ran');

  await fleet.store.fenced(fleet.epoch, (tx) => forgetCronJob(tx, b.uid, testNow));
  assert.deepEqual(await kept.namesOf(), ['prod/a', 'prod/c']);
  const another = await fleet.addCronJob({ name: 'a', namespace: 'prod' });
  assert.deepEqual(await kept.namesOf(), ['prod/c'], 'another object of the same name, which no monitor selects yet');
  await fleet.addMonitor({ name: 'other' }, [another]);
  assert.deepEqual(await kept.namesOf(), ['prod/a', 'prod/c']);
  assert.equal((await kept.fleet.outlines())[1]?.running, 7, 'what monitors select was read anew');
});

test('shows what a monitor selects now, also when nothing else of it has changed', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, monitor } = large;
  const targets = [{ cronJobUid: a.uid, leading: true }];
  await fleet.store.fenced(fleet.epoch, (tx) => setTargets(tx, monitor.uid, targets, testNow));
  assert.deepEqual(await kept.namesOf(), ['prod/a']);
});

test('shows within 5 s what changed without being told, and at once after a write of this process', async () => {
  await using large = await startLarge();
  const { fleet, kept } = large;
  const runningOfC = async () => (await kept.fleet.outlines())[2]?.running;
  await fleet.store.sql('cronjobs').where({ name: 'c' }).update({ running: 7 });
  assert.equal(await runningOfC(), 0);
  kept.wait(5_000);
  assert.equal(await runningOfC(), 7);
  await fleet.store.sql('cronjobs').where({ name: 'c' }).update({ running: 8 });
  assert.equal(await runningOfC(), 7);
  kept.fleet.forget();
  assert.equal(await runningOfC(), 8);
});

test('keeps facts of ended runs beyond the minute, reads those of a CronJob again when it ran, and all after 10 minutes', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, c } = large;
  const asked: (readonly number[])[] = [];
  const lastRuns = kept.fleet.keep(async (ids) => {
    asked.push(ids);
    const outlines = await kept.fleet.outlines();
    return new Map(
      outlines.flatMap(({ id, lastRunAt }) => (ids.includes(id) && lastRunAt !== undefined ? [[id, lastRunAt]] : [])),
    );
  });
  const factsOf = async () => {
    const outlines = await kept.fleet.outlines();
    const facts = await lastRuns(outlines.map(({ id }) => id));
    return outlines.map(({ id, name }) => `${name} ${((facts.get(id) ?? testNow) - testNow) / minuteMs}`);
  };
  await fleet.addRuns(a, { createdAt: testNow - hourMs, startedAt: testNow - hourMs });
  assert.deepEqual(await factsOf(), ['b 0', 'a -60', 'c 0']);
  await fleet.clock.advance(minuteMs);
  assert.deepEqual(await factsOf(), ['b 0', 'a -60', 'c 0']);
  assert.equal(asked.length, 1, 'also where there was nothing to find');
  await fleet.addRuns(c, { createdAt: testNow - 2 * hourMs, startedAt: testNow - 2 * hourMs });
  assert.deepEqual(await factsOf(), ['b 0', 'a -60', 'c -120']);
  await fleet.clock.advance(10 * minuteMs);
  await factsOf();
  kept.fleet.forget();
  await factsOf();
  assert.deepEqual(
    asked.map((ids) => ids.length),
    [3, 1, 3, 3],
  );
});

test('a change that comes while all is read is in the next read', async () => {
  await using large = await startLarge();
  const { fleet, kept, a } = large;
  const lastRunOfA = async () => (await kept.fleet.outlines())[1]?.lastRunAt;
  const [early, late] = [testNow - 2 * hourMs, testNow - hourMs];
  kept.wait(5_000);
  await Promise.all([lastRunOfA(), fleet.addRuns(a, { createdAt: early, startedAt: early })]);
  assert.equal(await lastRunOfA(), early);
  await Promise.all([lastRunOfA(), fleet.addRuns(a, { createdAt: late, startedAt: late }), lastRunOfA()]);
  assert.equal(await lastRunOfA(), late);
});
