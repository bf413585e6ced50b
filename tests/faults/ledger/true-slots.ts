import { nextDue, readCronText, type CronRule } from '@cronjob-monitor/simcluster';
import type { TrueCronJob, TrueJob, TrueSpec } from './true-history.ts';

/** An expected run, as the history of the cluster tells it. */
export interface TrueSlot {
  readonly at: number;
  /** Undefined: nothing was ever started for it. */
  readonly job: TrueJob | undefined;
  /** What became of it without a run. */
  readonly outcome: Outcome;
  /** When that could be known; before it still waits. */
  readonly decidedAt: number;
}

type Outcome = 'missed' | 'suspended' | 'skippedForbid' | 'skippedDeadline';

export interface TrueSlots {
  readonly slots: readonly TrueSlot[];
  /** Runs of slots that no schedule asked for at their time: an edit looked back. */
  readonly unasked: readonly TrueJob[];
}

interface Due {
  readonly at: number;
  readonly spec: TrueSpec;
  readonly followsAt: number;
}

/** When the controller comes back to a CronJob after a run of it has ended. */
const lagMs = 2_000;
/** No slot waits longer, but for a run before it. */
const longestWaitMs = 15 * 60_000;

/**
 * What was due of a CronJob in (from, to], and what became of it. Told from the specs as they were and the Jobs as they were, by the
 * schedules of the simulated cluster: none of the product's rules is used.
 */
export function trueSlots(
  cronJob: TrueCronJob,
  range: { readonly from: number; readonly to: number; readonly defaultZone: string; readonly graceMs: number },
): TrueSlots {
  const due = dueSlots(cronJob, range);
  const jobs = new Map(cronJob.jobs.map((job) => [job.slotAt, job]));
  const slots = due.map((slot) => ({
    at: slot.at,
    job: jobs.get(slot.at),
    ...fateOf(slot, cronJob.jobs, range.graceMs),
  }));
  const asked = new Set(due.map(({ at }) => at));
  const unasked = cronJob.jobs.filter(({ slotAt }) => slotAt > range.from && slotAt <= range.to && !asked.has(slotAt));
  return { slots, unasked };
}

function dueSlots(
  { specs, jobs, createdAt }: TrueCronJob,
  range: { readonly from: number; readonly to: number; readonly defaultZone: string },
): Due[] {
  const found: { at: number; spec: TrueSpec }[] = [];
  // Two more days, for the slots that follow the last ones.
  const until = range.to + 2 * 86_400_000;
  for (const [index, spec] of specs.entries()) {
    const rule = understood(spec.schedule);
    if (!rule) continue;
    const to = Math.min(specs[index + 1]?.fromAt ?? until, until);
    const zone = spec.timeZone ?? range.defaultZone;
    let at = firstAfter(rule, zone, Math.max(spec.fromAt, createdAt), startsBefore(jobs, spec.fromAt) ?? createdAt);
    while (at !== undefined && at <= to) {
      found.push({ at, spec });
      at = nextDue(rule, zone, at);
    }
  }
  return found
    .map((slot, index) => ({ ...slot, followsAt: found[index + 1]?.at ?? Infinity }))
    .filter(({ at }) => at > range.from && at <= range.to);
}

/** Intervals count from the last start; what the clock shows counts from nowhere. */
function firstAfter(rule: CronRule, zone: string, after: number, anchor: number): number | undefined {
  if (rule.kind !== 'interval') return nextDue(rule, zone, after);
  let at = nextDue(rule, zone, anchor);
  while (at !== undefined && at <= after) at = nextDue(rule, zone, at);
  return at;
}

function startsBefore(jobs: readonly TrueJob[], at: number): number | undefined {
  const slots = jobs.filter(({ createdAt }) => createdAt <= at).map(({ slotAt }) => slotAt);
  return slots.length === 0 ? undefined : Math.max(...slots);
}

function fateOf(
  { at, spec, followsAt }: Due,
  jobs: readonly TrueJob[],
  graceMs: number,
): Pick<TrueSlot, 'outcome' | 'decidedAt'> {
  const soon = at + longestWaitMs;
  if (spec.suspended) return { outcome: 'suspended', decidedAt: soon };
  const endOf = (job: TrueJob): number => job.endedAt ?? job.goneAt ?? Infinity;
  const before = jobs.filter((job) => job.slotAt < at && job.createdAt <= at && endOf(job) > at);
  if (spec.policy !== 'Forbid' || before.length === 0) return { outcome: 'missed', decidedAt: soon };
  const endAt = Math.max(...before.map(endOf));
  const deadlineAt = at + (spec.deadlineMs ?? Infinity);
  if (deadlineAt < Math.min(followsAt, endAt + lagMs))
    return { outcome: 'skippedDeadline', decidedAt: Math.max(soon, deadlineAt) };
  if (followsAt <= endAt) return { outcome: 'skippedForbid', decidedAt: Math.max(soon, followsAt) };
  // It was free to start until then: by a later one it was overtaken, else it was simply not started.
  const startedBy = endAt + Math.max(30_000, Math.min(graceMs, (followsAt - at) / 2));
  const overtaken = jobs.some((job) => job.slotAt > at && job.createdAt <= startedBy);
  return { outcome: overtaken ? 'skippedForbid' : 'missed', decidedAt: Math.max(soon, startedBy) };
}

function understood(text: string): CronRule | undefined {
  try {
    return readCronText(text);
  } catch {
    return undefined;
  }
}
