import assert from 'node:assert/strict';
import { test } from 'node:test';
import { putSilence } from '@cronjob-monitor/shared/store';
import { hourMs, minuteMs, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

/** A run fails at six, and the next one succeeds. */
const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(9, 30),
  namespaces: [],
  cronJobs: [
    aCronJobStory(0, {
      createdAt: at(4, 40),
      successLimit: 100,
      runs: [{ slotAt: at(6), fate: 'failure', seconds: 60, exitCode: 1 }],
    }),
  ],
  monitors: [aMonitorStory(0, { createdAt: at(4, 40) })],
};
const silencedAt = at(5, 10);
const everything = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: true };

/** Each is over as the service starts again. */
const silences = [
  { says: 'that held all the while', endsAt: at(7, 30), endedAt: undefined, isTold: false },
  { says: 'that ended before the success', endsAt: at(6, 30), endedAt: undefined, isTold: true },
  { says: 'that a person ended before the failure', endsAt: at(7, 30), endedAt: at(5, 40), isTold: true },
];

describeWatching('what came and went while the service was stopped', (watch) => {
  for (const { says, endsAt, endedAt, isTold } of silences)
    test(`is ${isTold ? 'told' : 'told to no channel'} after a silence ${says}`, async () => {
      const said = { untilResolved: false, comment: 'a move', createdBy: 'ana' };
      const span = { startsAt: silencedAt, endsAt, endedAt, createdAt: silencedAt, updatedAt: silencedAt };
      const silence = { id: '0197a000-0000-7000-8000-000000000001', matcher: everything, ...said, ...span };
      const { verdicts } = await watch(history, [{ kind: 'stopped', at: at(5, 50), untilAt: at(5, 50) + 2 * hourMs }], {
        lookAt: [silencedAt + minuteMs],
        look: ({ store }, _world, now) =>
          now === history.endAt ? Promise.resolve() : store.transaction((tx) => putSilence(tx, silence)),
      });
      assert.deepEqual(
        verdicts.map((verdict) => verdict.isTold),
        [isTold],
      );
    });
});
