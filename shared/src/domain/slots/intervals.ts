import type { Instant } from '../instant.ts';
import type { Schedule } from '../schedule/index.ts';

/** The interval of an `@every` schedule in milliseconds: whole seconds, 1 s at least; undefined when it cannot be told. */
export function intervalOf(schedule: Schedule, zone: string): number | undefined {
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
export function* intervalSlots(
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
