import { nthSlotAfter, parse, type Schedule } from '../schedule/index.ts';
import type { Instant } from '../instant.ts';
import type { SpecEpoch } from './epoch.ts';

/** A run that was due. */
export interface ExpectedSlot {
  readonly at: Instant;
  /** The slot that follows it, of whatever epoch; undefined when there is none. */
  readonly nextAt: Instant | undefined;
  readonly epoch: SpecEpoch;
}

interface ExpectedSlots {
  readonly slots: readonly ExpectedSlot[];
  /** Slots are complete up to here: earlier than asked when the limit was reached. */
  readonly throughAt: Instant;
}

/** Beyond so many slots between anchor and start the chain is given up: what is due so often does not care where it is counted from. */
const longestChain = 100;

/** What the chain of slots starts from. Instants of slots seen so far, not of their runs. */
interface ChainStart {
  /** Slots at or before it are judged already. */
  readonly afterAt: Instant;
  readonly createdAt: Instant;
  /** `lastScheduleTime`, or the last slot known: `@every` counts from it, and near odd clock changes so does cron. */
  readonly anchorAt: Instant | undefined;
  /** Slots that were started, oldest first: intervals count from the newest before them. Absent: none but the anchor. */
  readonly startedAt?: readonly Instant[] | undefined;
  /** When the runs of these slots were started; absent: at their slot. */
  readonly createdAtOf?: ReadonlyMap<Instant, Instant> | undefined;
  readonly defaultZone: string;
}

/**
 * The slots of all epochs in (afterAt, throughAt], oldest first, at most `limit`. An epoch whose schedule or zone cannot be
 * evaluated has none: that is a condition of the monitor, not a miss.
 */
export function expectedSlots(
  epochs: readonly SpecEpoch[],
  start: ChainStart,
  throughAt: Instant,
  limit = 10_000,
): ExpectedSlots {
  const found: { at: Instant; epoch: SpecEpoch; position: number }[] = [];
  let anchorAt = start.anchorAt;
  for (const [position, epoch] of epochs.entries()) {
    const from = Math.max(epoch.fromAt, start.createdAt, start.afterAt);
    const to = Math.min(epoch.toAt ?? throughAt, throughAt);
    if (from >= to) continue;
    for (const at of slotsAfter(epoch, from, start, anchorAt)) {
      if (at > to) break;
      if (found.length === limit) return { slots: link(found, epochs, start), throughAt: found.at(-1)?.at ?? from };
      found.push({ at, epoch, position });
      anchorAt = at;
    }
  }
  return { slots: link(found, epochs, start), throughAt };
}

/**
 * The n-th slot after an instant, of each time by what the CronJob asked for then: one that is due by a schedule alone that was written later
 * never was. Before the first epoch that is known it asked for the same. Undefined: none comes, or it cannot be evaluated.
 */
export function nthExpectedAfter(
  epochs: readonly Pick<SpecEpoch, 'schedule' | 'timeZone' | 'fromAt' | 'toAt'>[],
  defaultZone: string,
  after: Instant,
  n: number,
): Instant | undefined {
  let left = n;
  for (const [position, { schedule, timeZone, fromAt, toAt = Infinity }] of epochs.entries()) {
    let at: Instant | undefined = position === 0 ? after : Math.max(after, fromAt);
    while (at !== undefined && at <= toAt) {
      at = nthSlotAfter(schedule, timeZone ?? defaultZone, at, 1);
      if (at !== undefined && at <= toAt && --left === 0) return at;
    }
  }
  return undefined;
}

/** Each slot gets the one that follows it: the next one found, or the first that any later epoch brings. */
function link(
  found: readonly { readonly at: Instant; readonly epoch: SpecEpoch; readonly position: number }[],
  epochs: readonly SpecEpoch[],
  start: ChainStart,
): ExpectedSlot[] {
  return found.map(({ at, epoch, position }, index) => {
    const nextAt = found[index + 1]?.at ?? firstFrom(epochs.slice(position), at, start);
    return { at, nextAt, epoch };
  });
}

function firstFrom(epochs: readonly SpecEpoch[], after: Instant, start: ChainStart): Instant | undefined {
  for (const epoch of epochs) {
    const from = Math.max(epoch.fromAt, after);
    const [at] = slotsAfter(epoch, from, start, after).take(1);
    if (at !== undefined && at <= (epoch.toAt ?? Infinity)) return at;
  }
  return undefined;
}

/** The slots of an epoch's schedule after `from`, without end. A cron text chains from `anchorAt`, intervals from the last start. */
function* slotsAfter(
  epoch: SpecEpoch,
  from: Instant,
  chain: ChainStart,
  anchorAt: Instant | undefined,
): Generator<Instant, undefined> {
  const schedule = understood(epoch.schedule);
  if (!schedule) return;
  const zone = epoch.timeZone ?? chain.defaultZone;
  if (schedule.kind === 'every') {
    const stepMs = intervalOf(schedule, zone);
    // What was started only after this spec had ended moved none of its slots, though an edit may have looked back among them.
    const createdAtOf = (at: Instant): Instant => chain.createdAtOf?.get(at) ?? at;
    const startedAt = chain.startedAt?.filter((at) => createdAtOf(at) <= (epoch.toAt ?? Infinity));
    if (stepMs !== undefined) yield* intervalSlots(stepMs, from, { ...chain, startedAt }, epoch.deadlineS);
    return;
  }
  let at = firstAfter(schedule, zone, from, anchorAt);
  while (at !== undefined) {
    yield at;
    at = nextOf(schedule, at, zone);
  }
}

/** The first slot of a cron schedule after `from`, on the chain that the controller follows. */
function firstAfter(
  schedule: Schedule,
  zone: string,
  from: Instant,
  anchorAt: Instant | undefined,
): Instant | undefined {
  // From the last slot: next() from between two slots may differ around a clock change that hides midnight.
  let at = anchorAt !== undefined && anchorAt <= from ? nextOf(schedule, anchorAt, zone) : undefined;
  for (let steps = 0; at !== undefined && at <= from; steps++) {
    at = nextOf(schedule, steps < longestChain ? at : from, zone);
  }
  return at ?? nextOf(schedule, from, zone);
}

function nextOf(schedule: Schedule, after: Instant, zone: string): Instant | undefined {
  try {
    return schedule.next(after, zone) ?? undefined;
  } catch {
    return undefined; // an unknown zone: the controller starts nothing either
  }
}

export function understood(text: string): Schedule | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** The interval of an `@every` schedule in milliseconds: whole seconds, 1 s at least; undefined when it cannot be told. */
function intervalOf(schedule: Schedule, zone: string): number | undefined {
  try {
    return schedule.next(0, zone) ?? undefined;
  } catch {
    return undefined; // an unknown zone: the controller starts nothing either
  }
}

/**
 * The slots of `@every` after `from`, without end: the last slot that was started plus n intervals, else the creation plus n. An edit does
 * not move them and downtime keeps their phase, but after a pause longer than its deadline the controller counts anew: then its own slot
 * tells the new phase (kubernetes.md 1.5). With a deadline shorter than the interval nothing is ever due.
 */
function* intervalSlots(
  stepMs: number,
  from: Instant,
  chain: {
    readonly createdAt: Instant;
    readonly anchorAt: Instant | undefined;
    readonly startedAt?: readonly Instant[] | undefined;
  },
  deadlineS: number | undefined,
): Generator<Instant, undefined> {
  if (deadlineS !== undefined && deadlineS * 1000 < stepMs - 1000) return;
  const starts = chain.startedAt ?? [];
  const later = starts.filter((at) => at > from);
  // Each side may know of a start that the other has forgotten: the newest counts.
  const before = [...starts, chain.anchorAt, chain.createdAt].filter((at) => at !== undefined && at <= from);
  let anchorAt = wholeSecond(before.reduce<Instant>((newest, at) => Math.max(newest, at ?? newest), chain.createdAt));
  let passedAt = from;
  for (;;) {
    const at = anchorAt + (Math.floor((passedAt - anchorAt) / stepMs) + 1) * stepMs;
    const [started] = later;
    if (started !== undefined && started <= at) {
      later.shift();
      anchorAt = started;
      passedAt = started;
      // Off the old phase it is no slot that was due: it belongs to its run alone.
      if (started === at) yield at;
      continue;
    }
    yield at;
    passedAt = at;
  }
}

function wholeSecond(at: Instant): Instant {
  return Math.floor(at / 1000) * 1000;
}
