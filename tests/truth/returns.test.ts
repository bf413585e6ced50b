import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CronJobStory,
  type Disturbance,
  type Fate,
  type History,
  type MonitorStory,
  type RunStory,
} from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

/** One of two monitors of the same CronJobs is away for eight minutes. */
const goneAt = at(5);
const backAt = at(5, 8);

const run = (hour: number, minute: number, fate: Fate, seconds = 60): RunStory => ({
  slotAt: at(hour, minute),
  fate,
  seconds,
  exitCode: 1,
});

/** What happens to each CronJob while one of its monitors is away. */
const stories: readonly (Partial<CronJobStory> & Pick<CronJobStory, 'name'>)[] = [
  { name: 'a-run-fails', rhythm: { everyHours: 24, minute: 302 }, runs: [run(5, 2, 'failure')] },
  { name: 'a-long-run-fails', rhythm: { everyHours: 4, minute: 3 }, runs: [run(4, 3, 'failure', 3_500)] },
  {
    name: 'a-run-succeeds-again',
    rhythm: { everyHours: 1, minute: 1 },
    runs: [run(4, 1, 'failure'), run(5, 1, 'success')],
  },
  { name: 'its-switch-comes-due', rhythm: { everyHours: 24, minute: 122 }, createdAt: at(1, 50) },
  {
    name: 'it-is-suspended-too-long',
    rhythm: { everyHours: 24, minute: 122 },
    edits: [{ at: at(4, 3), suspend: true }],
  },
  { name: 'a-run-is-missed', rhythm: { everyHours: 24, minute: 301 }, runs: [run(5, 1, 'neverStarted')] },
  { name: 'a-run-is-slow', rhythm: { everyHours: 24, minute: 272 }, runs: [run(4, 32, 'success', 2_000)] },
];

const spec = {
  deadManSwitch: { maxTimeSinceLastSuccess: '3h' },
  suspendedHandling: { alertIfSuspendedFor: '1h' },
  stuckJobs: { overrunningAfter: '30m' },
};
const monitor = (number: number, name: string, createdAt: number, deletedAt?: number): MonitorStory =>
  aMonitorStory(number, { name, spec, createdAt, deletedAt });

const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(8),
  namespaces: [],
  cronJobs: stories.map((story, index) => aCronJobStory(index, { createdAt: at(2, 50), ...story })),
  monitors: [monitor(0, 'stays', at(2, 55)), monitor(1, 'returns', at(2, 55), goneAt), monitor(2, 'returns', backAt)],
};

const disturbances: readonly (readonly [says: string, disturbances: readonly Disturbance[]])[] = [
  ['', []],
  [' while the service is stopped', [{ kind: 'stopped', at: at(5, 4), untilAt: at(5, 12) }]],
  [', all of it while the service is stopped', [{ kind: 'stopped', at: at(4, 58), untilAt: at(5, 20) }]],
  [', all of it while the database is away', [{ kind: 'databaseAway', at: at(4, 58), untilAt: at(5, 20) }]],
];

describeWatching('a monitor that returns', (watch) => {
  for (const [says, disturbed] of disturbances)
    test(`tells what a monitor tells that stays${says}`, async () => {
      const { verdicts } = await watch(history, disturbed);
      const told = toldBy(verdicts, 'prod/stays');
      assert.ok(told.length > stories.length);
      assert.deepEqual(toldBy(verdicts, 'prod/returns'), told);
    });
});

function toldBy(verdicts: readonly Verdict[], of: string): string[] {
  return verdicts
    .filter((verdict) => verdict.monitor === of)
    .map(({ cronJobUid, type, subject, openedAt, ended, isTold }) => {
      const { name } = stories[Number(cronJobUid.slice(7, 8))] ?? {};
      return `${name}: ${type}/${subject} ${new Date(openedAt).toISOString()} ${ended} ${isTold ? 'told' : 'not told'}`;
    })
    .toSorted();
}
