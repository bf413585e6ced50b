import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { serveApi } from '../api/api-under-test.ts';
import { aClusterOfOne } from '../api/cluster.ts';
import { minuteMs, type Disturbance, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

const run = (hour: number, more: Partial<RunStory> = {}): RunStory => ({
  slotAt: at(hour),
  fate: 'success',
  seconds: 60,
  exitCode: 1,
  ...more,
});
const quiet = { jobFailed: { enabled: false }, stuckJobs: { enabled: false } };
const sla = { minSuccessRate: 0, durationRegressionThreshold: 0 };

/** What is wrong with the run at four, of CronJobs that run every four hours; the next one is as it must be. */
const troubles: readonly {
  readonly name: string;
  readonly spec: object;
  readonly run: RunStory;
  readonly endsAt: number;
}[] = [
  { name: 'it failed', spec: {}, run: run(4, { fate: 'failure' }), endsAt: at(8, 1) },
  { name: 'it did not start', spec: {}, run: run(4, { fate: 'neverStarted' }), endsAt: at(8) },
  {
    name: 'it took too long',
    spec: { ...quiet, sla: { ...sla, maxDuration: '5m' } },
    run: run(4, { seconds: 600 }),
    endsAt: at(8, 1),
  },
  {
    name: 'it ended too soon',
    spec: { ...quiet, sla: { ...sla, minDuration: '10s' } },
    run: run(4, { seconds: 2 }),
    endsAt: at(8, 1),
  },
  {
    name: 'it wrote nothing',
    spec: { ...quiet, output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } },
    run: run(4, { rows: 0 }),
    endsAt: at(8, 1),
  },
];
const names = troubles.map((_, index) => `job-${index}`);

const history: History = {
  seed: 0,
  startAt: at(3, 30),
  endAt: at(8, 30),
  namespaces: [],
  cronJobs: troubles.map(({ run: bad }, index) =>
    aCronJobStory(index, { rhythm: { everyHours: 4, minute: 0 }, tellsRows: true, createdAt: at(3), runs: [bad] }),
  ),
  monitors: troubles.map(({ spec }, index) =>
    aMonitorStory(index, { spec: { selector: { matchNames: [`job-${index}`] }, ...spec }, createdAt: at(3) }),
  ),
};

const removedAt = at(4, 30);
const disturbances: readonly (readonly [says: string, disturbances: readonly Disturbance[]])[] = [
  ['', []],
  [', though the service starts anew', [{ kind: 'killed', at: at(5), untilAt: at(5, 10) }]],
];

describeWatching('alerts of which the history is removed', (watch) => {
  for (const [says, disturbed] of disturbances)
    test(`what was wrong is so until a run is as it must be${says}`, async () => {
      const { verdicts } = await watch(history, disturbed, {
        lookAt: [removedAt],
        look: async ({ store }, _world, now) => {
          if (now !== removedAt) return;
          const clock = { ...systemClock, now: () => now };
          await using api = await serveApi({ store, cluster: aClusterOfOne(), clock, settings: testSettings });
          for (const name of names) {
            const path = `/api/v1/cronjobs/prod/${name}/history`;
            const { status } = await fetch(`http://127.0.0.1:${api.port}${path}`, { method: 'DELETE' });
            assert.equal(status, 200);
          }
        },
      });
      assert.deepEqual(
        verdicts
          .map(({ monitor, isTold, ended, endedAt }) => [
            troubles[Number(monitor.split('-').at(-1))]?.name,
            isTold,
            ended.split(' ')[0],
            Math.floor(Number(endedAt) / minuteMs),
          ])
          .toSorted(),
        troubles.map(({ name, endsAt }) => [name, true, 'resolved', endsAt / minuteMs]).toSorted(),
      );
    });
});
