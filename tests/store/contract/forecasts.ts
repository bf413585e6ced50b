import assert from 'node:assert/strict';
import { lastNight, type Execution, type Night, hourMs, dayMs } from '@cronjob-monitor/shared/domain';
import {
  FencedError,
  judgeForecasts,
  keepForecasts,
  recordRuns,
  recordSlots,
  scoreForecasts,
  type Forecast,
  type ForecastScore,
} from '@cronjob-monitor/shared/store';
import { prune } from '../aging-facts.ts';
import { aRun, now, projected } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';

const none: ForecastScore = { nights: 0, failures: 0, foreseen: 0, false: 0 };
/** The night of the tests' instant, and one for each test. */
const nightOf = (day: number): Night => lastNight('UTC', now + day * dayMs);

const keep = (
  { store, epoch }: Bench,
  { fromAt }: Night,
  forecasts: readonly Forecast[],
  keptAt = fromAt,
): Promise<boolean> => store.fenced(epoch, (tx) => keepForecasts(tx, { nightAt: fromAt, keptAt }, forecasts));
const judge = ({ store, epoch }: Bench, night: Night): Promise<boolean> =>
  store.fenced(epoch, (tx) => judgeForecasts(tx, night));
const scoreSince = ({ store }: Bench, { fromAt }: Night, namespaces: readonly string[] = []): Promise<ForecastScore> =>
  scoreForecasts(store, fromAt, namespaces);

async function cronJobWith(bench: Bench, namespace: string, runs: readonly Partial<Execution>[]): Promise<number> {
  const cronJob = await projected(bench.store, bench.epoch, { namespace });
  await recordRuns(
    bench.store,
    bench.epoch,
    runs.map((run) => aRun(cronJob, run)),
  );
  return cronJob.id;
}

async function missed({ store, epoch }: Bench, cronJobId: number, at: number, inMaintenance = false): Promise<void> {
  const slot = { cronJobId, at, outcome: 'missed', inMaintenance, epochAt: at - dayMs } as const;
  await store.fenced(epoch, (tx) => recordSlots(tx, [{ ...slot, cause: undefined, message: undefined }]));
}

const likely = (cronJobId: number, code = 'repeats'): Forecast => ({ cronJobId, code, level: 'likely' });
const possible = (cronJobId: number, code = 'rate'): Forecast => ({ cronJobId, code, level: 'possible' });

export const forecasts = contract('forecasts', (test) => {
  test('score each CronJob once in a night: what failed or was missed, what of it was foreseen, what was told in vain', async (bench) => {
    const night = nightOf(-40);
    const failed = { status: 'failed', createdAt: night.fromAt + hourMs } as const;
    const foreseen = await cronJobWith(bench, 'shop', [failed]);
    await cronJobWith(bench, 'bank', [failed]);
    const lost = await cronJobWith(bench, 'shop', []);
    await missed(bench, lost, night.untilAt - 1);
    const inVain = await cronJobWith(bench, 'shop', [{ createdAt: failed.createdAt }]);
    const perhaps = await cronJobWith(bench, 'shop', []);
    const kept = [likely(foreseen), possible(foreseen), possible(lost), likely(inVain), possible(perhaps)];
    assert.equal(await keep(bench, night, kept), true);
    assert.deepEqual(await scoreSince(bench, night), none, 'a night that is not over says nothing');
    assert.equal(await judge(bench, night), true);
    assert.deepEqual(await scoreSince(bench, night), { nights: 1, failures: 3, foreseen: 2, false: 1 });
    assert.deepEqual(await scoreSince(bench, night, ['bank']), { nights: 1, failures: 1, foreseen: 0, false: 0 });
  });

  test('leave out what ran outside the night, what a person started and what maintenance covers', async (bench) => {
    const night = nightOf(-30);
    const inNight = { status: 'failed', createdAt: night.fromAt } as const;
    await cronJobWith(bench, 'shop', [
      { status: 'failed', createdAt: night.fromAt - 1 },
      { status: 'failed', createdAt: night.untilAt },
      { ...inNight, trigger: 'manual' },
    ]);
    await missed(bench, await cronJobWith(bench, 'shop', []), night.fromAt, true);
    await keep(bench, night, []);
    await judge(bench, night);
    assert.deepEqual(await scoreSince(bench, night), { ...none, nights: 1 });
  });

  test('are kept once and judged once, whichever leader comes; a night without a forecast is not judged', async (bench) => {
    const night = nightOf(-20);
    const id = await cronJobWith(bench, 'shop', [{ status: 'failed', createdAt: night.fromAt }]);
    assert.equal(await judge(bench, night), false);
    assert.deepEqual(await scoreSince(bench, night), none);
    assert.equal(await keep(bench, night, [likely(id)]), true);
    assert.equal(await keep(bench, night, [likely(id), possible(id)]), false);
    assert.equal(await judge(bench, night), true);
    assert.equal(await judge(bench, night), false);
    assert.deepEqual(await scoreSince(bench, night), { nights: 1, failures: 1, foreseen: 1, false: 0 });
    const earlier = { ...bench, epoch: bench.epoch - 1 };
    await assert.rejects(keep(earlier, nightOf(-19), []), FencedError);
  });

  test('go with their night', async (bench) => {
    const [old, young] = [nightOf(-10), nightOf(-9)];
    const id = await cronJobWith(bench, 'shop', []);
    for (const night of [old, young]) {
      await keep(bench, night, [likely(id)]);
      await judge(bench, night);
    }
    assert.equal((await scoreSince(bench, old)).nights, 2);
    const { counts } = await prune(bench, { forecastsBefore: young.fromAt });
    assert.ok(counts.forecasts >= 2);
    assert.deepEqual(await scoreSince(bench, old), { ...none, nights: 1, false: 1 });
  });
});
