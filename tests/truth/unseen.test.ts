import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CronJobStory, type Disturbance, type Fate, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

const run = (hour: number, fate: Fate, seconds = 60): RunStory => ({
  slotAt: at(hour, 30),
  fate,
  seconds,
  exitCode: 1,
});
const failed = [4, 5, 6].map((hour) => run(hour, 'failure'));

/** Each runs at half past every hour. */
const stories: readonly (Partial<CronJobStory> & Pick<CronJobStory, 'name'>)[] = [
  { name: 'keeps-one-success', successLimit: 1 },
  { name: 'keeps-none-for-long', ttlSeconds: 60 },
  // Successes from before the stop are there: no later one has been cleared away.
  { name: 'failed-and-keeps-successes', failureLimit: 1, runs: failed },
  { name: 'failed-and-keeps-all', successLimit: 100, failureLimit: 100, runs: failed },
  // Its status names an older success as the newest.
  { name: 'failed-and-keeps-none', ttlSeconds: 60, runs: [...failed, run(7, 'failure')] },
];
/** What went on when its deadline came, while the service looked; nothing of its Jobs stays for long. */
const late = { name: 'runs-at-its-deadline', ttlSeconds: 60, runs: [run(4, 'failure'), run(5, 'success', 3_000)] };

const history: History = {
  seed: 0,
  startAt: at(3),
  endAt: at(8, 20),
  namespaces: [],
  cronJobs: [...stories, late].map((story, index) =>
    aCronJobStory(index, { rhythm: { everyHours: 1, minute: 30 }, successLimit: 3, failureLimit: 3, ...story }),
  ),
  monitors: ['switch', 'deadline'].map((name, index) =>
    aMonitorStory(index, {
      name,
      spec: {
        jobFailed: { enabled: false },
        ...(name === 'switch'
          ? { deadManSwitch: { maxTimeSinceLastSuccess: '90m' } }
          : { sla: { minSuccessRate: 0, finishBy: { time: '06:00', timezone: 'UTC' } } }),
      },
    }),
  ),
};
/** All its deadlines begin anew with the stop: no success before it is one of the day. */
const begun: History = {
  ...history,
  cronJobs: history.cronJobs.map((story) => ({ ...story, createdAt: at(4) })),
};

describeWatching('what may have succeeded unseen is not called missed', (observed) => {
  const watch = async (what: History, disturbances: readonly Disturbance[]): Promise<string[]> => {
    const { verdicts } = await observed(what, disturbances);
    return verdicts
      .flatMap(({ cronJobUid, type, subject, isTold }) => {
        const story = what.cronJobs.find(({ uid }) => uid === cronJobUid);
        return isTold ? [`${story?.name}: ${subject || type}`] : [];
      })
      .toSorted();
  };
  const stopped = [{ kind: 'stopped', at: at(4, 10), untilAt: at(7, 50) }] as const;

  test('a switch comes due for those that are known not to have succeeded, though the service was stopped', async () => {
    const failures = ['all', 'none', 'successes'].map((kept) => `failed-and-keeps-${kept}: deadManTriggered`);
    const calm = await watch(history, []);
    assert.deepEqual(
      calm.filter((said) => said.endsWith('deadManTriggered')),
      [...failures, 'runs-at-its-deadline: deadManTriggered'],
    );
    const found = await watch(history, stopped);
    assert.deepEqual(
      found.filter((said) => said.endsWith('deadManTriggered')),
      failures,
    );
  });

  test('a deadline was not met by those that are known not to have succeeded, though the service was stopped', async () => {
    const calm = await watch(begun, []);
    const failures = ['all', 'none', 'successes'].map((kept) => `failed-and-keeps-${kept}: finishBy`);
    assert.deepEqual(
      calm.filter((said) => said.endsWith('finishBy')),
      [...failures, 'runs-at-its-deadline: finishBy'],
    );
    const found = await watch(begun, stopped);
    assert.deepEqual(
      found.filter((said) => said.endsWith('finishBy')),
      failures,
    );
  });

  test('what was wrong with several runs in a row is so since the first, to a new database too', async () => {
    const [story] = history.cronJobs;
    assert.ok(story);
    const wrong = [{ seconds: 5 }, { seconds: 60, rows: 0 }, { seconds: 1_200 }];
    const inRows: History = {
      ...history,
      endAt: at(7, 10),
      cronJobs: wrong.map((so, index) => ({
        ...story,
        name: `wrong-${index}`,
        uid: `c100000${index}-0000-4000-8000-000000000000`,
        tellsRows: true,
        successLimit: 5,
        createdAt: at(3, 1),
        runs: [4, 5, 6].map((hour) => ({ ...run(hour, 'success'), ...so })),
      })),
      monitors: history.monitors.slice(1).map((monitor) => ({
        ...monitor,
        spec: {
          sla: { minSuccessRate: 0, durationRegressionThreshold: 0, minDuration: '30s', maxDuration: '10m' },
          output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] },
        },
      })),
    };
    const lost = { kind: 'emptyDatabase', at: at(6), untilAt: at(6, 1) } as const;
    for (const disturbances of [[], [lost]]) {
      const { verdicts } = await observed(inRows, disturbances);
      const began = verdicts.map(({ subject, openedAt }) => [subject, (openedAt - at(4, 30)) / 1_000]);
      // A second after it is due its Job starts.
      const expected = { maxDuration: 601, minDuration: 6, output: 61 };
      assert.deepEqual(began.toSorted(), Object.entries(expected));
    }
  });

  test('a database that was lost knows nothing of the deadlines whose Jobs are gone', async () => {
    const createdAt = at(-240);
    const lost: History = {
      ...history,
      endAt: at(3, 20),
      cronJobs: history.cronJobs.slice(0, 2).map((story) => ({
        ...story,
        createdAt,
        rhythm: { everyHours: 24, minute: 300 },
      })),
      monitors: history.monitors.map((monitor) => ({
        ...monitor,
        createdAt,
        spec: { ...monitor.spec, deadManSwitch: { maxTimeSinceLastSuccess: '26h' } },
      })),
    };
    assert.deepEqual(await watch(lost, []), []);
  });
});
