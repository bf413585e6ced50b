import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondMs, type CronJobStory, type Disturbance, type History, type MonitorStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const failedAt = at(5, 1) + secondMs;
const leavesAt = failedAt + 5 * secondMs;

/** What is done five seconds after its run has failed, and how late that may be heard of: of what is deleted, for as long as its Job is. */
const ways: readonly {
  readonly name: string;
  readonly cronJob?: Partial<CronJobStory>;
  readonly monitor?: Partial<MonitorStory>;
  readonly lateSeconds: readonly number[];
}[] = [
  { name: 'it is deleted, with its Job', cronJob: { deletedAt: leavesAt }, lateSeconds: [3, 60] },
  { name: 'its label is changed', cronJob: { edits: [{ at: leavesAt, tier: 'z' }] }, lateSeconds: [1, 3, 30] },
  {
    name: 'its monitor selects others',
    monitor: { edits: [{ at: leavesAt, spec: selecting('b') }] },
    lateSeconds: [1, 3, 30],
  },
];

function selecting(tier: string): Readonly<Record<string, unknown>> {
  return { selector: { matchLabels: { tier } }, stuckJobs: { enabled: false } };
}

const historyOf = ({ cronJob, monitor }: (typeof ways)[number]): History => ({
  seed: 0,
  startAt: at(4, 30),
  endAt: at(6),
  namespaces: [],
  cronJobs: [
    aCronJobStory(1, {
      rhythm: { everyHours: 24, minute: 300 },
      createdAt: midnight,
      runs: [{ slotAt: at(5), fate: 'failure', seconds: 60, exitCode: 1 }],
      ...cronJob,
    }),
  ],
  monitors: [aMonitorStory(1, { spec: selecting('a'), ...monitor })],
});

describeWatching('news of Jobs that come after their CronJob is watched no more', (watch) => {
  for (const way of ways)
    test(`a failure is told that is heard of ${way.lateSeconds.join(' or ')} s later: ${way.name}`, async () => {
      const said = async (disturbances: readonly Disturbance[]) => {
        const { verdicts } = await watch(historyOf(way), disturbances);
        return verdicts.map(({ type, openedAt, ended, endedAt, isTold }) => [type, openedAt, ended, endedAt, isTold]);
      };
      const calm = await said([]);
      assert.deepEqual(
        calm.map(([type, openedAt, , , isTold]) => [type, openedAt, isTold]),
        [['jobFailed', failedAt, true]],
      );
      for (const seconds of way.lateSeconds) {
        const untilAt = leavesAt + seconds * secondMs;
        assert.deepEqual(await said([{ kind: 'slowJobWatch', at: failedAt - 10 * secondMs, untilAt }]), calm);
      }
    });
});
