import type { ConcurrencyPolicy, CronJobFacts } from '../objects/cron-job.ts';
import type { Instant } from '../instant.ts';

/** The fields of a CronJob that decide which runs are due. */
export interface EpochFields {
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly suspended: boolean;
  readonly policy: ConcurrencyPolicy;
  readonly deadlineS: number | undefined;
  readonly generation: number;
}

/** A span in which none of these fields changed: (fromAt, toAt]. */
export interface SpecEpoch extends EpochFields {
  readonly fromAt: Instant;
  /** Undefined: still open. */
  readonly toAt: Instant | undefined;
  /** False: something changed within the span, and it is unknown when. Nothing is judged there. */
  readonly certain: boolean;
}

/** When a change happened that was noticed later. */
interface ChangeInstant {
  /** From then on the new fields hold. */
  readonly changedAt: Instant;
  /** Set when it is unknown when in (uncertainFromAt, changedAt] it happened. */
  readonly uncertainFromAt: Instant | undefined;
}

/** True when the CronJob still is what the epoch says: a higher generation alone changes nothing that runs are judged by. */
export function sameSpec(epoch: EpochFields, cronJob: EpochFields): boolean {
  return changedFields(epoch, cronJob).length === 0;
}

/**
 * When the CronJob came to differ from its open epoch; undefined when it does not. `generation` of the epoch is the one seen last. It changed
 * when the field manager of the changed fields wrote them, if that was the only write since: news may be late on a watch that lives, too.
 * Where the cluster does not tell, it changed at its receipt on a live watch (`unwatchedSinceAt` undefined); after a gap the whole gap is
 * uncertain. So it is when nothing differs and several writes came: a pause may have come and gone.
 */
export function instantOfChange(
  open: EpochFields & { readonly fromAt: Instant },
  cronJob: EpochFields & Pick<CronJobFacts, 'specWrites'>,
  sight: { readonly now: Instant; readonly unwatchedSinceAt: Instant | undefined },
): ChangeInstant | undefined {
  const changed = changedFields(open, cronJob);
  const isLive = sight.unwatchedSinceAt === undefined;
  const from = Math.max(sight.unwatchedSinceAt ?? -Infinity, open.fromAt);
  const writes = cronJob.specWrites.filter((write) => write.at > from && write.at <= sight.now);
  if (changed.length === 0) {
    // One write cannot have come and gone; and the last writer of such a field is named with the time.
    const cannotHaveMoved =
      isLive || cronJob.generation <= open.generation + 1 || (cronJob.specWrites.length > 0 && writes.length === 0);
    return cannotHaveMoved ? undefined : { changedAt: sight.now, uncertainFromAt: from };
  }
  const owner = writes.find((write) => changed.every((field) => write.fields.includes(field)));
  const wasOneWrite = cronJob.generation === open.generation + 1;
  if (wasOneWrite && owner) return { changedAt: owner.at, uncertainFromAt: undefined };
  return { changedAt: sight.now, uncertainFromAt: isLive ? undefined : from };
}

/**
 * Since when a CronJob that was never seen before asks for the runs it asks for now: since its creation when it was never edited, else since
 * the last write of one of these fields. Undefined: no write tells, and it counts from now.
 */
export function specSince(cronJob: Pick<CronJobFacts, 'generation' | 'createdAt' | 'specWrites'>): Instant | undefined {
  if (cronJob.generation === 1) return cronJob.createdAt;
  if (cronJob.specWrites.length === 0) return undefined;
  return Math.max(cronJob.createdAt, ...cronJob.specWrites.map(({ at }) => at));
}

/** Names as they stand in a CronJob's spec. */
function changedFields(before: EpochFields, after: EpochFields): string[] {
  const pairs: [string, unknown, unknown][] = [
    ['schedule', before.schedule, after.schedule],
    ['timeZone', before.timeZone, after.timeZone],
    ['suspend', before.suspended, after.suspended],
    ['concurrencyPolicy', before.policy, after.policy],
    ['startingDeadlineSeconds', before.deadlineS, after.deadlineS],
  ];
  return pairs.filter(([, old, now]) => old !== now).map(([name]) => name);
}
