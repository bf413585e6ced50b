import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondMs, type Disturbance, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const failedAt = at(5, 1) + secondMs;
const deletedAt = failedAt + 5 * secondMs;

/** Its run fails, and it is deleted five seconds later, with its Job. */
const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(6),
  namespaces: [],
  cronJobs: [
    aCronJobStory(1, {
      rhythm: { everyHours: 24, minute: 300 },
      createdAt: midnight,
      deletedAt,
      runs: [{ slotAt: at(5), fate: 'failure', seconds: 60, exitCode: 1 }],
    }),
  ],
  monitors: [aMonitorStory(1, { spec: { stuckJobs: { enabled: false } } })],
};

describeWatching('news of Jobs that come after the deletion of their CronJob', (watch) => {
  const said = async (disturbances: readonly Disturbance[]) => {
    const { verdicts } = await watch(history, disturbances);
    return verdicts.map(({ type, openedAt, ended, endedAt, isTold }) => [type, openedAt, ended, endedAt, isTold]);
  };

  for (const seconds of [3, 60])
    test(`a failure is told that comes ${seconds} s after it`, async () => {
      const calm = await said([]);
      assert.deepEqual(
        calm.map(([type, openedAt, , , isTold]) => [type, openedAt, isTold]),
        [['jobFailed', failedAt, true]],
      );
      const untilAt = deletedAt + seconds * secondMs;
      assert.deepEqual(await said([{ kind: 'slowJobWatch', at: failedAt - 10 * secondMs, untilAt }]), calm);
    });
});
