import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until, aCronJob, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { systemClock, type Clock } from '@cronjob-monitor/shared/process';
import { projectCronJob, setTargets, type Store } from '@cronjob-monitor/shared/store';
import { createFreeze } from '../alerting/index.ts';
import { createDigests } from '../outbox/index.ts';
import { createEvaluation } from './evaluation.ts';
import { anAlertingFixture } from '../testing/alerting-fixture.ts';

/** A fleet of three, with an alert open about the first: which CronJobs were judged, in their order, and whether messages went out by then. */
async function judgedBy(
  context: TestContext,
  isSuccession: boolean,
  changes: Partial<Parameters<typeof createEvaluation>[0]> = {},
  judging = (): Promise<void> => Promise.resolve(),
): Promise<{ ids: number[]; mayTell: boolean }[]> {
  const { store, epoch, fails } = await anAlertingFixture(context);
  await watchTwoMore(store, epoch);
  await fails();
  const ending = new AbortController();
  context.after(() => {
    ending.abort();
  });
  const passes: { ids: number[]; mayTell: boolean }[] = [];
  const evaluation = createEvaluation({
    settings: {
      defaultZone: 'UTC',
      schedulers: {
        deadManSwitchMs: 3_600_000,
        stuckJobCheckMs: 3_600_000,
        slaRecalculationMs: 3_600_000,
        pruneMs: 3_600_000,
        startupGraceMs: 0,
      },
    },
    store,
    caches: { cronJobs: nothing, jobs: nothing, monitors: nothing } as never,
    selection: { monitorsOf: () => [] } as never,
    words: { listSince: () => [] },
    podsOf: () => [],
    goneJobsOf: () => [],
    groupEndedAt: () => undefined,
    refusalOf: () => undefined,
    clock: systemClock,
    logger: new RecordingLogger(),
    term: { epoch, signal: ending.signal, fenced: () => {} },
    syncedAt: () => 0,
    watchedUntilAt: undefined,
    isSuccession,
    freshThroughAt: () => undefined,
    blindFromAt: () => undefined,
    freeze: createFreeze({ clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined }),
    knownOf: () => undefined,
    settleSlots: async (_tx, ids) => {
      passes.push({ ids: [...ids], mayTell: evaluation.evaluatedAt() !== undefined });
      await judging();
      return new Map();
    },
    digests: createDigests({
      store,
      epoch,
      threshold: 0,
      fleet: () => 3,
      isControllerStale: () => false,
      rulesOf: () => Promise.resolve(() => undefined),
      clusterName: undefined,
      externalUrl: undefined,
    }),
    whenCaughtUp: () => Promise.resolve(),
    postponedBecause: () => 'only the first evaluation is looked at',
    prune: () => Promise.resolve(),
    sealDays: () => Promise.resolve(),
    lookAtNight: () => Promise.resolve(),
    onRaised: () => {},
    onSettled: () => {},
    measureSla: () => Promise.resolve(),
    onRan: () => {},
    isAway: () => false,
    ...changes,
  });
  void evaluation.run(ending.signal);
  await evaluation.judged;
  await until(() => new Set(passes.flatMap(({ ids }) => ids)).size === 3);
  return passes;
}

const nothing = { find: () => undefined, findByName: () => undefined, values: () => [].values(), listBy: () => [] };

async function watchTwoMore(store: Store, epoch: number): Promise<void> {
  const others = ['hourly', 'weekly'].map((name) => aCronJob({ uid: `uid-of-${name}`, name }));
  await store.fenced(epoch, async (tx) => {
    for (const facts of others) await projectCronJob(tx, { facts, seenAt: 0 });
    const targets = others.map(({ uid }) => ({ cronJobUid: uid, leading: true }));
    await setTargets(tx, 'monitor-backups', targets, 0);
  });
}

test('a start judges every CronJob before it tells anything', async (context) => {
  assert.deepEqual(await judgedBy(context, false), [{ ids: [1, 2, 3], mayTell: false }]);
});

test('a successor first judges what is open, and the others when messages go out already', async (context) => {
  assert.deepEqual(await judgedBy(context, true), [
    { ids: [1], mayTell: false },
    { ids: [2, 3], mayTell: true },
  ]);
});

test('a night is looked at each 10 s, once all is judged and nothing postpones it', async (context) => {
  const looksAt: (() => void | Promise<void>)[] = [];
  const every: Clock['every'] = (ms, fn, signal) => {
    if (ms === 10_000) looksAt.push(fn);
    else systemClock.every(ms, fn, signal);
  };
  let [looks, postponed] = [0, 'the database is away' as string | undefined];
  const tick = (): number => {
    for (const look of looksAt) void look();
    return looks;
  };
  /** Nothing else is judged in this test: all is postponed but for the moment of a look. */
  const tickAtOnce = (): number => {
    postponed = undefined;
    const seen = tick();
    postponed = 'the database is away';
    return seen;
  };
  const whileJudging: number[] = [];
  await judgedBy(
    context,
    true,
    {
      clock: { ...systemClock, every },
      postponedBecause: () => postponed,
      lookAtNight: () => {
        looks++;
        return Promise.resolve();
      },
    },
    () => {
      whileJudging.push(looksAt.length, tickAtOnce());
      return Promise.resolve();
    },
  );
  assert.deepEqual(whileJudging, [0, 0, 1, 0]);
  await until(() => tickAtOnce() > 0);
  const seen = looks;
  assert.equal(tick(), seen);
});
