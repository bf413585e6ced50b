import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { testDatabases } from '../store/databases.ts';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import { hourMs, minuteMs, secondMs, type Disturbance, type History } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { observe } from './observer/observe.ts';

standInForTheMachine(() => 200);

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });
const midnight = Date.UTC(2026, 10, 22);
const at = (hour: number, minute = 0, second = 0): number =>
  midnight + hour * hourMs + minute * minuteMs + second * secondMs;

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
  cronJobs: cases.map(({ name, slotMinute, deletedAt }, index) => ({
    uid: `c00000${String(index).padStart(2, '0')}-0000-4000-8000-000000000000`,
    namespace: 'prod',
    name,
    tier: 'a',
    rhythm: { everyHours: 24, minute: 300 + slotMinute },
    policy: 'Allow',
    suspend: false,
    ttlSeconds: undefined,
    successLimit: 3,
    failureLimit: 3,
    createdAt: midnight - 10 * 24 * hourMs,
    deletedAt,
    edits: [],
    runs: [{ slotAt: at(5, slotMinute), fate: 'failure', seconds: 60, exitCode: 1 }],
  })),
  monitors: [
    {
      uid: 'a0000001-0000-4000-8000-000000000000',
      namespace: 'prod',
      name: 'all',
      spec: { stuckJobs: { enabled: false } },
      createdAt: midnight - 10 * 24 * hourMs,
      deletedAt: undefined,
      edits: [],
    },
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

for (const database of testDatabases().filter(({ name }) => name === 'sqlite')) {
  describe(`what is deleted soon after a restart: ${database.name}`, () => {
    after(() => database.remove());

    const watch = async (disturbances: readonly Disturbance[], what: History = history) =>
      (await observe(what, { startsAt: what.startAt, disturbances }, { freshDatabase: () => database.fresh(), logger }))
        .verdicts;

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
}
