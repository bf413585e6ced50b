import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs, type Disturbance, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

const bodies: string[] = [];
standInForTheMachine(({ body }) => {
  bodies.push(body);
  return 200;
});

const deletedAt = at(5, 35);

/**
 * Its run fails; its monitor is deleted half an hour later, and its next run fails too. Kubernetes does not keep when a monitor was deleted:
 * what happened between the last look and that instant is not judged for it.
 */
const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(9),
  namespaces: [],
  cronJobs: [
    aCronJobStory(1, {
      createdAt: midnight,
      runs: [5, 6].map((hour) => ({ slotAt: at(hour), fate: 'failure' as const, seconds: 60, exitCode: 1 })),
    }),
  ],
  monitors: [aMonitorStory(1, { deletedAt })],
};

describeWatching('a monitor that is deleted while the service is stopped', (watch) => {
  const said = async (disturbances: readonly Disturbance[]) => {
    bodies.length = 0;
    const { verdicts } = await watch(history, disturbances);
    const told = verdicts.map(({ type, openedAt, ended, isTold }) => [type, openedAt, ended, isTold]);
    return { told, endedAt: verdicts[0]?.endedAt ?? Infinity, messages: bodies.length };
  };

  for (const minutes of [2, 8, 12, 90])
    test(`ends its alerts ten minutes after the start that finds it gone, ${minutes} min after its deletion`, async () => {
      const calm = await said([]);
      assert.equal(calm.endedAt, deletedAt + 10 * minuteMs);
      const untilAt = deletedAt + minutes * minuteMs;
      const found = await said([{ kind: 'stopped', at: deletedAt - 5 * minuteMs, untilAt }]);
      assert.deepEqual([found.told, found.messages], [calm.told, calm.messages]);
      // It may be made anew until then.
      const lateMs = found.endedAt - (untilAt + 10 * minuteMs);
      assert.ok(lateMs >= 0 && lateMs < minuteMs, `it ended ${lateMs} ms later`);
    });
});
