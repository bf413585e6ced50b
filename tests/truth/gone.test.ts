import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import {
  hourMs,
  secondMs,
  type CronJobStory,
  type Disturbance,
  type History,
  type RunStory,
} from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
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

const run = (hour: number, more: Partial<RunStory> = {}): RunStory => ({
  slotAt: at(hour),
  fate: 'failure',
  seconds: 60,
  exitCode: 1,
  ...more,
});
const notStuck = { stuckJobs: { enabled: false } };
const deletedAt = at(8, 10);

/** Each is deleted at ten past eight; the database is away from before six to half past twelve. */
const deletedUnwritten: readonly {
  readonly name: string;
  readonly cronJob: Partial<CronJobStory>;
  readonly monitor?: object;
}[] = [
  { name: 'a run fails', cronJob: { runs: [run(6)] } },
  { name: 'a run has failed before', cronJob: { runs: [run(5)] } },
  { name: 'a run fails, and the next one succeeds', cronJob: { rhythm: { everyHours: 1, minute: 0 }, runs: [run(6)] } },
  {
    name: 'a run has failed before, and the next one succeeds',
    cronJob: { rhythm: { everyHours: 1, minute: 0 }, runs: [run(5)] },
  },
  { name: 'a run is missed', cronJob: { runs: [run(6, { fate: 'neverStarted' })] } },
  {
    name: 'a run goes on for too long',
    cronJob: { runs: [run(6, { seconds: 18_000 })] },
    monitor: { stuckJobs: { overrunningAfter: '20m' } },
  },
  {
    name: 'it is suspended for too long',
    cronJob: { edits: [{ at: at(6), suspend: true }] },
    monitor: { suspendedHandling: { alertIfSuspendedFor: '1h' } },
  },
  {
    name: 'it was suspended for too long and is resumed',
    cronJob: {
      edits: [
        { at: at(5), suspend: true },
        { at: at(7, 30), suspend: false },
      ],
    },
    monitor: { suspendedHandling: { alertIfSuspendedFor: '2h' } },
  },
  {
    name: 'it has not succeeded for too long',
    cronJob: { createdAt: at(2, 50), rhythm: { everyHours: 24, minute: 240 } },
    monitor: { deadManSwitch: { maxTimeSinceLastSuccess: '3h' } },
  },
  {
    name: 'it would not have succeeded for too long',
    cronJob: { rhythm: { everyHours: 24, minute: 240 } },
    monitor: { deadManSwitch: { maxTimeSinceLastSuccess: '6h' } },
  },
  { name: 'a failure has had its delay', cronJob: { runs: [run(5)] }, monitor: { alerting: { alertDelay: '2h' } } },
  {
    name: 'a failure would have had its delay',
    cronJob: { runs: [run(5)] },
    monitor: { alerting: { alertDelay: '4h' } },
  },
];

type Way = 'relabelled' | 'respecified' | 'monitorDeleted';
const leaving = (way: Way): History => ({
  ...unwritten,
  cronJobs: deletedUnwritten.map(({ cronJob }, index) => {
    const minute = ((cronJob.runs ?? [])[0]?.slotAt ?? at(5)) === at(6) ? 360 : 300;
    const edits = [...(cronJob.edits ?? []), ...(way === 'relabelled' ? [{ at: deletedAt, tier: 'z' }] : [])];
    return aCronJobStory(index, { rhythm: { everyHours: 24, minute }, successLimit: 20, ...cronJob, edits });
  }),
  monitors: deletedUnwritten.map(({ monitor = {} }, index) => {
    const spec = (selector: object) => ({ selector, ...notStuck, ...monitor });
    return aMonitorStory(index, {
      spec: spec({ matchNames: [`job-${index}`], matchLabels: { tier: 'a' } }),
      edits: way === 'respecified' ? [{ at: deletedAt, spec: spec({ matchNames: ['none'] }) }] : [],
      deletedAt: way === 'monitorDeleted' ? deletedAt : undefined,
    });
  }),
});

const nameOf = ({ monitor }: Verdict): string => deletedUnwritten[Number(monitor.split('-').at(-1))]?.name ?? '';

/** Every other one is made anew a minute later. */
const unwritten: History = {
  seed: 0,
  startAt: at(4, 30),
  endAt: at(15),
  namespaces: [],
  cronJobs: deletedUnwritten.flatMap(({ cronJob }, index) => {
    const minute = ((cronJob.runs ?? [])[0]?.slotAt ?? at(5)) === at(6) ? 360 : 300;
    const story = {
      name: `job-${index}`,
      createdAt: midnight,
      rhythm: { everyHours: 24, minute },
      deletedAt,
      ...cronJob,
    };
    const again = { ...story, runs: [], edits: [], createdAt: deletedAt + 60 * secondMs, deletedAt: undefined };
    return [aCronJobStory(index, story), ...(index % 2 === 0 ? [aCronJobStory(100 + index, again)] : [])];
  }),
  monitors: deletedUnwritten.map(({ monitor = {} }, index) =>
    aMonitorStory(index, { spec: { selector: { matchNames: [`job-${index}`] }, ...notStuck, ...monitor } }),
  ),
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

  test('runs that were skipped for too long, of which the last is missed, are told since the first of them', async () => {
    const spec = { ...notStuck, missedSchedule: { skipWarnAfter: 2 } };
    const longRun = run(5, { fate: 'success', seconds: 11_400 });
    const skipping = { rhythm: { everyHours: 1, minute: 0 }, policy: 'Forbid', runs: [longRun] } as const;
    const what = { ...unwritten, cronJobs: [aCronJobStory(1, skipping)], monitors: [aMonitorStory(1, { spec })] };
    for (const kind of [undefined, 'databaseAway', 'stopped'] as const) {
      const said = await watch(kind === undefined ? [] : [{ kind, at: at(5, 50), untilAt: at(9, 30) }], what);
      assert.deepEqual(
        said.map(({ type, openedAt, isTold }) => [type, inTime(openedAt), isTold]),
        [['missedSchedule', '06:00', true]],
      );
    }
  });

  test('a failure is told though its CronJob is deleted in the second in which it ends', async () => {
    const endAt = at(5, 1) + secondMs;
    for (const deletedAt of [endAt + 200, endAt + 900]) {
      const fails = { rhythm: { everyHours: 24, minute: 300 }, runs: [run(5, { seconds: 60 })], deletedAt };
      const what = {
        ...unwritten,
        cronJobs: [aCronJobStory(1, fails)],
        monitors: [aMonitorStory(1, { spec: notStuck })],
      };
      const said = await watch([], what);
      assert.deepEqual(
        said.map(({ type, isTold }) => [type, isTold]),
        [['jobFailed', true]],
        `${deletedAt - endAt} ms later`,
      );
    }
  });

  for (const [way, kind] of [
    ['relabelled', 'databaseAway'],
    ['relabelled', 'stopped'],
    ['respecified', 'databaseAway'],
    ['respecified', 'stopped'],
    ['monitorDeleted', 'databaseAway'],
  ] as const)
    test(`what was wrong with CronJobs is told by the monitor that they leave, and ended then: ${way}, ${kind}`, async () => {
      // A suspension that came and went while the service was stopped is not known.
      const isKnown = ({ monitor }: Verdict): boolean => kind !== 'stopped' || !monitor.endsWith('-7');
      const said = (of: readonly Verdict[]): string[] =>
        of
          .filter(isKnown)
          .map(
            (one) =>
              `${nameOf(one)}: ${one.type} ${inTime(one.openedAt)} ${one.ended} ${inTime(one.endedAt ?? 0)} ${one.isTold}`,
          )
          .toSorted();
      const calm = await watch([], leaving(way));
      assert.equal(new Set(calm.flatMap((one) => (one.isTold ? nameOf(one) : []))).size, 10);
      const away = { kind, at: at(5, 50), untilAt: at(12, 30) } as const;
      assert.deepEqual(said(await watch([away], leaving(way))), said(calm));
    });

  test('what was wrong with CronJobs that are deleted while the database is away is told, and ended as they went', async () => {
    const said = (of: readonly Verdict[]): string[] =>
      of
        .filter(({ isTold }) => isTold)
        .map((one) => `${nameOf(one)}: ${one.type} ${inTime(one.openedAt)} ${one.ended} ${inTime(one.endedAt ?? 0)}`)
        .toSorted();
    const calm = await watch([], unwritten);
    const told = new Set(calm.flatMap((one) => (one.isTold ? nameOf(one) : [])));
    assert.deepEqual(
      deletedUnwritten.map(({ name }) => name).filter((name) => !told.has(name)),
      ['it would not have succeeded for too long', 'a failure would have had its delay'],
    );
    const away = { kind: 'databaseAway', at: at(5, 50), untilAt: at(12, 30) } as const;
    assert.deepEqual(said(await watch([away], unwritten)), said(calm));
  });
});
