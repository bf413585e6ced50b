import { LedgerRig, type LedgerRigOptions } from '@cronjob-monitor/controller/testing';
import { createClock, createSimCluster, type SimCluster, type VirtualClock } from '@cronjob-monitor/simcluster';
import { ledgerProblems, readLedger, type Blindness, type Told } from './compare.ts';
import { TrueHistory } from './true-history.ts';
import { trueSlots } from './true-slots.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** A cluster under virtual time with a process of ours beside it, for one story. */
export interface Stage {
  readonly sim: SimCluster;
  readonly clock: VirtualClock;
  readonly rig: LedgerRig;
  readonly truth: TrueHistory;
  /** Lets time pass, minute by minute. */
  passTo(at: number | string): Promise<void>;
  /** Our process ends without a word; no process watches until `start`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  change(name: string, spec: Readonly<Record<string, unknown>>): void;
  /** What the ledger says of a CronJob, oldest slot first. */
  words(name: string): Promise<Told[]>;
  /** How often it says what. */
  counts(name: string): Promise<Record<Told, number>>;
  /** Differences from the truth up to `until`, of every CronJob there ever was. */
  problems(until: number | string): Promise<string[]>;
}

interface StageOptions extends Pick<LedgerRigOptions, 'verdicts'> {
  /** Our own clock, by that of the cluster; absent: they are one. */
  readonly clockOf?: (sim: SimCluster) => LedgerRigOptions['clock'];
  readonly startAt: string;
  readonly cronJobs: readonly Readonly<Record<string, unknown>>[];
  readonly defaultZone?: string;
}

const tickOffsetMs = 17_000;
const graceMs = 120_000;

export async function openStage(
  test: { after(fn: () => Promise<void>): void },
  { startAt, cronJobs, defaultZone = 'UTC', verdicts, clockOf }: StageOptions,
): Promise<Stage> {
  const clock = createClock(at(startAt));
  const sim = createSimCluster({ clock, nodes: ['node-1'], schedulePods: true, defaultZone, serviceAccounts: false });
  const truth = new TrueHistory(sim);
  for (const object of cronJobs) sim.objects.put(object);
  const ownClock = clockOf?.(sim);
  const rig = await LedgerRig.open({
    sim,
    defaultZone,
    graceMs,
    ...(verdicts && { verdicts }),
    ...(ownClock && { clock: ownClock }),
  });
  test.after(async () => {
    await rig.close();
    await sim.stop();
  });
  await rig.start();
  const blind: Blindness[] = [];
  let lastTickAt = clock.now();
  return {
    sim,
    clock,
    rig,
    truth,
    async passTo(until) {
      const endAt = at(until);
      let next = Math.floor(clock.now() / minuteMs) * minuteMs + tickOffsetMs;
      for (; next <= endAt; next += minuteMs) {
        if (next <= clock.now()) continue;
        clock.advanceTo(next);
        await rig.tick();
        if (rig.isAlive) lastTickAt = next;
      }
      clock.advanceTo(endAt);
    },
    kill: () => rig.kill(),
    async start() {
      blind.push({ from: lastTickAt - minuteMs, to: clock.now() });
      await rig.start();
    },
    change(name, spec) {
      sim.objects.update({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name }, (object) => ({
        ...object,
        spec: { ...(object['spec'] as object), ...spec },
      }));
    },
    async words(name) {
      const told = await readLedger(rig.store, truth.get(name).uid);
      return [...told].sort(([a], [b]) => a - b).map(([, word]) => word);
    },
    async counts(name) {
      const counts: Record<Told, number> = {};
      for (const word of (await readLedger(rig.store, truth.get(name).uid)).values())
        counts[word] = (counts[word] ?? 0) + 1;
      return counts;
    },
    async problems(until) {
      const range = { from: at(startAt), to: at(until), defaultZone, graceMs };
      const problems: string[] = [];
      for (const cronJob of truth.cronJobs()) {
        const told = await readLedger(rig.store, cronJob.uid);
        const within = new Map([...told].filter(([slotAt]) => slotAt > range.from && slotAt <= range.to));
        const found = ledgerProblems(cronJob, trueSlots(cronJob, range), within, blind);
        problems.push(...found.map((problem) => `${cronJob.name}: ${problem}`));
      }
      return problems;
    },
  };
}

function at(time: number | string): number {
  return typeof time === 'number' ? time : Date.parse(time);
}

const prefix = 'sim.cronjob-monitor.io/';

/** A CronJob in the namespace `default`; `play`: how its pods go, without the prefix of the annotations. */
export function aCronJob(
  name: string,
  spec: Readonly<Record<string, unknown>>,
  play: {
    readonly seconds?: string;
    readonly outcome?: string;
    readonly messages?: string;
    readonly ttlS?: number;
  } = {},
): Record<string, unknown> {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: {
      ...spec,
      jobTemplate: {
        spec: {
          backoffLimit: 0,
          ...(play.ttlS === undefined ? {} : { ttlSecondsAfterFinished: play.ttlS }),
          template: {
            metadata: {
              annotations: {
                [`${prefix}seconds`]: play.seconds ?? '5',
                [`${prefix}outcome`]: play.outcome ?? 'success',
                ...(play.messages === undefined ? {} : { [`${prefix}termination-message`]: play.messages }),
              },
            },
            spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main:1' }] },
          },
        },
      },
    },
  };
}
