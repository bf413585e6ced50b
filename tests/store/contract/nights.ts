import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  lastNight,
  type CronJobFacts,
  type Execution,
  type Night,
  hourMs,
  dayMs,
  minuteMs,
} from '@cronjob-monitor/shared/domain';
import {
  FencedError,
  projectCronJob,
  projectMonitor,
  recordRuns,
  recordSlots,
  scoreForecasts,
  setTargets,
  takeEpoch,
  type ForecastScore,
} from '@cronjob-monitor/shared/store';
import { aGroupOfJobs, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { Nights } from '../../../controller/src/schedulers/index.ts';
import { aRun, now, seen, someCronJob } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';

const zone = 'Europe/Berlin';
const none: ForecastScore = { nights: 0, failures: 0, foreseen: 0, false: 0 };

interface Leader {
  readonly epoch: number;
  readonly look: (at: number) => Promise<void>;
  /** How often it has turned to the database. */
  readonly turns: () => number;
}

async function aLeader({ store }: Bench): Promise<Leader> {
  const epoch = await takeEpoch(store, 'test');
  let turns = 0;
  const nights = new Nights({
    get store() {
      turns++;
      return store;
    },
    epoch,
    logger: new RecordingLogger(),
    zone,
  });
  return { epoch, look: (at) => nights.look(at), turns: () => turns };
}

/** A night of its own for each test, long past and in their order; a namespace named by it. */
function nightOf(day: number): Night & { readonly namespace: string } {
  return { ...lastNight(zone, now + (day - 60) * dayMs), namespace: `night-${day}` };
}

/** A daily CronJob that a monitor selects, as it stood before a night; `failed`: its last runs failed alike. */
async function daily(
  { store }: Bench,
  { epoch }: Pick<Leader, 'epoch'>,
  { namespace, fromAt }: ReturnType<typeof nightOf>,
  { schedule = '0 2 * * *', failed = 0 }: { readonly schedule?: string; readonly failed?: number } = {},
): Promise<CronJobFacts & { id: number }> {
  const facts = someCronJob({ namespace, schedule });
  const { id } = await store.fenced(epoch, (tx) => projectCronJob(tx, seen(facts)));
  await select({ store }, epoch, facts);
  for (let days = failed; days > 0; days--)
    await recordRuns(store, epoch, [failedRun(facts, fromAt - days * dayMs + 8 * hourMs)]);
  return { ...facts, id };
}

async function select(
  { store }: Pick<Bench, 'store'>,
  epoch: number,
  { uid, namespace }: Pick<CronJobFacts, 'uid' | 'namespace'>,
): Promise<void> {
  const monitor = {
    uid: randomUUID(),
    namespace,
    name: uid,
    generation: 1,
    createdAt: now,
    spec: {},
    phase: 'Active' as const,
    conditions: [{ type: 'Ready', status: 'True' }],
    counts: {},
    evaluatedAt: now,
  };
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, monitor);
    await setTargets(tx, monitor.uid, [{ cronJobUid: uid, leading: true }], now);
  });
}

function failedRun(cronJob: CronJobFacts, createdAt: number, changes: Partial<Execution> = {}): Execution {
  return aRun(cronJob, { createdAt, status: 'failed', exitCode: 1, reason: 'Error', ...changes });
}

export const nights = contract('the nights of a leader', (test) => {
  const scoreOf = (
    { store }: Bench,
    { fromAt, namespace }: ReturnType<typeof nightOf>,
    names = [namespace],
  ): Promise<ForecastScore> => scoreForecasts(store, fromAt, names);

  test('are foreseen at 18:00 and judged at 06:00 of the zone of the cluster', async (bench) => {
    const night = nightOf(1);
    const leader = await aLeader(bench);
    const bad = await daily(bench, leader, night, { failed: 2 });
    await daily(bench, leader, night, { failed: 2 });
    const calm = await daily(bench, leader, night);
    await leader.look(night.fromAt - 1);
    await leader.look(night.fromAt);
    const { store } = bench;
    await recordRuns(store, leader.epoch, [failedRun(bad, night.fromAt + hourMs), failedRun(calm, night.untilAt - 1)]);
    await leader.look(night.untilAt - 1);
    assert.deepEqual(await scoreOf(bench, night), none, 'not before its end');
    await leader.look(night.untilAt);
    assert.deepEqual(await scoreOf(bench, night), { nights: 1, failures: 2, foreseen: 1, false: 1 });
    assert.equal(new Date(night.fromAt).toISOString().slice(11, 16), '16:00');
  });

  test('are foreseen once and judged once where the leader is replaced in between, and the old one is fenced', async (bench) => {
    const night = nightOf(3);
    const first = await aLeader(bench);
    const bad = await daily(bench, first, night, { failed: 2 });
    const better = await daily(bench, first, night);
    await first.look(night.fromAt);
    const second = await aLeader(bench);
    await recordRuns(bench.store, second.epoch, [
      failedRun(better, night.fromAt + 10 * minuteMs),
      failedRun(better, night.fromAt + 20 * minuteMs),
    ]);
    await second.look(night.fromAt + 30 * minuteMs);
    assert.deepEqual(await scoreOf(bench, night), none, 'the night is not over');
    const third = await aLeader(bench);
    await third.look(night.untilAt);
    const score = { nights: 1, failures: 1, foreseen: 0, false: 1 };
    assert.deepEqual(await scoreOf(bench, night), score, 'by what was foreseen at 18:00');
    await recordRuns(bench.store, third.epoch, [failedRun(bad, night.untilAt - minuteMs)]);
    for (const leader of [await aLeader(bench), third]) await leader.look(night.untilAt + hourMs);
    assert.deepEqual(await scoreOf(bench, night), score, 'by what was known when it was judged');
    await assert.rejects(first.look(nightOf(4).fromAt), FencedError);
  });

  test('are foreseen by a leader that comes by 19:00, from its own minute on', async (bench) => {
    const [late, missed] = [nightOf(6), nightOf(7)];
    const leader = await aLeader(bench);
    const before = await daily(bench, leader, late, { schedule: '10 18 * * *' });
    const after = await daily(bench, leader, late, { failed: 2 });
    await recordRuns(bench.store, leader.epoch, [
      failedRun(before, late.fromAt + 10 * minuteMs),
      failedRun(after, late.fromAt + 8 * hourMs),
    ]);
    await leader.look(late.fromAt + hourMs - 1);
    await leader.look(late.untilAt);
    assert.deepEqual(await scoreOf(bench, late), { nights: 1, failures: 1, foreseen: 1, false: 0 });
    await leader.look(missed.fromAt + hourMs);
    await leader.look(missed.untilAt);
    assert.deepEqual(await scoreOf(bench, { ...missed, namespace: late.namespace }), none);
  });

  test('are judged by the next leader where none was there at 06:00, within 36 hours of their begin', async (bench) => {
    for (const [day, afterMs, nightCount] of [
      [10, 36 * hourMs, 1],
      [13, 36 * hourMs + 1, 0],
    ] as const) {
      const night = nightOf(day);
      await (await aLeader(bench)).look(night.fromAt);
      await (await aLeader(bench)).look(night.fromAt + afterMs);
      assert.equal((await scoreOf(bench, night)).nights, nightCount);
    }
  });

  test('count what may fail and no silence: not who hears of it, no group of Jobs, nothing in maintenance', async (bench) => {
    const night = nightOf(16);
    const leader = await aLeader(bench);
    const { store } = bench;
    // No channel hears of any of these, which foresees no failure.
    const unheard = await daily(bench, leader, night);
    const group = { ...aGroupOfJobs(), uid: randomUUID(), namespace: night.namespace };
    await store.fenced(leader.epoch, (tx) => projectCronJob(tx, seen(group)));
    await select(bench, leader.epoch, group);
    const resting = await daily(bench, leader, night);
    await leader.look(night.fromAt);
    const at = night.fromAt + hourMs;
    await recordRuns(store, leader.epoch, [failedRun(group, at), failedRun(resting, at, { inMaintenance: true })]);
    const slot = { cronJobId: unheard.id, at, outcome: 'missed', inMaintenance: false, epochAt: at - dayMs } as const;
    await store.fenced(leader.epoch, (tx) => recordSlots(tx, [{ ...slot, cause: undefined, message: undefined }]));
    await leader.look(night.untilAt);
    assert.deepEqual(await scoreOf(bench, night), { nights: 1, failures: 1, foreseen: 0, false: 0 });
  });

  test('cost nothing between 18:00 and 06:00, and between 06:00 and 18:00', async (bench) => {
    const night = nightOf(20);
    const leader = await aLeader(bench);
    for (const [at, isTurn] of [
      [night.fromAt, true],
      [night.fromAt + 10_000, false],
      [night.untilAt - 1, false],
      [night.untilAt, true],
      [night.fromAt + dayMs - 1, false],
      [night.fromAt + dayMs, true],
    ] as const) {
      const before = leader.turns();
      await leader.look(at);
      assert.equal(leader.turns() > before, isTurn, new Date(at).toISOString());
    }
  });
});
