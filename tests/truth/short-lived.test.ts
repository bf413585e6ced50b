import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJobStory, History, MonitorStory, RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching, midnight } from './rig.ts';

standInForTheMachine(() => 200);

const inTime = (instant: number): string => new Date(instant).toISOString().slice(11, 16);

const run = (hour: number, more: Partial<RunStory> = {}): RunStory => ({
  slotAt: at(hour),
  fate: 'failure',
  seconds: 60,
  exitCode: 1,
  ...more,
});

/** Each is made at half past six and deleted at ten past eight; the database is away from before six to half past twelve. */
const shortLived: readonly {
  readonly name: string;
  readonly cronJob: Partial<CronJobStory>;
  readonly spec?: object;
  readonly monitor?: Partial<MonitorStory>;
}[] = [
  { name: 'a run fails', cronJob: { runs: [run(7)] } },
  { name: 'a run fails, and the next one succeeds', cronJob: { rhythm: { everyHours: 1, minute: 0 }, runs: [run(7)] } },
  { name: 'a run is missed', cronJob: { runs: [run(7, { fate: 'neverStarted' })] } },
  {
    name: 'a run goes on for too long',
    cronJob: { runs: [run(7, { seconds: 18_000 })] },
    spec: { stuckJobs: { overrunningAfter: '20m' } },
  },
  {
    name: 'it is suspended for too long',
    cronJob: { suspend: true },
    spec: { suspendedHandling: { alertIfSuspendedFor: '1h' } },
  },
  {
    name: 'a run fails under a monitor of the same time',
    cronJob: { runs: [run(7)] },
    monitor: { createdAt: at(6, 10) },
  },
  {
    name: 'a run fails before its monitor is made',
    cronJob: { runs: [run(7)] },
    monitor: { createdAt: at(7, 30) },
  },
  {
    name: 'a run fails, and its monitor is deleted after it',
    cronJob: { runs: [run(7)] },
    monitor: { deletedAt: at(9) },
  },
  {
    name: 'a run fails under a monitor that is made after it and deleted after it',
    cronJob: { runs: [run(7)] },
    monitor: { createdAt: at(6, 40), deletedAt: at(9) },
  },
  {
    name: 'a run fails, and it leaves its monitor',
    cronJob: { runs: [run(7)], edits: [{ at: at(7, 30), tier: 'z' }], deletedAt: undefined },
  },
  {
    name: 'it leaves its monitor twice, and a run fails before the second time',
    cronJob: {
      rhythm: { everyHours: 1, minute: 0 },
      runs: [run(8)],
      edits: [
        { at: at(6, 40), tier: 'z' },
        { at: at(7, 10), tier: 'a' },
        { at: at(8, 30), tier: 'z' },
      ],
      deletedAt: undefined,
    },
  },
  {
    name: 'it fails before and after it joins its monitor',
    cronJob: {
      rhythm: { everyHours: 1, minute: 0 },
      tier: 'z',
      runs: [run(7), run(8)],
      edits: [{ at: at(7, 30), tier: 'a' }],
    },
  },
];

const history: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(15),
  namespaces: [],
  cronJobs: shortLived.map(({ cronJob }, index) =>
    aCronJobStory(index, {
      rhythm: { everyHours: 24, minute: 420 },
      createdAt: at(6, 30),
      deletedAt: at(8, 10),
      ...cronJob,
    }),
  ),
  monitors: shortLived.map(({ spec = {}, monitor = {} }, index) => {
    const selector = { matchNames: [`job-${index}`], matchLabels: { tier: 'a' } };
    return aMonitorStory(index, {
      spec: { selector, stuckJobs: { enabled: false }, ...spec },
      createdAt: midnight,
      ...monitor,
    });
  }),
};

const said = (of: readonly Verdict[]): string[] =>
  of
    .filter(({ isTold }) => isTold)
    .map((one) => {
      const name = shortLived[Number(one.monitor.split('-').at(-1))]?.name;
      return `${name}: ${one.type} ${inTime(one.openedAt)} ${one.ended} ${inTime(one.endedAt ?? 0)}`;
    })
    .toSorted();

describeWatching('CronJobs that are made and deleted while the database is away', (watch) => {
  test('what was wrong with them is told, and ended as they went', async () => {
    const calm = said((await watch(history)).verdicts);
    const told = shortLived.filter(({ name }) => calm.some((one) => one.startsWith(`${name}:`)));
    assert.equal(told.length, shortLived.length - 1, 'all but the one that failed before its monitor was made');
    const away = { kind: 'databaseAway', at: at(5, 50), untilAt: at(12, 30) } as const;
    assert.deepEqual(said((await watch(history, [away])).verdicts), calm);
  });
});
