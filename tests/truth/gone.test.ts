import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import { hourMs, secondMs, type Disturbance, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const inTime = (instant: number): string => new Date(instant).toISOString().slice(11, 16);

const stoppedAt = at(5, 2, 30);
const startedAt = at(5, 10);

/** So long after the start of the next process each of them is deleted, with its Jobs, seconds. */
const deletedAfter = [1, 3, 10, 31, 48, 70];
/** Their run has failed before the process stops, or does while none is there. */
const failures = [
  { name: 'failed-before', slotMinute: 0 },
  { name: 'failed-meanwhile', slotMinute: 4 },
];

const cases = failures.flatMap(({ name, slotMinute }) =>
  deletedAfter.map((seconds) => ({
    name: `${name}-${seconds}`,
    slotMinute,
    deletedAt: startedAt + seconds * secondMs,
  })),
);

const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(6, 30),
  namespaces: [],
  cronJobs: cases.map(({ name, slotMinute, deletedAt }, index) =>
    aCronJobStory(index, {
      name,
      rhythm: { everyHours: 24, minute: 300 + slotMinute },
      successLimit: 3,
      failureLimit: 3,
      createdAt: midnight - 10 * 24 * hourMs,
      deletedAt,
      runs: [{ slotAt: at(5, slotMinute), fate: 'failure', seconds: 60, exitCode: 1 }],
    }),
  ),
  monitors: [
    aMonitorStory(1, { name: 'all', spec: { stuckJobs: { enabled: false } }, createdAt: midnight - 10 * 24 * hourMs }),
  ],
};

/** Its Job is deleted 3 min after it was decided that it failed, while its pod is still ending. */
const decided: History = {
  ...history,
  cronJobs: history.cronJobs.slice(0, 1).map((cronJob) => ({
    ...cronJob,
    name: 'decided',
    deletedAt: undefined,
    runs: [{ slotAt: at(5), fate: 'deleted', seconds: 240, endingSeconds: 180, exitCode: 1 }],
  })),
};

/** It takes too long, and its Job is deleted by hand before it ends. */
const overrun: History = {
  ...history,
  endAt: at(8),
  cronJobs: history.cronJobs.slice(0, 1).map((cronJob) => ({
    ...cronJob,
    name: 'overrun',
    deletedAt: undefined,
    runs: [{ slotAt: at(5), fate: 'deleted', seconds: 3_600, exitCode: 1 }],
  })),
  monitors: history.monitors.map((monitor) => ({ ...monitor, spec: { stuckJobs: { overrunningAfter: '20m' } } })),
};

describeWatching('what is deleted soon after a restart', (observed) => {
  const watch = async (disturbances: readonly Disturbance[], what: History = history) =>
    (await observed(what, disturbances)).verdicts;

  for (const kind of ['stopped', 'killed'] as const)
    test(`its failure is told as by a service that was never ${kind}`, async () => {
      const calm = await watch([]);
      assert.equal(calm.filter(({ isTold }) => isTold).length, cases.length);
      const found = await watch([{ kind, at: stoppedAt, untilAt: startedAt }]);
      assert.deepEqual(differencesOf(calm, found, history.endAt).map(inWords), []);
    });

  for (const [from, until] of [
    [at(4, 50), at(6, 10)],
    [at(5, 10), at(5, 30)],
    [at(5, 50), at(6, 10)],
  ] as const)
    test(`a run that took too long is told, though its Job is deleted and the database is away from ${inTime(from)} to ${inTime(until)}`, async () => {
      const calm = await watch([], overrun);
      assert.deepEqual(
        calm.map(({ type, subject, isTold }) => [type, subject, isTold]),
        [['jobStuck', 'overrunning', true]],
      );
      const found = await watch([{ kind: 'databaseAway', at: from, untilAt: until }], overrun);
      assert.deepEqual(differencesOf(calm, found, overrun.endAt).map(inWords), []);
    });

  test('a failure that was decided is told, though the Job goes before its pods have ended', async () => {
    const told = (await watch([], decided)).filter(({ isTold }) => isTold);
    assert.deepEqual(
      told.map(({ type, openedAt }) => [type, new Date(openedAt).toISOString()]),
      [['jobFailed', '2026-11-22T05:01:01.000Z']],
    );
  });
});
