import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, secondMs, type CronJobStory, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const endAt = at(5, 1) + secondMs;
const leavesAt = endAt + 300;
/** Each fails at 5:01:01 and leaves its monitor 300 ms later. */
const ways: Readonly<Record<string, Partial<CronJobStory>>> = {
  deleted: { deletedAt: leavesAt },
  relabelled: { edits: [{ at: leavesAt, tier: 'z' }] },
};

const historyOf = (way: Partial<CronJobStory>): History => ({
  seed: 0,
  startAt: at(4, 30),
  endAt: at(5, 30),
  namespaces: [],
  cronJobs: [
    aCronJobStory(1, {
      rhythm: { everyHours: 24, minute: 300 },
      createdAt: midnight - 10 * 24 * hourMs,
      runs: [{ slotAt: at(5), fate: 'failure', seconds: 60, exitCode: 1 }],
      ...way,
    }),
  ],
  monitors: [
    aMonitorStory(1, {
      spec: { selector: { matchLabels: { tier: 'a' } }, stuckJobs: { enabled: false } },
      createdAt: midnight - 10 * 24 * hourMs,
    }),
  ],
});

/** What was not heard before the process ended is gone with the CronJob: the first kill comes once its failure was. */
const firstKillMs = 100;
const lastKillMs = 3_100;

describeWatching('a failure of a CronJob that leaves its monitor in the same second', (watch) => {
  for (const [name, way] of Object.entries(ways))
    test(`is told once, at whatever instant the process is killed then: ${name}`, async () => {
      for (let ms = firstKillMs; ms <= lastKillMs; ms += 300) {
        const killed = { kind: 'killed', at: endAt + ms, untilAt: endAt + ms + 20 * secondMs } as const;
        const { verdicts } = await watch(historyOf(way), [killed]);
        assert.deepEqual(
          verdicts.map(({ type, openedAt, isTold }) => [type, openedAt, isTold]),
          [['jobFailed', endAt, true]],
          `killed ${ms} ms after the run ended`,
        );
      }
    });
});
