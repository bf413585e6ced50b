import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteHistory, forgetCronJob, pruneHistory, setTargets } from '@cronjob-monitor/shared/store';
import type { FakeClock } from '@cronjob-monitor/shared/testing';
import { createKeptFleet } from './kept-fleet.ts';
import { gatherFigures, gatherMetrics } from '../routes/index.ts';
import { testNow } from '../testing/api.ts';
import { hourMs, minuteMs, startFleet, type TestFleet } from '../testing/fleet.ts';

/** What is kept of a fleet that is large, for every look at the clock comes 20 ms after the one before. */
function keep({ store, clock }: Pick<TestFleet, 'store'> & { clock: FakeClock }) {
  const counted: (readonly number[])[] = [];
  let ms = 0;
  const fleet = createKeptFleet({
    store,
    clock: {
      now: () => clock.now(),
      monotonicMs: () => (ms += 20),
      sleep: (sleepMs, signal) => clock.sleep(sleepMs, signal),
      every: (everyMs, fn, signal) => clock.every(everyMs, fn, signal),
    },
    countFigures: (ids, now, wanted) => {
      counted.push(ids);
      return gatherFigures(store, ids, now, wanted);
    },
    isTold: ({ sla }) => !sla.countMissed,
    holdUntilAt: (figures) => figures.holdUntilAt,
    countMetrics: (ids, now) => gatherMetrics(store, ids, now),
  });
  const namesOf = async () => (await fleet.outlines()).map(({ namespace, name }) => `${namespace}/${name}`);
  const figuresOf = async (withPrevious = false) => {
    const outlines = await fleet.outlines();
    const ids = outlines.map(({ id }) => id);
    const figures = await fleet.figures(ids, { withPrevious });
    return outlines.map(({ id, name }) => {
      const current = figures.get(id)?.current;
      return `${name} ${current?.success}/${current && current.success + current.failed}`;
    });
  };
  const runsOf = async (name: string) => {
    const { id } = (await fleet.outlines()).find((outline) => outline.name === name) ?? {};
    return id === undefined ? undefined : (await fleet.metrics(id))?.totalRuns;
  };
  return { fleet, counted, namesOf, runsOf, figuresOf, wait: (byMs: number) => void (ms += byMs) };
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
  assert.equal(c?.running, 0, 'what nobody tells is not looked for');

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

test('counts figures once, and again for the CronJobs that ran', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, c } = large;
  await fleet.addRuns(a, { createdAt: testNow - hourMs }, { createdAt: testNow - 2 * hourMs, status: 'failed' });
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 1/2', 'c 0/0']);
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 1/2', 'c 0/0']);
  assert.equal(kept.counted.length, 1);
  assert.equal(kept.counted[0]?.length, 3);
  await fleet.addRuns(c, { createdAt: testNow - hourMs });
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 1/2', 'c 1/1']);
  assert.equal(kept.counted[1]?.length, 1);
  assert.deepEqual(await kept.figuresOf(true), ['b 0/0', 'a 1/2', 'c 1/1']);
  assert.equal(kept.counted[2]?.length, 3, 'the windows before were not counted yet');
  await fleet.clock.advance(minuteMs);
  await kept.figuresOf();
  assert.equal(kept.counted.length, 3, 'their windows have moved, and have the same runs');
  await fleet.clock.advance(10 * minuteMs);
  await kept.figuresOf();
  assert.equal(kept.counted[3]?.length, 3);
  await deleteHistory(fleet.store, a, { budgetMs: 60_000 });
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 0/0', 'c 1/1']);
});

test('counts those again whose window leaves a run behind, and with the windows before also those of which one leaves these', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, b, c } = large;
  const windowMs = 7 * 24 * hourMs;
  await fleet.addRuns(
    a,
    { createdAt: testNow - windowMs + minuteMs },
    { createdAt: testNow - windowMs + 5 * minuteMs },
  );
  await fleet.addRuns(b, { createdAt: testNow - 2 * windowMs + 3 * minuteMs }, { createdAt: testNow - hourMs });
  await fleet.addRuns(c, { createdAt: testNow - windowMs + 4 * hourMs });
  const previousOf = async () => {
    const outlines = await kept.fleet.outlines();
    const found = await kept.fleet.figures(
      outlines.map(({ id }) => id),
      { withPrevious: true },
    );
    return outlines.map(({ id }) => found.get(id)?.previous.success);
  };
  assert.deepEqual(await previousOf(), [1, 0, 0]);
  assert.deepEqual(await kept.figuresOf(true), ['b 1/1', 'a 2/2', 'c 1/1']);
  await fleet.clock.advance(minuteMs);
  assert.deepEqual(
    await kept.figuresOf(true),
    ['b 1/1', 'a 2/2', 'c 1/1'],
    'cut to the minute, it begins before the run',
  );
  await fleet.clock.advance(minuteMs);
  assert.deepEqual(await kept.figuresOf(true), ['b 1/1', 'a 1/1', 'c 1/1']);
  assert.deepEqual(await previousOf(), [1, 1, 0]);
  await fleet.clock.advance(2 * minuteMs);
  assert.deepEqual(await previousOf(), [0, 1, 0]);
  assert.deepEqual(
    kept.counted.map((ids) => ids.length),
    [3, 1, 1],
  );
});

test('tells the runs of one CronJob anew as soon as it has one more', async () => {
  await using large = await startLarge();
  const { fleet, kept, a } = large;
  assert.equal(await kept.runsOf('a'), 0);
  await fleet.addRuns(a, { createdAt: testNow - hourMs });
  assert.equal(await kept.runsOf('a'), 1);
  await fleet.store.sql('rollups').delete();
  assert.equal(await kept.runsOf('a'), 1, 'what nobody tells is not looked for');
  kept.wait(5_000);
  assert.equal(await kept.runsOf('a'), 1);
  kept.wait(70_000);
  assert.equal(await kept.runsOf('a'), 0, 'nobody has followed the changes');
});

test('follows the changes of figures also over a new reading of all outlines, and keeps none that count missed runs', async () => {
  await using large = await startLarge();
  const { fleet, kept, a, b } = large;
  await fleet.addRuns(a, { createdAt: testNow - hourMs });
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 1/1', 'c 0/0']);
  await fleet.addRuns(a, { createdAt: testNow - 2 * hourMs });
  kept.wait(5_000);
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 2/2', 'c 0/0']);
  assert.deepEqual(
    kept.counted.map((ids) => ids.length),
    [3, 1],
  );
  await pruneHistory(fleet.store, { before: testNow - 90 * minuteMs, budgetMs: 60_000 });
  await kept.figuresOf();
  assert.equal(kept.counted[2]?.length, 1, 'rows of it are pruned');
  await fleet.addMonitor({ name: 'strict', namespace: 'aaa', spec: { sla: { countMissed: true } } }, [b]);
  await kept.figuresOf();
  await kept.figuresOf();
  assert.equal(kept.counted.at(-1)?.length, 1);
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

test('a change that comes while all is read, or while figures are counted, is in the next read', async () => {
  await using large = await startLarge();
  const { fleet, kept, a } = large;
  kept.wait(5_000);
  await Promise.all([kept.figuresOf(), fleet.addRuns(a, { createdAt: testNow - hourMs })]);
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 1/1', 'c 0/0']);
  await Promise.all([kept.figuresOf(), fleet.addRuns(a, { createdAt: testNow - 2 * hourMs }), kept.figuresOf()]);
  assert.deepEqual(await kept.figuresOf(), ['b 0/0', 'a 2/2', 'c 0/0']);
});
