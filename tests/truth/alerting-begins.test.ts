import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Disturbance, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const failure = (hour: number): RunStory => ({ slotAt: at(hour), fate: 'failure', seconds: 60, exitCode: 1 });

/** It fails at five and succeeds at six, and fails at eight; its monitor tells its channels from half past six on. */
const history: History = {
  seed: 0,
  startAt: at(3, 30),
  endAt: at(10),
  namespaces: [],
  cronJobs: [aCronJobStory(1, { createdAt: midnight, runs: [failure(5), failure(8)] })],
  monitors: [aMonitorStory(1, { spec: { alerting: { enabled: false } }, edits: [{ at: at(6, 30), spec: {} }] })],
};

describeWatching('a monitor that begins to tell its channels', (watch) => {
  const said = async (disturbances: readonly Disturbance[]) => {
    const { verdicts } = await watch(history, disturbances);
    return verdicts.map(({ type, openedAt, ended, isTold }) => [type, openedAt, ended.split(' ')[0], isTold]);
  };

  for (const kind of ['stopped', 'databaseAway'] as const)
    test(`tells nothing that was over by then, though the service learns of both later: ${kind}`, async () => {
      const calm = await said([]);
      assert.deepEqual(
        calm.map(([, , , isTold]) => isTold),
        [false, true],
      );
      assert.deepEqual(await said([{ kind, at: at(4, 30), untilAt: at(7) }]), calm);
    });
});
