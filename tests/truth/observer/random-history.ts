import {
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
  type CronJobEdit,
  type CronJobStory,
  type Fate,
  type History,
  type MonitorStory,
  type Rhythm,
  type RunStory,
} from './history.ts';
import { slotsOf, weekHours } from './kubernetes.ts';
import { Random } from './random.ts';

const startAt = Date.UTC(2026, 10, 21);
/** At its end nothing new happens for so long: what is told late has been told by then. */
export const tailMs = 2 * hourMs;

/** How large a history is made. */
export interface Size {
  readonly cronJobs: number;
  readonly days: number;
}

export function randomHistory(seed: number, size: Size = { cronJobs: 12, days: 3 }): History {
  const chance = new Random(seed);
  const endAt = startAt + size.days * dayMs;
  const within = (from: number, to: number): number =>
    chance.whole(from / secondMs, Math.max(from, to) / secondMs) * secondMs;
  const quietAt = endAt - tailMs;
  const cronJobs: CronJobStory[] = [];
  for (let number = 0; number < size.cronJobs; number++) {
    const namespace = chance.chance(0.75) ? 'prod' : 'team';
    const first = aCronJob(
      `job-${number}`,
      namespace,
      chance.chance(0.6) ? startAt - 10 * dayMs : within(startAt, quietAt - 6 * hourMs),
    );
    cronJobs.push(first);
    if (first.deletedAt !== undefined && chance.chance(0.5))
      cronJobs.push(aCronJob(first.name, namespace, first.deletedAt + chance.whole(1, 3_600) * secondMs));
  }
  return {
    seed,
    startAt,
    endAt,
    namespaces: [{ name: 'team', consents: consents() }],
    cronJobs: cronJobs.filter(({ createdAt }) => createdAt < quietAt),
    monitors: ['everything', 'by-tier', 'across'].flatMap(monitors).filter(({ createdAt }) => createdAt < quietAt),
  };

  function consents() {
    const isIn = chance.chance(0.5);
    const first = { at: startAt - 5 * dayMs, isIn };
    return chance.chance(0.6) ? [first, { at: within(startAt + hourMs, quietAt - hourMs), isIn: !isIn }] : [first];
  }

  function aRhythm(): Rhythm {
    const everyHours = chance.pick([1, 4, 6, 12, 24, 24, 24, 24, 24, weekHours, weekHours, weekHours]);
    return { everyHours, minute: chance.whole(0, everyHours < 24 ? 59 : everyHours * 60 - 1) };
  }

  function aCronJob(name: string, namespace: string, madeAt: number): CronJobStory {
    let createdAt = madeAt;
    const rhythm = aRhythm();
    // Half of those that are made are made shortly before a run, which then ends badly at once.
    const isMade = createdAt >= startAt && chance.chance(0.5);
    const firstSlotAt = isMade ? slotsOf(rhythm, createdAt + minuteMs, quietAt)[0] : undefined;
    if (firstSlotAt !== undefined) createdAt = firstSlotAt - chance.whole(1, 50) * secondMs;
    const deletedAt = chance.chance(0.15) ? within(Math.max(createdAt, startAt) + hourMs, quietAt) : undefined;
    const edits: CronJobEdit[] = [];
    const suspend = chance.chance(0.05);
    if (chance.chance(0.2)) {
      const at = within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt);
      edits.push({ at, suspend: !suspend });
      if (chance.chance(0.6)) edits.push({ at: within(at + minuteMs, quietAt + minuteMs), suspend });
    }
    if (chance.chance(0.15))
      edits.push({ at: within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt), tier: chance.pick(['a', 'b']) });
    if (chance.chance(0.1))
      edits.push({ at: within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt), rhythm: aRhythm() });
    const health = chance.pick([0.02, 0.1, 0.3, 0.9]);
    const from = Math.max(createdAt, startAt - dayMs);
    const rhythms = [rhythm, ...edits.flatMap((edit) => edit.rhythm ?? [])];
    const slots = [...new Set(rhythms.flatMap((one) => slotsOf(one, from, endAt)))].sort((a, b) => a - b);
    return {
      uid: chance.uuid(),
      namespace,
      name,
      tier: chance.pick(['a', 'b']),
      rhythm,
      policy: chance.pick(['Allow', 'Forbid', 'Forbid', 'Replace'] as const),
      suspend,
      ttlSeconds: chance.pick([undefined, undefined, undefined, 0, 60, 3_600, 86_400]),
      successLimit: chance.pick([0, 1, 3, 3, 100]),
      failureLimit: chance.pick([1, 1, 3, 100]),
      createdAt: createdAt < startAt ? startAt - 10 * dayMs : createdAt,
      deletedAt,
      edits: edits.sort((a, b) => a.at - b.at),
      runs: slots.flatMap((slotAt): RunStory[] => {
        if (slotAt === firstSlotAt) return [{ slotAt, fate: 'failure', seconds: chance.whole(1, 3), exitCode: 1 }];
        return chance.chance(health) ? [aRun(slotAt, rhythm)] : [];
      }),
    };
  }

  function aRun(slotAt: number, rhythm: Rhythm): RunStory {
    const fate: Fate = chance.pick([
      'success',
      'failure',
      'failure',
      'failure',
      'outOfMemory',
      'deadline',
      'deleted',
      'neverStarted',
    ]);
    const isLong = chance.chance(0.15);
    const seconds = isLong ? chance.whole(600, Math.floor(rhythm.everyHours * 3_600 * 1.5)) : chance.whole(1, 300);
    return { slotAt, fate, seconds, exitCode: chance.whole(1, 4) };
  }

  function monitors(name: string): MonitorStory[] {
    const createdAt = chance.chance(0.7) ? startAt - 5 * dayMs : within(startAt, quietAt - 6 * hourMs);
    const deletedAt = chance.chance(0.3) ? within(Math.max(createdAt, startAt) + hourMs, quietAt - hourMs) : undefined;
    const first = aMonitor(name, createdAt, deletedAt);
    if (deletedAt === undefined || chance.chance(0.2)) return [first];
    const awaySeconds = chance.chance(0.5) ? chance.whole(1, 540) : chance.whole(700, 10_000);
    return [
      first,
      {
        ...aMonitor(name, deletedAt + awaySeconds * secondMs, undefined),
        ...(chance.chance(0.7) && { spec: first.spec }),
      },
    ];
  }

  function aMonitor(name: string, createdAt: number, deletedAt: number | undefined): MonitorStory {
    const spec = {
      ...selectorOf(name),
      jobFailed: { failureThreshold: chance.pick([1, 1, 1, 2]) },
      ...(chance.chance(0.3) && { deadManSwitch: { maxTimeSinceLastSuccess: chance.pick(['3h', '26h', '50h']) } }),
      ...(chance.chance(0.3) && { sla: { minSuccessRate: 0, maxDuration: '20m', durationRegressionThreshold: 0 } }),
      ...(chance.chance(0.3) && { suspendedHandling: { alertIfSuspendedFor: '2h' } }),
      ...(chance.chance(0.3) && { alerting: { alertDelay: chance.pick(['1m', '10m']) } }),
    };
    const respecAt = within(Math.max(createdAt, startAt) + hourMs, quietAt - hourMs);
    const isEdited = chance.chance(0.2) && respecAt < (deletedAt ?? endAt);
    const edits = isEdited ? [{ at: respecAt, spec: { ...spec, jobFailed: { failureThreshold: 1 } } }] : [];
    return {
      uid: chance.uuid(),
      namespace: name === 'across' ? 'ops' : 'prod',
      name,
      spec,
      createdAt,
      deletedAt,
      edits,
    };
  }

  function selectorOf(name: string): object {
    if (name === 'by-tier') return { selector: { matchLabels: { tier: 'a' } } };
    if (name === 'across') return { selector: { namespaces: ['team'] } };
    return {};
  }
}
