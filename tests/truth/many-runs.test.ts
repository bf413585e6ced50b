import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import { minuteMs, type CronJobStory, type Disturbance, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

/** What receivers took, by the name of the CronJob. */
let told: string[] = [];
standInForTheMachine(({ body }) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the channels check the shape
  told.push((JSON.parse(body) as { data: { cronjob?: { name: string } } }).data.cronjob?.name ?? 'a digest');
  return 200;
});

const startAt = at(5, 30);
const endAt = at(12, 10);
/** While the service is away there are 68 of them. */
const slots = Array.from({ length: 100 }, (_, index) => at(4) + index * 5 * minuteMs);
const away = { at: at(5, 53), untilAt: at(11, 31) };
const run = (slotAt: number, more: Partial<RunStory> = {}): RunStory => ({
  slotAt,
  fate: 'success',
  seconds: 20,
  exitCode: 1,
  ...more,
});
const quiet = { stuckJobs: { enabled: false }, jobFailed: { enabled: false } };
const sla = { minSuccessRate: 0, durationRegressionThreshold: 0 };

/** Each is bad at six or soon after, and well again long before the service is back. */
const troubles: readonly { readonly name: string; readonly spec: object; readonly runs: readonly RunStory[] }[] = [
  { name: 'a run fails', spec: {}, runs: [run(at(6), { fate: 'failure' })] },
  {
    name: 'no run succeeds for half an hour',
    spec: { ...quiet, deadManSwitch: { maxTimeSinceLastSuccess: '20m' } },
    runs: slots
      .filter((slotAt) => slotAt >= at(6) && slotAt < at(6, 30))
      .map((slotAt) => run(slotAt, { fate: 'failure' })),
  },
  {
    name: 'a run takes too long',
    spec: { ...quiet, sla: { ...sla, maxDuration: '1m' } },
    runs: [run(at(6), { seconds: 90 })],
  },
  {
    name: 'a run writes nothing',
    spec: { ...quiet, output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } },
    runs: [run(at(6), { rows: 0 })],
  },
];

const cronJobOf = (index: number, runs: readonly RunStory[]): CronJobStory => {
  const known = new Set(runs.map(({ slotAt }) => slotAt));
  const others = slots.filter((slotAt) => !known.has(slotAt)).map((slotAt) => run(slotAt));
  return aCronJobStory(index, {
    spec: { schedule: '*/5 * * * *' },
    slots,
    runs: [...runs, ...others],
    tellsRows: true,
    createdAt: at(3, 58),
    successLimit: 200,
    failureLimit: 200,
  });
};
const historyOf = (stories: readonly (typeof troubles)[number][]): History => ({
  seed: 0,
  startAt,
  endAt,
  namespaces: [],
  cronJobs: stories.map(({ runs }, index) => cronJobOf(index, runs)),
  monitors: stories.map(({ spec }, index) =>
    aMonitorStory(index, { spec: { selector: { matchNames: [`job-${index}`] }, ...spec }, createdAt: at(3, 58) }),
  ),
});

const nameOf = ({ monitor }: Verdict): string => troubles[Number(monitor.split('-').at(-1))]?.name ?? monitor;
const disturbances: readonly (readonly [says: string, disturbance: Disturbance])[] = [
  ['its database is away', { kind: 'databaseAway', ...away }],
  ['it is stopped', { kind: 'stopped', ...away }],
];

describeWatching('more runs than are read of a CronJob at other times', (observed) => {
  let calm: readonly Verdict[] = [];

  test('a service that looks all the time tells each trouble once', async () => {
    ({ verdicts: calm } = await observed(historyOf(troubles)));
    assert.deepEqual(
      calm
        .filter(({ isTold }) => isTold)
        .map(nameOf)
        .toSorted(),
      troubles.map(({ name }) => name).toSorted(),
    );
  });

  for (const [says, disturbance] of disturbances)
    test(`each is told as well where they end while ${says}`, async () => {
      const { verdicts } = await observed(historyOf(troubles), [disturbance]);
      const differences = differencesOf(calm, verdicts, endAt);
      assert.deepEqual(
        differences.map((one) => `${nameOf(one.verdict)}: ${inWords(one)}`),
        [],
      );
    });

  for (const [says, disturbance] of [['the service looks', undefined], ...disturbances] as const)
    test(`what flaps is one trouble, while ${says}`, async () => {
      const failures = Array.from({ length: 10 }, (_, index) =>
        run(at(6) + index * 10 * minuteMs, { fate: 'failure' }),
      );
      told = [];
      const { verdicts } = await observed(
        historyOf([{ name: 'it flaps', spec: {}, runs: failures }]),
        disturbance && [disturbance],
      );
      const since = verdicts.map(({ openedAt, endedAt }) => [openedAt, endedAt]).toSorted();
      assert.deepEqual(since, [
        [at(6, 0, 21), at(6, 5, 21)],
        [at(6, 10, 21), at(8, 35, 21)],
      ]);
      assert.ok(told.length <= 5, `${told.length} messages`);
    });
});
