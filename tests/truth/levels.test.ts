import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import {
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
  type CronJobStory,
  type Disturbance,
  type History,
} from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, describeWatching } from './rig.ts';

/** What a webhook gets, as far as it is read here. */
interface Body {
  readonly data: {
    readonly cronjob?: { readonly name: string };
    readonly alert?: {
      readonly type: string;
      readonly subject: string | null;
      readonly title: string;
      readonly since: string;
      readonly endedAt: string | null;
      readonly delayed: boolean;
      readonly firstNotice: boolean;
    };
  };
}

const bodies: Body[] = [];
standInForTheMachine(({ body }) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the channels check the shape
  bodies.push(JSON.parse(body) as Body);
  return 200;
});

const startAt = Date.UTC(2026, 10, 22);
/** About then every level begins. */
const beginAt = startAt + 6 * hourMs;
const longAgo = startAt - 10 * dayMs;

/** A level that begins and ends by itself: what makes it, when it begins, and when it ends where it shall last so long. */
interface Level {
  readonly name: string;
  readonly identity: string;
  readonly monitor: Readonly<Record<string, unknown>>;
  /** Of a run each day at this time. */
  readonly slotAt: number;
  readonly cronJob: (lastsMs: number) => Partial<CronJobStory>;
  readonly beginsAt: number;
  readonly endsAt: (lastsMs: number) => number;
  /** It lasts until the run of the next day. */
  readonly isLong?: true;
}

const run = (slotAt: number, seconds: number, more: object = {}) =>
  ({ slotAt, fate: 'success', seconds, exitCode: 0, ...more }) as const;
const sla = { minSuccessRate: 0, durationRegressionThreshold: 0 };
const notStuck = { stuckJobs: { enabled: false } };
const after1s = beginAt + secondMs;

const levels: readonly Level[] = [
  {
    name: "a dead-man's switch came due before a success came",
    identity: 'deadManTriggered',
    monitor: { ...notStuck, deadManSwitch: { maxTimeSinceLastSuccess: '24h' } },
    slotAt: beginAt - minuteMs,
    cronJob: (lastsMs) => ({ runs: [run(beginAt - minuteMs, 60 + lastsMs / secondMs)] }),
    beginsAt: after1s,
    endsAt: (lastsMs) => after1s + lastsMs,
  },
  {
    name: 'a CronJob was suspended for too long and is resumed',
    identity: 'jobSuspended',
    monitor: { ...notStuck, suspendedHandling: { alertIfSuspendedFor: '2h' } },
    slotAt: beginAt - 3 * hourMs,
    cronJob: (lastsMs) => ({
      edits: [
        { at: beginAt - 2 * hourMs, suspend: true },
        { at: beginAt + lastsMs, suspend: false },
      ],
    }),
    beginsAt: beginAt,
    endsAt: (lastsMs) => beginAt + lastsMs,
  },
  {
    name: 'a run went on for too long and ended',
    identity: 'jobStuck/overrunning',
    monitor: { stuckJobs: { overrunningAfter: '30m' } },
    slotAt: beginAt - 30 * minuteMs,
    cronJob: (lastsMs) => ({ runs: [run(beginAt - 30 * minuteMs, 1_800 + lastsMs / secondMs)] }),
    beginsAt: after1s,
    endsAt: (lastsMs) => after1s + lastsMs,
  },
  {
    name: 'the pods of a Job took too long to end after its end was decided',
    identity: 'jobStuck/terminating',
    monitor: { stuckJobs: { terminatingAfter: '10m', overrunningAfter: '20m' } },
    slotAt: beginAt - 11 * minuteMs,
    cronJob: (lastsMs) => {
      const endingSeconds = 600 + lastsMs / secondMs;
      return { runs: [run(beginAt - 11 * minuteMs, 60 + endingSeconds, { endingSeconds })] };
    },
    beginsAt: after1s,
    endsAt: (lastsMs) => after1s + lastsMs,
  },
  {
    name: 'the container of a Job started too late',
    identity: 'jobStuck/notStarted',
    monitor: { stuckJobs: { notStartedAfter: '10m', overrunningAfter: '100h' } },
    slotAt: beginAt - 10 * minuteMs,
    cronJob: (lastsMs) => {
      const waitSeconds = 600 + lastsMs / secondMs;
      return { runs: [run(beginAt - 10 * minuteMs, waitSeconds + 5, { waitSeconds })] };
    },
    beginsAt: after1s,
    endsAt: (lastsMs) => after1s + lastsMs,
  },
  {
    name: 'the run that was to be finished by a time of day was later',
    identity: 'slaBreached/finishBy',
    monitor: { ...notStuck, sla: { ...sla, finishBy: { time: '06:00', timezone: 'UTC' } } },
    slotAt: beginAt - hourMs,
    cronJob: (lastsMs) => ({ runs: [run(beginAt - hourMs, (hourMs + lastsMs) / secondMs - 1)] }),
    beginsAt: beginAt,
    endsAt: (lastsMs) => beginAt + lastsMs,
  },
  {
    name: 'a run took longer than promised, and the next one did not',
    identity: 'slaBreached/maxDuration',
    monitor: { ...notStuck, sla: { ...sla, maxDuration: '20m' } },
    slotAt: beginAt - 20 * minuteMs,
    cronJob: () => ({ runs: [run(beginAt - 20 * minuteMs, 1_800)] }),
    beginsAt: after1s,
    endsAt: () => beginAt - 20 * minuteMs + dayMs + 61 * secondMs,
    isLong: true,
  },
  {
    name: 'a run did not start, and the next one did',
    identity: 'missedSchedule',
    monitor: notStuck,
    slotAt: beginAt,
    cronJob: () => ({ runs: [{ slotAt: beginAt, fate: 'neverStarted', seconds: 1, exitCode: 0 }] }),
    beginsAt: beginAt,
    endsAt: () => beginAt + dayMs + secondMs,
    isLong: true,
  },
  {
    name: 'a CronJob did not succeed in the time that its first run had, and then did',
    identity: 'absent/neverSucceeded',
    monitor: { ...notStuck, deadManSwitch: { autoFromSchedule: {} } },
    slotAt: beginAt - hourMs,
    cronJob: (lastsMs) => ({
      createdAt: beginAt - 2 * hourMs,
      runs: [run(beginAt - hourMs, (hourMs + lastsMs) / secondMs - 1)],
    }),
    beginsAt: beginAt,
    endsAt: (lastsMs) => beginAt + lastsMs,
  },
];

function historyOf(played: readonly Level[], lastsMs: number): History {
  return {
    seed: 0,
    startAt,
    endAt: beginAt + (lastsMs > 2 * hourMs ? dayMs : lastsMs) + 4 * hourMs,
    namespaces: [],
    cronJobs: played.map(({ cronJob, slotAt }, index) =>
      aCronJobStory(index, {
        rhythm: { everyHours: 24, minute: (slotAt % dayMs) / minuteMs },
        successLimit: 100,
        failureLimit: 100,
        createdAt: longAgo,
        ...cronJob(lastsMs),
      }),
    ),
    monitors: played.map(({ monitor }, index) =>
      aMonitorStory(index, {
        spec: { selector: { matchNames: [`job-${index}`] }, ...monitor },
        createdAt: longAgo,
      }),
    ),
  };
}

/**
 * How long the levels last, and what keeps the service from looking from a little before to a little after; what starts after a stop is
 * another replica with the same database.
 */
const lengths = [
  // Shorter than the time between two looks: what happened tells of it all the same.
  ['three seconds', 3 * secondMs, []],
  ['a minute', 20 * secondMs, ['stopped', 'clusterAway']],
  ['an hour', 59 * minuteMs, ['killed', 'databaseAway', 'slowWatch']],
  ['a day', 23 * hourMs, ['stopped']],
] as const;

const at = (instant: number): string => new Date(instant).toISOString();

describeWatching('levels that begin and end while the service does not look', (observed) => {
  const watch = async (history: History, disturbances: readonly Disturbance[]) => {
    bodies.length = 0;
    const { verdicts } = await observed(history, disturbances);
    return { verdicts, sent: bodies.flatMap(({ data }) => (data.alert && data.cronjob ? [data] : [])) };
  };

  for (const [length, lastsMs, kinds] of lengths) {
    const played = levels.filter(({ isLong }) => isLong !== true || length === 'a day');
    const history = historyOf(played, lastsMs);
    let calm: Awaited<ReturnType<typeof watch>> | undefined;

    test(`a service that looks for ${length} opens and ends each of them`, async () => {
      calm = await watch(history, []);
      const opened = calm.verdicts.map(({ identity, openedAt }) => `${identity.split(' ').at(-1)} ${openedAt}`);
      assert.deepEqual(opened.toSorted(), played.map(({ identity, beginsAt }) => `${identity} ${beginsAt}`).toSorted());
      assert.ok(calm.verdicts.every(({ isTold, ended }) => isTold && ended.startsWith('resolved')));
    });

    for (const kind of kinds) {
      test(`${length} of ${kind}: each is told by one message with both times`, async () => {
        const untilAt = Math.max(...played.map(({ endsAt }) => endsAt(lastsMs))) + 30 * secondMs;
        const { verdicts, sent } = await watch(history, [{ kind, at: beginAt - 20 * secondMs, untilAt }]);
        const sure = calm ?? (await watch(history, []));
        assert.deepEqual(differencesOf(sure.verdicts, verdicts, history.endAt).map(inWords), []);
        const isAlive = kind === 'clusterAway' || kind === 'slowWatch';
        for (const [index, { name, beginsAt, endsAt }] of played.entries()) {
          const told = sent.filter(({ cronjob }) => cronjob?.name === `job-${index}`);
          // A process that goes on may know of the beginning, and tell of both as they come.
          if (isAlive && told.length === 2) {
            const [first, last] = told.map(({ alert }) => alert);
            assert.deepEqual([first?.firstNotice, first?.since, first?.endedAt], [false, at(beginsAt), null], name);
            assert.deepEqual([last?.firstNotice, last?.endedAt], [false, at(endsAt(lastsMs))], name);
            continue;
          }
          const said = told.map(({ alert }) => [alert?.firstNotice, alert?.since, alert?.endedAt]);
          assert.deepEqual(said, [[true, at(beginsAt), at(endsAt(lastsMs))]], name);
          assert.doesNotMatch(told[0]?.alert?.title ?? '', /CompletionsReached/, 'that it succeeded is no reason');
          if (lastsMs > 6 * minuteMs) assert.equal(told[0]?.alert?.delayed, true, `${name}: it is late news`);
        }
      });
    }
  }

  for (const broken of ['failed', 'missed'] as const)
    test(`a success rate that broke with a run that ${broken} and was good again while the service was stopped is told by one message`, async () => {
      const slots = Array.from({ length: 12 }, (_, hour) => startAt + hour * hourMs);
      const isMissed = broken === 'missed';
      const bad = isMissed ? ({ fate: 'neverStarted' } as const) : ({ fate: 'failure', exitCode: 1 } as const);
      const rated: Level = {
        name: 'too few runs succeeded, and then enough did',
        identity: 'slaBreached/successRate',
        monitor: {
          ...notStuck,
          sla: { ...sla, windowDays: 7, minRuns: 5, minSuccessRate: 88, countMissed: isMissed },
        },
        slotAt: startAt,
        cronJob: () => ({
          createdAt: startAt,
          rhythm: { everyHours: 1, minute: 0 },
          runs: slots.map((slot) => run(slot, 1, slot === beginAt ? bad : {})),
        }),
        beginsAt: isMissed ? beginAt : beginAt + 2 * secondMs,
        endsAt: () => beginAt + 4 * hourMs + 2 * secondMs,
      };
      const history = historyOf([rated], hourMs);
      const calm = await watch(history, []);
      const ofRate = ({ identity }: { readonly identity: string }): boolean => identity.endsWith(rated.identity);
      const [seen] = calm.verdicts.filter(ofRate);
      assert.deepEqual(
        [seen?.openedAt, seen?.isTold, seen?.ended.startsWith('resolved')],
        [rated.beginsAt, true, true],
      );
      const untilAt = rated.endsAt(0) + 15 * minuteMs;
      const { verdicts, sent } = await watch(history, [{ kind: 'stopped', at: beginAt - 20 * secondMs, untilAt }]);
      assert.deepEqual(
        differencesOf(calm.verdicts.filter(ofRate), verdicts.filter(ofRate), history.endAt).map(inWords),
        [],
      );
      const said = sent.flatMap(({ alert }) => (alert?.subject === 'successRate' ? [alert] : []));
      assert.deepEqual(
        said.map(({ firstNotice, since, endedAt }) => [firstNotice, since, endedAt]),
        [[true, at(rated.beginsAt), at(rated.endsAt(0))]],
      );
    });

  test('a level that is found in its last minutes has had its delay: it is told as if it had been found at once', async () => {
    const delayed = levels
      .filter(({ isLong }) => isLong !== true)
      .map((level) => ({ ...level, monitor: { ...level.monitor, alerting: { alertDelay: '10m' } } }));
    const history = historyOf(delayed, 59 * minuteMs);
    const calm = await watch(history, []);
    assert.deepEqual(
      calm.verdicts.map(({ isTold }) => isTold),
      delayed.map(() => true),
    );
    const away = { kind: 'clusterAway', at: beginAt - 20 * secondMs, untilAt: beginAt + 54 * minuteMs } as const;
    const { verdicts } = await watch(history, [away]);
    assert.deepEqual(differencesOf(calm.verdicts, verdicts, history.endAt).map(inWords), []);
  });
});
