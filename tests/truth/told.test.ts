import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import type { CronJobList, Overview } from '@cronjob-monitor/shared/contract';
import type { SilenceMatcher } from '@cronjob-monitor/shared/domain';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { findSelfDescription, listCronJobs, putSilence, type SelfDescription } from '@cronjob-monitor/shared/store';
import { serveApi } from '../api/api-under-test.ts';
import { aClusterOfOne } from '../api/cluster.ts';
import { testDatabases } from '../store/databases.ts';
import { contradictionsOf } from './agreement/contradictions.ts';
import { contradictionsElsewhere, contradictionsOfExplain, elsewhereOf } from './agreement/elsewhere.ts';
import { readPages } from './agreement/pages.ts';
import {
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
  type Disturbance,
  type History,
  type MonitorStory,
} from './observer/history.ts';
import { weekHours } from './observer/kubernetes.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { observe } from './observer/observe.ts';
import type { Replica } from './observer/replica.ts';
import type { World } from './observer/world.ts';
import { aCronJobStory, aMonitorStory } from './rig.ts';

/** What a webhook gets, as far as it is read here. */
interface Body {
  readonly type: string;
  readonly data: {
    readonly alert?: { readonly delayed: boolean };
    readonly cronjob?: { readonly name: string };
    readonly digest?: { readonly alerts: readonly { readonly name: string }[] };
  };
}

const bodies: Body[] = [];
/** No receiver takes anything. */
let isRefused = false;
standInForTheMachine(({ body }) => {
  if (isRefused) return 410;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the channels check the shape
  bodies.push(JSON.parse(body) as Body);
  return 200;
});

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });
const startAt = Date.UTC(2026, 10, 21);
/** At this instant the first run of all of them is due; they were made five seconds before. */
const dueAt = startAt + 3 * hourMs;
const crowd = 150;

/** CronJobs that are made and fail at once, under a monitor that is there, or is made an hour later. */
function made(count: number, monitorAt: number, lengthMs: number, rateLimiting?: object): History {
  const weekMs = weekHours * hourMs;
  const rhythm = { everyHours: weekHours, minute: (dueAt % weekMs) / minuteMs };
  return {
    seed: 0,
    startAt,
    endAt: dueAt + lengthMs + 2 * hourMs,
    namespaces: [],
    rateLimiting,
    cronJobs: Array.from({ length: count }, (_, index) =>
      aCronJobStory(index, {
        rhythm,
        successLimit: 3,
        failureLimit: 1,
        createdAt: dueAt - 5 * secondMs,
        runs: [{ slotAt: dueAt, fate: 'failure' as const, seconds: 1, exitCode: 3 }],
      }),
    ),
    monitors: [aMonitorStory(1, { name: 'everything', createdAt: monitorAt })],
  };
}

function aSilence(
  matcher: Partial<SilenceMatcher>,
  { startsAt, endsAt, untilResolved = false }: { startsAt: number; endsAt: number; untilResolved?: boolean },
): Parameters<typeof putSilence>[1] {
  const none = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null, all: false };
  const said = { untilResolved, comment: '', createdBy: 'ana', createdAt: startsAt, updatedAt: startsAt };
  return { id: randomUUID(), matcher: { ...none, ...matcher }, startsAt, endsAt, endedAt: undefined, ...said };
}

const namesIn = (sent: readonly Body[]): string[] =>
  sent.flatMap(({ data }) => [data.cronjob?.name ?? [], data.digest?.alerts.map(({ name }) => name) ?? []].flat());

async function read<T>(address: string, path: string): Promise<T> {
  return (await (await fetch(`${address}/api/v1${path}`)).json()) as T; // the suites of the API check the shapes
}

const before = startAt - dayMs;
const late = (kind: Disturbance['kind'], lengthMs: number): Disturbance => {
  const at = dueAt - 30 * secondMs;
  return { kind, at, untilAt: at + lengthMs };
};

const disturbances: readonly {
  readonly says: string;
  readonly disturbance: Disturbance | undefined;
  readonly count: number;
}[] = [
  { says: 'while the service watches', disturbance: undefined, count: crowd },
  { says: 'while its queues are 30 s late', disturbance: late('slowWatch', minuteMs), count: crowd },
  { says: 'while the database is away for ten minutes', disturbance: late('databaseAway', 10 * minuteMs), count: 20 },
  {
    says: 'while the cluster does not answer for ten minutes',
    disturbance: late('clusterAway', 10 * minuteMs),
    count: 20,
  },
  { says: 'while the service is stopped for a minute', disturbance: late('stopped', minuteMs), count: 20 },
  { says: 'while the service is killed for an hour', disturbance: late('killed', hourMs), count: 20 },
  { says: 'while the service is stopped for a day', disturbance: late('stopped', dayMs), count: 20 },
  {
    says: 'while the leader stops and the other replica takes over',
    disturbance: late('leaderStopped', minuteMs),
    count: 5,
  },
  {
    says: 'while the leader is killed and the other replica takes over',
    disturbance: late('leaderKilled', minuteMs),
    count: 5,
  },
];

for (const database of testDatabases().filter(({ name }) => name === 'sqlite')) {
  describe(`CronJobs that are made and fail at once: ${database.name}`, () => {
    after(() => database.remove());

    const watch = async (history: History, disturbance?: Disturbance) => {
      bodies.length = 0;
      const observation = {
        startsAt: startAt,
        disturbances: disturbance ? [disturbance] : [],
        isElected: disturbance?.kind.startsWith('leader') === true,
      };
      const { verdicts } = await observe(history, observation, { freshDatabase: () => database.fresh(), logger });
      return { sent: bodies.slice(), verdicts };
    };
    const play = async (history: History, disturbance?: Disturbance): Promise<Body[]> =>
      (await watch(history, disturbance)).sent;

    for (const { says, disturbance, count } of disturbances) {
      test(`${count} are told, each once, ${says}`, async () => {
        const lengthMs = disturbance === undefined ? 0 : disturbance.untilAt - dueAt;
        const sent = await play(made(count, before, lengthMs), disturbance);
        const told = sent.flatMap(({ data }) => data.cronjob?.name ?? []);
        assert.equal(new Set(told).size, count, `${count - new Set(told).size} of ${count} are told to no channel`);
        assert.equal(told.length, count, 'some are told more than once');
        // What ended while no process ran, or none led, is late however short that was.
        const isUnled = disturbance?.kind === 'stopped' || disturbance?.kind === 'leaderKilled';
        const isLate = lengthMs > 5 * minuteMs + 10 * secondMs || isUnled;
        const delayed = sent.filter(({ data }) => data.alert?.delayed === true).length;
        // Virtual time leaves polls out while nothing happens, so that a slow watch may be answered minutes later than it would be.
        if (disturbance?.kind !== 'slowWatch')
          assert.equal(delayed, isLate ? count : 0, 'a message says that it is late exactly when it is');
      });
    }

    test('three whose Jobs are gone at once are told, each once, though the watch brings nothing for four minutes', async () => {
      const { cronJobs, ...history } = made(3, before, 0);
      const gone = cronJobs.map((cronJob) => ({ ...cronJob, ttlSeconds: 0, failureLimit: 0 }));
      // Its last sign of life is almost a minute old.
      const at = dueAt - minuteMs - secondMs;
      const slow = { kind: 'slowWatch', at, untilAt: at + 4 * minuteMs } as const;
      const sent = await play({ ...history, cronJobs: gone }, slow);
      assert.deepEqual(namesIn(sent).toSorted(), ['job-0', 'job-1', 'job-2']);
    });

    test(`${crowd} are named within the default limits of a channel, each once, in messages and digests`, async () => {
      const sent = await play(made(crowd, before, 0, {}));
      const alone = sent.flatMap(({ data }) => data.cronjob?.name ?? []);
      const folded = sent.flatMap(({ data }) => data.digest?.alerts.map(({ name }) => name) ?? []);
      assert.equal(new Set([...alone, ...folded]).size, crowd);
      assert.ok(sent.length < crowd / 2, `${sent.length} messages are no digest`);
    });

    test('the leader writes down which cluster it is and by which zone it judges, for services that show several', async () => {
      let said: SelfDescription | undefined;
      await observe(
        made(1, before, 0),
        { startsAt: startAt, disturbances: [] },
        {
          freshDatabase: () => database.fresh(),
          logger,
          lookAt: [],
          look: async ({ store }) => {
            said = await findSelfDescription(store);
          },
        },
      );
      assert.equal(said?.defaultTimeZone, 'UTC');
      assert.ok(said.uid);
    });

    test('three alerts go on when their monitor is replaced, and no message is sent', async () => {
      const history = made(3, before, 0);
      const [monitor] = history.monitors;
      assert.ok(monitor);
      const goneAt = dueAt + 20 * minuteMs;
      const again = { ...monitor, uid: monitor.uid.replace(/^a/, 'b'), createdAt: goneAt + secondMs };
      const { sent, verdicts } = await watch({ ...history, monitors: [{ ...monitor, deletedAt: goneAt }, again] });
      assert.equal(sent.length, 3, 'a message tells of the replacement');
      assert.deepEqual(
        verdicts.map(({ ended }) => ended),
        ['open', 'open', 'open'],
      );
    });

    for (const untilResolved of [false, true])
      test(`a silence of a monitor goes on when it is replaced, ${untilResolved ? 'until what it holds is resolved' : 'for its time'}`, async () => {
        const { cronJobs, ...history } = made(2, before, hourMs);
        const [monitor] = history.monitors;
        assert.ok(monitor);
        const laterAt = dueAt + hourMs;
        const fails = { slotAt: laterAt, fate: 'failure' as const, seconds: 1, exitCode: 3 };
        const later = {
          rhythm: { everyHours: weekHours, minute: (laterAt % (weekHours * hourMs)) / minuteMs },
          runs: [fails],
        };
        const goneAt = dueAt + 20 * minuteMs;
        const again = { ...monitor, uid: monitor.uid.replace(/^a/, 'b'), createdAt: goneAt + minuteMs };
        const at = dueAt + 10 * minuteMs;
        const ofMonitor = { monitor: { namespace: 'prod', name: monitor.name } };
        const silence = aSilence(ofMonitor, { startsAt: at, endsAt: at + dayMs, untilResolved });
        bodies.length = 0;
        const { verdicts } = await observe(
          {
            ...history,
            cronJobs: cronJobs.map((cronJob, index) => (index === 0 ? cronJob : { ...cronJob, ...later })),
            monitors: [{ ...monitor, deletedAt: goneAt }, again],
          },
          { startsAt: startAt, disturbances: [] },
          {
            freshDatabase: () => database.fresh(),
            logger,
            lookAt: [at],
            look: ({ store }, _world, now) =>
              now === at ? store.transaction((tx) => putSilence(tx, silence)) : Promise.resolve(),
          },
        );
        assert.deepEqual(
          verdicts.map(({ cronJobUid, ended, isTold }) => [cronJobUid.at(7), ended, isTold]).toSorted(),
          [
            ['0', 'open', true],
            ['1', 'open', false],
          ],
        );
        assert.deepEqual(
          bodies.map(({ data }) => data.cronjob?.name),
          ['job-0'],
        );
      });

    for (const isKilled of [false, true])
      test(`what waits for the limit of its channel is quiet while a person silences it, and is told when that ends${isKilled ? ', though the service is killed meanwhile' : ''}`, async () => {
        const at = dueAt + 15 * secondMs;
        const endsAt = at + hourMs;
        const killed = { kind: 'killed', at: at + secondMs, untilAt: at + 5 * minuteMs } as const;
        const silenced = ['job-4', 'job-7'];
        const told: string[][] = [];
        bodies.length = 0;
        await observe(
          made(12, before, 2 * hourMs, { maxAlertsPerHour: 60, burstLimit: 2 }),
          { startsAt: startAt, disturbances: isKilled ? [killed] : [] },
          {
            freshDatabase: () => database.fresh(),
            logger,
            lookAt: [at, endsAt - minuteMs],
            look: async ({ store }, _world, now) => {
              told.push(namesIn(bodies));
              if (now === at)
                await store.transaction((tx) =>
                  putSilence(tx, aSilence({ cronjobs: silenced }, { startsAt: at, endsAt })),
                );
            },
          },
        );
        const [atFirst = [], meanwhile = []] = told;
        assert.deepEqual(
          atFirst.filter((name) => silenced.includes(name)),
          [],
          'they had been told before, so that nothing is shown',
        );
        assert.equal(meanwhile.length, 10, 'all others are told meanwhile');
        assert.deepEqual(
          meanwhile.filter((name) => silenced.includes(name)),
          [],
        );
        const after = namesIn(bodies);
        assert.deepEqual([after.length, new Set(after).size], [12, 12]);
      });

    test('three failures are told, each once, when their monitor is replaced while the service is stopped for an hour', async () => {
      const history = made(3, before, hourMs);
      const [monitor] = history.monitors;
      assert.ok(monitor);
      const goneAt = dueAt + 20 * minuteMs;
      const again = { ...monitor, uid: monitor.uid.replace(/^a/, 'b'), createdAt: goneAt + secondMs };
      const replaced = { ...history, monitors: [{ ...monitor, deletedAt: goneAt }, again] };
      const sent = await play(replaced, late('stopped', hourMs));
      assert.deepEqual(sent.flatMap(({ data }) => data.cronjob?.name ?? []).toSorted(), ['job-0', 'job-1', 'job-2']);
    });

    test('three that failed while their monitor told no channel are told, each once, as it names one while the service is stopped', async () => {
      const history = made(3, before, hourMs);
      const [monitor] = history.monitors;
      assert.ok(monitor);
      const muted = { ...monitor, spec: { alerting: { enabled: false } } };
      const named = { ...muted, edits: [{ at: dueAt + 30 * minuteMs, spec: {} }] };
      const stop = { kind: 'stopped', at: dueAt + 20 * minuteMs, untilAt: dueAt + hourMs } as const;
      assert.deepEqual(await play({ ...history, monitors: [muted] }, stop), []);
      const sent = await play({ ...history, monitors: [named] }, stop);
      assert.deepEqual(sent.flatMap(({ data }) => data.cronjob?.name ?? []).toSorted(), ['job-0', 'job-1', 'job-2']);
    });

    for (const { delays, editedAt, told } of [
      { delays: ['90m', '10m'], editedAt: dueAt + 20 * minuteMs, told: 3 },
      { delays: ['10m', '3h'], editedAt: dueAt + 5 * minuteMs, told: 0 },
    ] as const) {
      for (const isStopped of [false, true]) {
        test(`${told} of three are told within two hours when a delay of ${delays[0]} becomes one of ${delays[1]} as it runs${isStopped ? ', while the service is stopped' : ''}`, async () => {
          const history = made(3, before, 0);
          const specOf = (alertDelay: string): MonitorStory['spec'] => ({ alerting: { alertDelay } });
          const waits = { spec: specOf(delays[0]), edits: [{ at: editedAt, spec: specOf(delays[1]) }] };
          const monitors = history.monitors.map((monitor) => ({ ...monitor, ...waits }));
          const stop = { kind: 'stopped', at: editedAt - minuteMs, untilAt: editedAt + 3 * minuteMs } as const;
          const sent = await play({ ...history, monitors }, isStopped ? stop : undefined);
          assert.equal(new Set(sent.flatMap(({ data }) => data.cronjob?.name ?? [])).size, told);
          assert.equal(sent.length, told);
        });
      }
    }

    test('ten minutes after their monitor was removed its alerts have expired', async () => {
      const history = made(3, before, 0);
      const monitors = history.monitors.map((monitor) => ({ ...monitor, deletedAt: dueAt + 20 * minuteMs }));
      const { verdicts } = await watch({ ...history, monitors });
      assert.deepEqual(
        verdicts.map(({ ended, endedAt }) => [ended.split(' by ')[0], Number(endedAt) >= dueAt + 30 * minuteMs]),
        Array.from({ length: 3 }, () => ['expired monitorDeleted', true]),
      );
    });

    test('a rate that was too low expires when its window has no run any more, and not before', async () => {
      const { cronJobs, monitors, ...history } = made(1, before, 28 * hourMs);
      const [cronJob] = cronJobs;
      const [monitor] = monitors;
      assert.ok(cronJob && monitor);
      const spec = { jobFailed: { enabled: false }, sla: { minSuccessRate: 90, windowDays: 1 } };
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt };
      const suspended = [{ at: dueAt + 10 * minuteMs, suspend: true }];
      const { verdicts } = await watch({
        ...history,
        cronJobs: [{ ...cronJob, ...hourly, edits: suspended }],
        monitors: [{ ...monitor, spec }],
      });
      const rates = verdicts.filter(({ type }) => type === 'slaBreached');
      assert.deepEqual(
        rates.map(({ ended, isTold }) => [ended.split(' by ')[0], isTold]),
        [['expired noRuns', true]],
      );
      const endedAt = rates[0]?.endedAt ?? 0;
      assert.ok(endedAt >= dueAt + dayMs && endedAt <= dueAt + dayMs + 2 * hourMs, new Date(endedAt).toISOString());
    });

    test('a failure ends as the run that succeeded ended, though the service was stopped, killed, late or blind', async () => {
      const { cronJobs, ...history } = made(1, before, hourMs);
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt };
      const story: History = { ...history, cronJobs: cronJobs.map((cronJob) => ({ ...cronJob, ...hourly })) };
      const [calm] = (await watch(story)).verdicts;
      assert.match(calm?.ended ?? '', /^resolved by/);
      for (const kind of ['stopped', 'killed', 'databaseAway', 'clusterAway', 'slowWatch'] as const) {
        const gone = { kind, at: dueAt + 10 * minuteMs, untilAt: dueAt + 100 * minuteMs };
        const [found] = (await watch(story, gone)).verdicts;
        assert.deepEqual([kind, found?.ended, found?.endedAt], [kind, calm?.ended, calm?.endedAt]);
      }
    });

    test('an alert that lasts is told when its channel takes messages again, though its message was given up after a day', async () => {
      const history = made(1, before, 24 * hourMs);
      const stop = { kind: 'stopped', at: dueAt + 5 * minuteMs, untilAt: dueAt + 24.5 * hourMs } as const;
      isRefused = true;
      bodies.length = 0;
      const look = async (): Promise<void> => void (isRefused = false);
      const deps = { freshDatabase: () => database.fresh(), logger, look, lookAt: [dueAt + 25 * hourMs] };
      await observe(history, { startsAt: dueAt - hourMs, disturbances: [stop] }, deps);
      assert.equal(bodies.map(({ type }) => type).join(), 'alert.firing');
    });

    test('what failed while the service was stopped is told as late, and neither the failure that it saw then nor the success', async () => {
      const { cronJobs, ...history } = made(1, before, hourMs);
      const fails = { fate: 'failure', seconds: 1, exitCode: 3 } as const;
      const runs = [dueAt, dueAt + hourMs].map((slotAt) => ({ slotAt, ...fails }));
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt, failureLimit: 10, runs };
      const story = { ...history, cronJobs: cronJobs.map((cronJob) => ({ ...cronJob, ...hourly })) };
      const sent = await play(story, { kind: 'stopped', at: dueAt - minuteMs, untilAt: dueAt + 10 * minuteMs });
      const said = sent.map(({ type, data }) => `${type} ${data.alert?.delayed}`);
      assert.deepEqual(said, ['alert.firing true', 'alert.firing false', 'alert.resolved false']);
    });

    for (const disturbance of [undefined, late('stopped', 2 * hourMs)])
      test(`a success dated two hours ahead hides no failure that came an hour after it${disturbance ? ', though the service was stopped' : ''}`, async () => {
        const { cronJobs, monitors, ...history } = made(1, before, 2 * hourMs);
        const ran = { exitCode: 3, seconds: 1 };
        const runs = [
          { ...ran, slotAt: dueAt, fate: 'success' as const, aheadSeconds: 7_200 },
          { ...ran, slotAt: dueAt + hourMs, fate: 'failure' as const },
        ];
        const often = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt, runs };
        const suspended = [{ at: dueAt + hourMs + 5 * minuteMs, suspend: true }];
        const story = {
          ...history,
          monitors,
          cronJobs: cronJobs.map((one) => ({ ...one, ...often, edits: suspended })),
        };
        const states: unknown[] = [];
        bodies.length = 0;
        const { verdicts } = await observe(
          story,
          { startsAt: startAt, disturbances: disturbance ? [disturbance] : [] },
          {
            freshDatabase: () => database.fresh(),
            logger,
            look: async ({ store }) => {
              const [cronJob] = await listCronJobs(store, { kinds: ['CronJob'] });
              states.push(cronJob?.lastRun?.status, cronJob?.failedRun?.status, cronJob?.lastSuccessAt);
            },
          },
        );
        assert.deepEqual(
          verdicts.map(({ type, openedAt, ended, isTold }) => [type, openedAt, ended, isTold]),
          [['jobFailed', dueAt + hourMs + 2 * secondMs, 'open', true]],
        );
        assert.equal(bodies.length, 1);
        assert.deepEqual(states, ['failed', 'failed', dueAt + 2 * secondMs]);
      });

    test('a rate is too low since the run that broke it, though the database was away as it broke and another run has ended since', async () => {
      const { cronJobs, monitors, ...history } = made(1, before, hourMs);
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt };
      const spec = { jobFailed: { enabled: false }, sla: { minSuccessRate: 90, windowDays: 1 } };
      const story: History = {
        ...history,
        cronJobs: cronJobs.map((cronJob) => ({ ...cronJob, ...hourly })),
        monitors: monitors.map((monitor) => ({ ...monitor, spec })),
      };
      const away = { kind: 'databaseAway', at: dueAt - 10 * minuteMs, untilAt: dueAt + 70 * minuteMs } as const;
      for (const disturbance of [undefined, away]) {
        const { verdicts } = await watch(story, disturbance);
        const openedAt = verdicts.filter(({ type }) => type === 'slaBreached').map((verdict) => verdict.openedAt);
        assert.deepEqual(openedAt, [dueAt + 2 * secondMs]);
      }
    });

    test('a target that is broken without an alert has the figures of a run as soon as that is recorded', async () => {
      const { cronJobs, monitors, ...history } = made(1, dueAt + 10 * minuteMs, hourMs);
      const spec = { jobFailed: { enabled: false }, sla: { minSuccessRate: 90, windowDays: 1 } };
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt };
      const found: unknown[] = [];
      await observe(
        {
          ...history,
          cronJobs: cronJobs.map((cronJob) => ({ ...cronJob, ...hourly })),
          monitors: monitors.map((monitor) => ({ ...monitor, spec })),
        },
        { startsAt: startAt, disturbances: [] },
        {
          freshDatabase: () => database.fresh(),
          logger,
          lookAt: [dueAt + 55 * minuteMs, dueAt + hourMs + 62 * secondMs],
          look: async ({ store }) => {
            const [cronJob] = await listCronJobs(store, { kinds: ['CronJob'] });
            found.push(...(cronJob?.broken ?? []).map(({ measured, runs }) => [Math.floor(measured), runs]));
          },
        },
      );
      assert.deepEqual(found.slice(0, 2), [
        [66, 3],
        [75, 4],
      ]);
    });

    const windowAt = new Date(dueAt - 30 * minuteMs);
    const schedule = `${windowAt.getUTCMinutes()} ${windowAt.getUTCHours()} * * *`;
    const waits = {
      delay: { alerting: { alertDelay: '90m' } },
      maintenance: { maintenanceWindows: [{ name: 'move', schedule, duration: '2h' }] },
    };
    for (const [wait, kind] of [
      ['delay', 'databaseAway'],
      ['delay', 'clusterAway'],
      ['maintenance', 'databaseAway'],
      ['maintenance', 'clusterAway'],
    ] as const) {
      test(`a failure that a success ended as it waited is told to no channel, though both passed unseen: ${wait}, ${kind}`, async () => {
        const { cronJobs, monitors, ...history } = made(3, before, 0);
        const sent = await play(
          {
            ...history,
            cronJobs: cronJobs.map((cronJob) => ({ ...cronJob, rhythm: { everyHours: 1, minute: 0 } })),
            monitors: monitors.map((monitor) => ({ ...monitor, spec: waits[wait] })),
          },
          { kind, at: dueAt + 55 * minuteMs, untilAt: dueAt + 100 * minuteMs },
        );
        assert.deepEqual(sent, []);
      });
    }

    test('what comes into view by watch-namespaces is judged from when the service looked last', async () => {
      const { cronJobs, ...history } = made(2, before, 0);
      const failsAgain = [dueAt, dueAt + hourMs].map((slotAt) => ({
        slotAt,
        fate: 'failure' as const,
        seconds: 1,
        exitCode: 3,
      }));
      const hourly = { rhythm: { everyHours: 1, minute: 0 }, createdAt: startAt, failureLimit: 10, runs: failsAgain };
      const story = {
        ...history,
        cronJobs: cronJobs.map((cronJob, index) => (index === 0 ? cronJob : { ...cronJob, ...hourly })),
      };
      const stop = { kind: 'stopped', at: dueAt + 50 * minuteMs, untilAt: dueAt + 70 * minuteMs } as const;
      bodies.length = 0;
      const { verdicts } = await observe(
        story,
        { startsAt: startAt, disturbances: [stop] },
        { freshDatabase: () => database.fresh(), logger, firstWatches: ['elsewhere'] },
      );
      assert.deepEqual(
        verdicts.map(({ type, cronJobUid, openedAt }) => [type, cronJobUid, openedAt]),
        [['jobFailed', cronJobs[1]?.uid, dueAt + hourMs + 2 * secondMs]],
        'what failed while the service looked elsewhere is history',
      );
      assert.ok(bodies.every(({ data }) => data.cronjob?.name === 'job-1') && bodies.length > 0);
    });

    test('what failed before its monitor was made is told to no channel, and is failing wherever it is shown', async () => {
      const { monitors, ...rest } = made(20, dueAt + hourMs, 2 * hourMs);
      const sla = { minSuccessRate: 95 };
      const history = { ...rest, monitors: monitors.map((monitor) => ({ ...monitor, spec: { sla } })) };
      const names = history.cronJobs.map(({ name }) => `prod/${name}`).toSorted();
      let looks = 0;
      bodies.length = 0;
      const look = async (service: Replica, world: World, now: number): Promise<void> => {
        const clock = { ...systemClock, now: () => now };
        await using api = await serveApi({
          store: service.store,
          cluster: aClusterOfOne(),
          clock,
          settings: testSettings,
        });
        const address = `http://127.0.0.1:${api.port}`;
        const pages = await readPages(address);
        const elsewhere = await elsewhereOf(service, world, []);
        assert.deepEqual(contradictionsOf(pages), []);
        assert.deepEqual(contradictionsElsewhere(pages, elsewhere, now), []);
        for await (const one of contradictionsOfExplain(pages, address, now)) assert.fail(one);
        // Each place shows all of them, and says the same of each.
        for (const [place, shown] of Map.groupBy(pages.shown, (one) => one.place.replace(/(?<=^\/monitors).*/, ''))) {
          assert.deepEqual(shown.map(({ cronJob }) => cronJob).toSorted(), names, place);
          for (const { verdict, cronJob } of shown)
            assert.deepEqual(
              [place, cronJob, verdict.state, verdict.kind],
              [place, cronJob, 'failing', 'lastRunFailed'],
            );
        }
        const { incidents, states, incidentTotal } = await read<Overview>(address, '/overview');
        assert.deepEqual([incidentTotal, states.failing, states.healthy], [20, 20, 0]);
        assert.ok(incidents.every(({ verdict, alerts }) => verdict.kind === 'lastRunFailed' && alerts.length === 0));
        const found = await read<CronJobList>(address, '/cronjobs?search=job-7');
        assert.deepEqual(
          found.items.map(({ name, verdict }) => [name, verdict.state]),
          [['job-7', 'failing']],
        );
        const judged = pages.targets.map(({ verdict, alertId }) => `${verdict} ${alertId}`);
        assert.deepEqual([judged.length, ...new Set(judged)], [20, 'breached null']);
        const { states: counted, cronJobs } = elsewhere.statuses.get('prod/everything') ?? assert.fail('no status');
        assert.deepEqual([counted['failing'], cronJobs.filter(({ state }) => state === 'failing').length], [20, 20]);
        assert.equal(elsewhere.metrics.get('cronjob_monitor_cronjob_states{state="failing"}'), 20);
        assert.equal(elsewhere.metrics.get('cronjob_monitor_cronjobs{status="warning"}'), 20);
        looks += 1;
      };
      const observation = { startsAt: startAt, disturbances: [] };
      await observe(history, observation, { freshDatabase: () => database.fresh(), logger, look });
      assert.deepEqual([looks, bodies], [1, []]);
    });
  });
}
