import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe as inWords, differencesOf } from './observer/compare.ts';
import { type CronJobStory, type Disturbance, type History, type RunStory } from './observer/history.ts';
import { standInForTheMachine } from './observer/machine.ts';
import type { Verdict } from './observer/verdicts.ts';
import { aCronJobStory, aMonitorStory, at, describeWatching } from './rig.ts';

standInForTheMachine(() => 200);

const startAt = at(4, 30);
/** While the service does not look, from a little before six to half past twelve, each monitor begins to ask otherwise. */
const editAt = at(8, 10);
const gap = { at: at(5, 50), untilAt: at(12, 30) };
const madeAt = at(2, 50);

/** A monitor that asks otherwise from `editAt` on, or an owner who does, and what a service that looks all the time says of the CronJob. */
interface Edit {
  readonly name: string;
  readonly before: Readonly<Record<string, unknown>>;
  /** Absent: its owner, or that of its Namespace, says something else. */
  readonly after?: Readonly<Record<string, unknown>>;
  readonly cronJob: Partial<CronJobStory>;
  /** Each alert with the instant at which it began and how it ended. */
  readonly says: readonly string[];
}

const every = (everyHours: number, minute = 0) => ({ everyHours, minute });
const fails = (...hours: number[]): Partial<CronJobStory> => ({
  rhythm: every(1),
  runs: hours.map((hour): RunStory => ({ slotAt: at(hour), fate: 'failure', seconds: 60, exitCode: 1 })),
});
const run = (hour: number, seconds: number, more: Partial<RunStory> = {}): RunStory => ({
  slotAt: at(hour),
  fate: 'success',
  seconds,
  exitCode: 0,
  ...more,
});
const notStuck = { stuckJobs: { enabled: false } };
const sla = { minSuccessRate: 0, durationRegressionThreshold: 0 };
const quiet = { ...notStuck, jobFailed: { enabled: false } };
const deadMan = (time: string) => ({ ...quiet, deadManSwitch: { maxTimeSinceLastSuccess: time } });

const saying = (words: Words, later: Words): Partial<CronJobStory> => ({
  rhythm: every(24, 360),
  words,
  edits: [{ at: editAt, words: later }],
});
const mutedUntil = (hour: number): Words => ({ 'mute-until': new Date(at(hour)).toISOString() });
const window = (duration: string) => ({ maintenanceWindows: [{ name: 'move', schedule: '0 6 * * *', duration }] });
const rate = (minSuccessRate: number) => ({ ...quiet, sla: { ...sla, windowDays: 1, minSuccessRate } });
type Words = NonNullable<CronJobStory['words']>;

const edits: readonly Edit[] = [
  {
    name: 'failed runs are asked about, and the one that failed has succeeded by then',
    before: { jobFailed: { enabled: false } },
    after: {},
    cronJob: fails(6),
    says: [],
  },
  {
    name: 'failed runs are asked about, and the last one has failed',
    before: { jobFailed: { enabled: false } },
    after: {},
    cronJob: fails(8),
    says: ['jobFailed 08:01:01, resolved by a success 09:01:01'],
  },
  {
    name: 'one failure is enough instead of two, and it has succeeded by then',
    before: { jobFailed: { failureThreshold: 2 } },
    after: { jobFailed: { failureThreshold: 1 } },
    cronJob: fails(6),
    says: [],
  },
  {
    name: 'one failure is enough instead of two, and the last one has failed',
    before: { jobFailed: { failureThreshold: 2 } },
    after: { jobFailed: { failureThreshold: 1 } },
    cronJob: fails(8),
    says: ['jobFailed 08:01:01, resolved by a success 09:01:01'],
  },
  {
    name: 'two failures are needed instead of one',
    before: { jobFailed: { failureThreshold: 1 } },
    after: { jobFailed: { failureThreshold: 2 } },
    cronJob: fails(8),
    says: ['jobFailed 08:01:01, resolved by a success 09:01:01'],
  },
  {
    name: 'two failures are needed instead of one, of an alert that was told',
    before: { jobFailed: { failureThreshold: 1 } },
    after: { jobFailed: { failureThreshold: 2 } },
    cronJob: { rhythm: every(4), runs: [run(4, 60, { fate: 'failure', exitCode: 1 }), run(8, 7200)] },
    says: ['jobFailed 04:01:01, resolved by a success 10:00:01'],
  },
  {
    name: 'failed runs are not asked about any more',
    before: {},
    after: { jobFailed: { enabled: false } },
    cronJob: fails(8),
    says: ['jobFailed 08:01:01, expired 08:10:00'],
  },
  {
    name: "a dead-man's switch is added that has been due",
    before: quiet,
    after: deadMan('3h'),
    cronJob: { rhythm: every(4), runs: [run(8, 60, { fate: 'failure', exitCode: 1 })] },
    says: ['deadManTriggered 07:01:01, resolved by a success 12:01:01'],
  },
  {
    name: "a dead-man's switch is added that had been due before a success",
    before: quiet,
    after: deadMan('3h'),
    cronJob: { rhythm: every(4) },
    says: ['deadManTriggered 11:01:01, resolved by a success 12:01:01'],
  },
  {
    name: 'a run each day that succeeded becomes one each hour',
    before: { ...quiet, deadManSwitch: { autoFromSchedule: {} } },
    after: { ...quiet, deadManSwitch: { autoFromSchedule: {} } },
    cronJob: { rhythm: every(24, 181), edits: [{ at: editAt, rhythm: every(1) }] },
    says: [],
  },
  {
    name: 'the first run is to come earlier than it had been made for',
    before: { ...quiet, deadManSwitch: { autoFromSchedule: {} } },
    after: { ...quiet, deadManSwitch: { autoFromSchedule: {} } },
    cronJob: { rhythm: every(24, 1_200), edits: [{ at: editAt, rhythm: every(24, 300) }] },
    says: [],
  },
  {
    name: "a dead-man's switch is shorter",
    before: deadMan('26h'),
    after: deadMan('3h'),
    cronJob: { rhythm: every(4), runs: [run(8, 60, { fate: 'failure', exitCode: 1 })] },
    says: ['deadManTriggered 07:01:01, resolved by a success 12:01:01'],
  },
  {
    name: "a dead-man's switch is longer while it is due",
    before: deadMan('3h'),
    after: deadMan('26h'),
    cronJob: { rhythm: every(4), runs: [run(8, 60, { fate: 'failure', exitCode: 1 })] },
    says: ['deadManTriggered 07:01:01, resolved 08:10:00'],
  },
  {
    name: "a dead-man's switch is longer while it is due, and no success has come",
    before: deadMan('3h'),
    after: deadMan('26h'),
    cronJob: { rhythm: every(24, 180) },
    says: ['deadManTriggered 06:01:01, resolved 08:10:00'],
  },
  {
    name: "a dead-man's switch is longer, of which an alert was told",
    before: deadMan('1h'),
    after: deadMan('26h'),
    cronJob: { rhythm: every(4), runs: [run(8, 60, { fate: 'failure', exitCode: 1 })] },
    says: ['deadManTriggered 05:01:01, resolved 08:10:00'],
  },
  {
    name: "a dead-man's switch that is due is taken away",
    before: deadMan('3h'),
    after: quiet,
    cronJob: { rhythm: every(4), runs: [run(8, 60, { fate: 'failure', exitCode: 1 })] },
    says: ['deadManTriggered 07:01:01, expired 08:10:00'],
  },
  {
    name: 'suspension is not asked about any more while it is too long',
    before: { ...quiet, suspendedHandling: { alertIfSuspendedFor: '2h' } },
    after: quiet,
    cronJob: { edits: [{ at: at(5), suspend: true }] },
    says: ['jobSuspended 07:00:00, expired 08:10:00'],
  },
  {
    name: 'a CronJob gets another schedule, and hours later is suspended for less long than it may be',
    before: { ...quiet, suspendedHandling: { alertIfSuspendedFor: '2h' } },
    cronJob: {
      rhythm: every(24, 181),
      edits: [
        { at: at(6, 20), rhythm: every(24, 200) },
        { at: at(11, 20), suspend: true },
        { at: at(13, 10), suspend: false },
      ],
    },
    says: [],
  },
  {
    name: 'a CronJob that was suspended gets another schedule, and hours later is resumed',
    before: { ...deadMan('4h'), suspendedHandling: { pauseMonitoring: true } },
    cronJob: {
      rhythm: every(24, 181),
      edits: [
        { at: at(4, 20), suspend: true },
        { at: at(6, 20), rhythm: every(24, 200) },
        { at: at(11, 20), suspend: false },
      ],
    },
    says: [],
  },
  {
    name: 'a suspension may be longer, and is resumed',
    before: { ...quiet, suspendedHandling: { alertIfSuspendedFor: '2h' } },
    after: { ...quiet, suspendedHandling: { alertIfSuspendedFor: '48h' } },
    cronJob: {
      edits: [
        { at: at(5), suspend: true },
        { at: at(11), suspend: false },
      ],
    },
    says: ['jobSuspended 07:00:00, resolved 08:10:00', 'missedSchedule 05:00:00, resolved 11:00:01'],
  },
  {
    name: 'a run may take longer while it takes too long',
    before: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '30m' } },
    after: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '20h' } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 4 * 3600)] },
    says: ['jobStuck/overrunning 06:30:01, resolved 08:10:00'],
  },
  {
    name: 'a run that goes on may take longer while it takes too long',
    before: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '30m' } },
    after: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '20h' } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 8 * 3600)] },
    says: ['jobStuck/overrunning 06:30:01, resolved 08:10:00'],
  },
  {
    name: 'a promise of duration is loosened after it was broken',
    before: { ...quiet, sla: { ...sla, maxDuration: '20m' } },
    after: { ...quiet, sla: { ...sla, maxDuration: '2h' } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, resolved 08:10:00'],
  },
  {
    name: 'a promise of duration is taken away after it was broken',
    before: { ...quiet, sla: { ...sla, maxDuration: '20m' } },
    after: quiet,
    cronJob: { rhythm: every(24, 360), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, expired 08:10:00'],
  },
  {
    name: 'a promise of duration is added after it was broken',
    before: quiet,
    after: { ...quiet, sla: { ...sla, maxDuration: '20m' } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, open'],
  },
  {
    name: 'runs that did not start are not asked about any more',
    before: quiet,
    after: { ...quiet, missedSchedule: { enabled: false } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 60, { fate: 'neverStarted' })] },
    says: ['missedSchedule 06:00:00, expired 08:10:00'],
  },
  {
    name: 'a second run that did not start is needed',
    before: quiet,
    after: { ...quiet, missedSchedule: { threshold: 2 } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 60, { fate: 'neverStarted' })] },
    says: ['missedSchedule 06:00:00, resolved 08:10:00'],
  },
  {
    name: 'the time of day by which a run is to be finished is later',
    before: { ...quiet, sla: { ...sla, finishBy: { time: '06:30', timezone: 'UTC' } } },
    after: { ...quiet, sla: { ...sla, finishBy: { time: '20:00', timezone: 'UTC' } } },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 4 * 3600)] },
    says: ['slaBreached/finishBy 06:30:00, resolved 08:10:00'],
  },
  {
    name: 'less output is enough',
    before: { ...quiet, output: { assertions: [{ name: 'rows', fact: 'rows', min: 10 }] } },
    after: { ...quiet, output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } },
    cronJob: { rhythm: every(24, 360), tellsRows: true, runs: [run(6, 60, { rows: 5 })] },
    says: ['slaBreached/output 06:01:01, resolved 08:10:00'],
  },
  {
    name: 'an owner allows more time after it was broken',
    before: quiet,
    cronJob: { ...saying({ 'max-duration': '20m' }, { 'max-duration': '2h' }), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, resolved 08:10:00'],
  },
  {
    name: 'an owner allows less time after a run that kept what it had',
    before: quiet,
    cronJob: { ...saying({ 'max-duration': '2h' }, { 'max-duration': '20m' }), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, open'],
  },
  {
    name: 'an owner moves the time of day by which a run is to be finished',
    before: quiet,
    cronJob: { ...saying({ 'finish-by': '06:30 UTC' }, { 'finish-by': '20:00 UTC' }), runs: [run(6, 4 * 3600)] },
    says: ['slaBreached/finishBy 06:30:00, resolved 08:10:00'],
  },
  {
    name: 'an owner gives a run more time to start',
    before: quiet,
    cronJob: { ...saying({ grace: '5m' }, { grace: '12h' }), runs: [run(6, 60, { fate: 'neverStarted' })] },
    says: ['missedSchedule 06:00:00, open'],
  },
  {
    name: 'an owner had muted what failed and was well again, and ends that',
    before: {},
    cronJob: { ...saying(mutedUntil(20), mutedUntil(8)), ...fails(6), rhythm: every(2) },
    says: ['jobFailed 06:01:01, cancelled by a success 08:01:01'],
  },
  {
    name: 'an owner mutes what had failed and was well again',
    before: {},
    cronJob: { ...saying(mutedUntil(4), mutedUntil(20)), ...fails(6), rhythm: every(2) },
    says: ['jobFailed 06:01:01, resolved by a success 08:01:01'],
  },
  {
    name: 'a window in which it failed and was well again is taken away',
    before: window('12h'),
    after: {},
    cronJob: { ...fails(6), rhythm: every(2) },
    says: ['jobFailed 06:01:01, cancelled by a success 08:01:01'],
  },
  {
    name: 'a window in which it failed is taken away while it fails',
    before: window('12h'),
    after: {},
    cronJob: { ...fails(6, 8), rhythm: every(2) },
    says: ['jobFailed 06:01:01, resolved by a success 10:01:01'],
  },
  {
    name: 'a window is made over what had failed and was well again',
    before: {},
    after: window('12h'),
    cronJob: { ...fails(6), rhythm: every(2) },
    says: ['jobFailed 06:01:01, resolved by a success 08:01:01'],
  },
  {
    name: 'a window is made over a run that had taken too long and has ended',
    before: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '30m' } },
    after: { jobFailed: { enabled: false }, stuckJobs: { overrunningAfter: '30m' }, ...window('12h') },
    cronJob: { rhythm: every(24, 360), runs: [run(6, 7200)] },
    says: ['jobStuck/overrunning 06:30:01, resolved by a success 08:00:01'],
  },
  {
    name: 'a lower rate is enough after it was broken',
    before: rate(80),
    after: rate(40),
    cronJob: { ...fails(6, 7), successLimit: 100, failureLimit: 100 },
    says: ['slaBreached/successRate 06:01:01, resolved 08:10:00'],
  },
  {
    name: 'the owner of a Namespace allows more time after it was broken',
    before: quiet,
    cronJob: { namespace: 'team', rhythm: every(24, 360), runs: [run(6, 3600)] },
    says: ['slaBreached/maxDuration 06:20:01, resolved 08:10:00'],
  },
];

const history: History = {
  seed: 0,
  startAt,
  endAt: at(13, 30),
  namespaces: [
    {
      name: 'team',
      letsIn: '',
      consents: [],
      words: [
        { at: madeAt, words: { 'max-duration': '20m' } },
        { at: editAt, words: { 'max-duration': '2h' } },
      ],
    },
  ],
  cronJobs: edits.map(({ cronJob }, index) => aCronJobStory(index, { createdAt: madeAt, ...cronJob })),
  monitors: edits.map(({ before, after: later, cronJob }, index) => {
    const selector = { matchNames: [`job-${index}`] };
    return aMonitorStory(index, {
      namespace: cronJob.namespace ?? 'prod',
      spec: { selector, ...before },
      createdAt: madeAt,
      edits: later ? [{ at: editAt, spec: { selector, ...later } }] : [],
    });
  }),
};

const nameOf = ({ monitor }: Verdict): string => edits[Number(monitor.split('-').at(-1))]?.name ?? monitor;
const time = (instant: number): string => new Date(instant).toISOString().slice(11, 19);

describeWatching('monitors that ask otherwise while the service does not look', (observed) => {
  const watch = async (disturbances: readonly Disturbance[]) => (await observed(history, disturbances)).verdicts;
  let calm: readonly Verdict[] = [];

  test('a service that looks all the time tells what held by what was asked then', async () => {
    calm = await watch([]);
    const said = edits.map(({ name }) =>
      calm
        .filter((verdict) => nameOf(verdict) === name)
        .map(({ type, subject, openedAt, ended, endedAt }) => {
          const end = ended.split(' ')[0] + (/ by job/.test(ended) ? ' by a success' : '');
          const until = endedAt === undefined ? '' : ` ${time(endedAt)}`;
          return `${type}${subject && `/${subject}`} ${time(openedAt)}, ${end}${until}`;
        })
        .toSorted(),
    );
    assert.deepEqual(
      said,
      edits.map(({ says }) => says),
    );
  });

  for (const [kind, says] of [
    ['databaseAway', 'the database was away'],
    ['stopped', 'it was stopped'],
  ] as const)
    test(`a service tells the same where ${says} meanwhile`, async () => {
      const differences = differencesOf(calm, await watch([{ kind, ...gap }]), history.endAt);
      assert.deepEqual(
        differences.map((one) => `${nameOf(one.verdict)}: ${inWords(one)}`),
        [],
      );
    });

  test('what was over before a monitor asked for it is told of no later edit either', async () => {
    const asks = { ...quiet, output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } };
    const longer = { ...asks, sla: { ...sla, maxDuration: '3h' } };
    const { verdicts } = await observed({
      ...history,
      cronJobs: [aCronJobStory(1, { rhythm: every(1), tellsRows: true, runs: [run(5, 60, { rows: 0 })] })],
      monitors: [
        aMonitorStory(1, {
          spec: quiet,
          edits: [
            { at: at(8, 10), spec: asks },
            { at: at(11, 10), spec: longer },
          ],
        }),
      ],
    });
    assert.deepEqual(verdicts, []);
  });
});
