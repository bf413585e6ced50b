import { LedgerRig } from '@cronjob-monitor/controller/testing';
import { createClock, createSimCluster, type KubeObject } from '@cronjob-monitor/simcluster';
import { ledgerProblems, readLedger, type Blindness, type Told } from './compare.ts';
import type { CronJobScript, Edit, History, Outage } from './random-history.ts';
import { TrueHistory } from './true-history.ts';
import { trueSlots } from './true-slots.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

/** What came of a history. */
interface Played {
  /** Differences between the ledger and the truth, a sentence each. */
  readonly problems: readonly string[];
  /** How often the ledger said what: how much was really judged. */
  readonly told: Readonly<Record<Told, number>>;
}

const graceMs = 120_000;
/** What was decided in the last minutes may not have been looked at. */
const openEndMs = 3 * minuteMs;
const tickOffsetMs = 17_000;
const prefix = 'sim.cronjob-monitor.io/';

/** Plays a history with a process of ours beside it, and compares slot by slot. */
export async function playHistory(history: History): Promise<Played> {
  const clock = createClock(history.startAt);
  const { defaultZone } = history;
  const sim = createSimCluster({ clock, nodes: ['node-1'], schedulePods: true, defaultZone, serviceAccounts: false });
  const truth = new TrueHistory(sim);
  for (const script of history.cronJobs) sim.objects.put(toObject(script));
  const rig = await LedgerRig.open({ sim, defaultZone, graceMs });
  try {
    const blind: Blindness[] = [];
    await rig.start();
    await run(history, { sim, rig, clock, blind });
    const told: Record<Told, number> = {};
    const problems: string[] = [];
    for (const cronJob of truth.cronJobs()) {
      const words = await readLedger(rig.store, cronJob.uid);
      for (const word of words.values()) told[word] = (told[word] ?? 0) + 1;
      const to = history.startAt + history.lengthMs - openEndMs;
      const all = trueSlots(cronJob, { from: history.startAt, to, defaultZone, graceMs });
      const open = new Set(all.slots.filter(({ decidedAt }) => decidedAt > to).map(({ at }) => at));
      const slots = { ...all, slots: all.slots.filter(({ at }) => !open.has(at)) };
      const wanted = new Map([...words].filter(([at]) => at > history.startAt && at <= to && !open.has(at)));
      for (const problem of ledgerProblems(cronJob, slots, wanted, blind)) problems.push(`${cronJob.name}: ${problem}`);
    }
    return { problems, told };
  } finally {
    await rig.close();
    await sim.stop();
  }
}

interface Stage {
  readonly sim: ReturnType<typeof createSimCluster>;
  readonly rig: LedgerRig;
  readonly clock: ReturnType<typeof createClock> & { advanceTo(at: number): void };
  readonly blind: Blindness[];
}

/** What happens besides the passing of time: in its order. */
interface Happening {
  readonly atMs: number;
  readonly act: () => Promise<void> | void;
}

async function run(history: History, stage: Stage): Promise<void> {
  const { clock, rig } = stage;
  const happenings = [
    ...history.cronJobs.flatMap(({ name, edits }) => edits.map((edit) => editOf(name, edit, history.signed, stage))),
    ...history.controllerOutages.flatMap((outage) => pauseOf(outage, stage)),
    ...history.downtimes.flatMap((outage) => downtimeOf(outage, history, stage)),
    ...history.blindTimes.flatMap((outage) => blindnessOf(outage, history, stage)),
  ].sort((a, b) => a.atMs - b.atMs);
  for (let atMs = tickOffsetMs; atMs < history.lengthMs; atMs += minuteMs) {
    while ((happenings[0]?.atMs ?? Infinity) <= atMs) {
      const next = happenings.shift();
      if (!next) break;
      clock.advanceTo(history.startAt + next.atMs);
      await next.act();
    }
    clock.advanceTo(history.startAt + atMs);
    await rig.tick();
  }
}

function editOf(name: string, { afterMs, change }: Edit, signed: boolean, { sim, clock }: Stage): Happening {
  const act = (): void => {
    sim.objects.update({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name }, (object) => {
      const before = object['spec'] as Readonly<Record<string, unknown>>;
      // A write that changes nothing leaves no trace.
      if (Object.entries(change).every(([field, value]) => before[field] === value)) return object;
      const metadata = signed ? signedMetadata(object, change, clock.now()) : object.metadata;
      return { ...object, spec: { ...before, ...change }, metadata };
    });
  };
  return { atMs: afterMs, act };
}

/** Each field is owned by who wrote it last, with the time of that. */
function signedMetadata(object: KubeObject, change: object, at: number): KubeObject['metadata'] {
  const fields = Object.keys(change).map((field) => `f:${field}`);
  const earlier = (object.metadata as unknown as { managedFields?: readonly ManagedFields[] }).managedFields ?? [];
  const left = earlier
    .map((entry) => {
      const kept = Object.entries(entry.fieldsV1['f:spec']).filter(([field]) => !fields.includes(field));
      return { ...entry, fieldsV1: { 'f:spec': Object.fromEntries(kept) } };
    })
    .filter((entry) => Object.keys(entry.fieldsV1['f:spec']).length > 0);
  const entry: ManagedFields = {
    manager: `editor-${at}`,
    operation: 'Update',
    apiVersion: 'batch/v1',
    time: new Date(at).toISOString().replace(/\.\d+Z/, 'Z'),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': Object.fromEntries(fields.map((field) => [field, {}])) },
  };
  return { ...object.metadata, managedFields: [...left, entry] } as unknown as KubeObject['metadata'];
}

interface ManagedFields {
  readonly manager: string;
  readonly operation: 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: { readonly 'f:spec': Readonly<Record<string, object>> };
}

function pauseOf({ fromMs, toMs }: Outage, { sim }: Stage): Happening[] {
  let resume = (): void => {};
  return [
    { atMs: fromMs, act: () => void (resume = sim.pauseCronJobs()) },
    { atMs: toMs, act: () => resume() },
  ];
}

function downtimeOf(
  { fromMs, toMs, lost }: History['downtimes'][number],
  history: History,
  { rig, clock, blind }: Stage,
): Happening[] {
  // The last tick before the end; with `lost` nothing of what came after it was written.
  const lastTickMs = Math.floor((fromMs - tickOffsetMs) / minuteMs) * minuteMs + tickOffsetMs;
  const beatMs = lost ? Math.max(0, lastTickMs) : fromMs - 3_000;
  return [
    {
      atMs: fromMs,
      act: async () => {
        if (!lost) await rig.tick();
        await rig.kill(Math.max(history.startAt, history.startAt + beatMs));
      },
    },
    {
      atMs: toMs,
      act: async () => {
        blind.push({ from: history.startAt + Math.min(beatMs, lastTickMs) - minuteMs, to: clock.now() });
        await rig.start();
      },
    },
  ];
}

function blindnessOf({ fromMs, toMs }: Outage, history: History, { rig, clock, blind }: Stage): Happening[] {
  let sight: { resume(): void } | undefined;
  return [
    {
      atMs: fromMs,
      act: () => {
        sight = rig.isAlive ? rig.blind() : undefined;
      },
    },
    {
      atMs: toMs,
      act: () => {
        if (!sight) return;
        blind.push({ from: history.startAt + fromMs, to: clock.now() });
        sight.resume();
      },
    },
  ];
}

function toObject(script: CronJobScript): Record<string, unknown> {
  const { name, schedule, timeZone, policy, deadlineS, successLimit, failureLimit, ttlS } = script;
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: {
      schedule,
      ...(timeZone === undefined ? {} : { timeZone }),
      concurrencyPolicy: policy,
      ...(deadlineS === undefined ? {} : { startingDeadlineSeconds: deadlineS }),
      successfulJobsHistoryLimit: successLimit,
      failedJobsHistoryLimit: failureLimit,
      jobTemplate: {
        spec: {
          backoffLimit: 0,
          ...(ttlS === undefined ? {} : { ttlSecondsAfterFinished: ttlS }),
          template: {
            metadata: {
              annotations: {
                [`${prefix}outcome`]: script.ends.join(','),
                [`${prefix}seconds`]: script.seconds.join(','),
              },
            },
            spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'main:1' }] },
          },
        },
      },
    },
  };
}
