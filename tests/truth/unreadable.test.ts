import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, type Disturbance, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const longAgo = midnight - 10 * 24 * hourMs;
const sound = { stuckJobs: { enabled: false } };
const brokenAt = at(5);
const mendedAt = at(5, 30);

/** One fails before its monitor breaks and stays so; the others fail while it is broken: with the database away, and after it is back. */
const failsAt = [at(4, 1), at(5, 8), at(5, 24)];

const historyWith = (broken: Readonly<Record<string, unknown>>): History => ({
  seed: 0,
  startAt: at(3, 30),
  endAt: at(6, 30),
  namespaces: [],
  cronJobs: failsAt.map((slotAt, index) =>
    aCronJobStory(index, {
      rhythm: { everyHours: 24, minute: (slotAt - midnight) / minuteMs },
      successLimit: 3,
      failureLimit: 3,
      createdAt: longAgo,
      runs: [{ slotAt, fate: 'failure', seconds: 60, exitCode: 1 }],
    }),
  ),
  monitors: [
    aMonitorStory(1, {
      name: 'all',
      spec: sound,
      createdAt: longAgo,
      edits: [
        { at: brokenAt, spec: { ...sound, ...broken } },
        { at: mendedAt, spec: sound },
      ],
    }),
  ],
});

const away: readonly (readonly [says: string, disturbances: readonly Disturbance[]])[] = [
  ['', []],
  [', and the database is away for a part of that', [{ kind: 'databaseAway', at: at(5, 5), untilAt: at(5, 20) }]],
  [', and the database is away until after the repair', [{ kind: 'databaseAway', at: at(4, 58), untilAt: at(5, 40) }]],
];

describeWatching('a monitor that cannot be read for half an hour', (watch) => {
  for (const [what, broken] of [
    ['its selector', { selector: 'all of them' }],
    ['one of its rules', { jobFailed: 'always' }],
  ] as const)
    for (const [says, disturbances] of away)
      test(`${what} is broken${says}: no alert ends, and each failure is told`, async () => {
        const history = historyWith(broken);
        const { verdicts } = await watch(history, disturbances);
        assert.deepEqual(
          verdicts
            .map(({ cronJobUid, type, ended, isTold }) => [cronJobUid.slice(7, 8), type, ended, isTold])
            .toSorted(),
          failsAt.map((_, index) => [String(index), 'jobFailed', 'open', true]),
        );
      });
});
