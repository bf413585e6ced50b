import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listCronJobs } from '@cronjob-monitor/shared/store';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import { type CronJobStory, type Disturbance, type Fate, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

/** What a rate is asked of, and since when it was too low, each time that it was told. */
interface Rate {
  readonly name: string;
  readonly cronJob: Partial<CronJobStory>;
  readonly sla?: object;
  readonly alerting?: object;
  readonly tells: readonly number[];
}

const run = (hour: number, fate: Fate): RunStory => ({ slotAt: at(hour), fate, seconds: 60, exitCode: 1 });
const fails = (...hours: number[]): Partial<CronJobStory> => ({ runs: hours.map((hour) => run(hour, 'failure')) });
const ended = (hour: number): number => at(hour, 1, 1);

/** Each runs at every hour from three on; four of five are 80 %, which is enough, and no margin above it. */
const rates: readonly Rate[] = [
  { name: 'it recovers from seven to eight', cronJob: fails(6), tells: [ended(6)] },
  { name: 'it breaks twice', cronJob: fails(5, 9), tells: [ended(5), ended(9)] },
  {
    name: 'it breaks as there are runs enough, by one that succeeded',
    cronJob: fails(5, 6),
    sla: { minRuns: 6 },
    tells: [ended(8)],
  },
  {
    name: 'it breaks by a slot that was missed',
    cronJob: { runs: [run(6, 'neverStarted')] },
    sla: { countMissed: true },
    tells: [at(6)],
  },
  {
    name: 'it is enough again within the delay of its alert',
    cronJob: fails(6),
    alerting: { alertDelay: '90m' },
    tells: [],
  },
];

const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(14, 30),
  namespaces: [],
  cronJobs: rates.map(({ cronJob }, index) =>
    aCronJobStory(index, { createdAt: at(2, 50), successLimit: 100, failureLimit: 100, ...cronJob }),
  ),
  monitors: rates.map(({ sla, alerting }, index) =>
    aMonitorStory(index, {
      spec: {
        selector: { matchNames: [`job-${index}`] },
        jobFailed: { enabled: false },
        missedSchedule: { enabled: false },
        sla: { minSuccessRate: 80, windowDays: 1, durationRegressionThreshold: 0, ...sla },
        ...(alerting && { alerting }),
      },
      createdAt: at(2, 50),
    }),
  ),
};

const nameOf = ({ monitor }: Verdict): string => rates[Number(monitor.split('-').at(-1))]?.name ?? monitor;

const disturbances: readonly (readonly [says: string, disturbance: Disturbance])[] = [
  ['is stopped and starts while one recovers', { kind: 'stopped', at: at(5, 50), untilAt: at(7, 10) }],
  ['is killed, while one is well again and breaks anew', { kind: 'killed', at: at(6, 50), untilAt: at(10, 20) }],
  ['is stopped for some hours', { kind: 'stopped', at: at(7, 50), untilAt: at(12, 30) }],
  ['has no database', { kind: 'databaseAway', at: at(5, 50), untilAt: at(8, 20) }],
  ['has no cluster', { kind: 'clusterAway', at: at(5, 50), untilAt: at(10, 20) }],
  ['gets another leader as a slot is missed', { kind: 'leaderKilled', at: at(6, 0, 30), untilAt: at(6, 30) }],
];

describeWatching('success rates', (observed) => {
  let calm: readonly Verdict[] = [];

  test('a service that looks all the time tells each since the run that broke it', async () => {
    ({ verdicts: calm } = await observed(history));
    const told = calm.filter(({ isTold }) => isTold);
    assert.deepEqual(
      rates.map(({ name }) => told.flatMap((one) => (nameOf(one) === name ? one.openedAt : [])).toSorted()),
      rates.map(({ tells }) => tells),
    );
  });

  for (const [says, disturbance] of disturbances)
    test(`the same are told where it ${says}`, async () => {
      const { verdicts } = await observed(history, [disturbance]);
      assert.deepEqual(
        differencesOf(calm, verdicts, history.endAt).map((one) => `${nameOf(one.verdict)}: ${inWords(one)}`),
        [],
      );
    });

  test('a target that was broken, well and broken again while the service was killed is so since it broke last', async () => {
    const since: unknown[] = [];
    await observed(history, [{ kind: 'killed', at: at(6, 50), untilAt: at(10, 20) }], {
      lookAt: [at(10, 30)],
      look: async ({ store }, _world, now) => {
        if (now === history.endAt) return;
        const twice = (await listCronJobs(store, { kinds: ['CronJob'] })).find(({ name }) => name === 'job-1');
        since.push(...(twice?.broken ?? []).map(({ sinceAt }) => sinceAt));
      },
    });
    assert.deepEqual(since, [ended(9)]);
  });
});
