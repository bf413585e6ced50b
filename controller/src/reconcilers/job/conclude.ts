import {
  canonicalJobName,
  judgeVanished,
  slotOf,
  toExecution,
  type Execution,
  type Instant,
  type SlotClaim,
} from '@cronjob-monitor/shared/domain';
import { endedUnwatched, type GatheredJob } from './gather.ts';

/** What is to be done about one Job. */
export type Conclusion =
  | { readonly kind: 'ended'; readonly execution: Execution }
  | { readonly kind: 'running' }
  /** Gone, and only time or a newer Job can tell whether it was replaced. */
  | { readonly kind: 'undecided'; readonly untilAt: Instant };

/** What the Job's surroundings in the store and the monitors say. */
export interface ConclusionContext {
  readonly now: Instant;
  /** When this process began to see everything. */
  readonly watchingSinceAt: Instant;
  /** From when on some monitor judges the CronJob; undefined: it has no row yet. */
  readonly judgedSinceAt: Instant | undefined;
  /** Recorded runs that own the slot this Job names. */
  readonly recordedClaims: readonly SlotClaim[];
  readonly inMaintenance: (at: Instant) => boolean;
}

/** From what the cluster says of a Job to what its record says. Pure: a second look concludes the same. */
export function conclude(gathered: GatheredJob, context: ConclusionContext): Conclusion {
  const { snapshot, pods, siblings } = gathered;
  const { job, gone } = snapshot;
  if (!job.outcome && !gone) return { kind: 'running' };

  const vanishing =
    job.outcome || !gone
      ? undefined
      : judgeVanished(job, gone, siblings, { policy: gathered.cronJob?.policy, now: context.now });
  if (vanishing && 'undecidedUntilAt' in vanishing) return { kind: 'undecided', untilAt: vanishing.undecidedUntilAt };

  const slotAt = slotOf(job);
  const execution = toExecution(job, pods, {
    otherClaims: [...siblings.flatMap(claimOf), ...context.recordedClaims],
    vanished: vanishing && gone ? { status: vanishing.status, at: gone.at } : undefined,
    delayed: endedUnwatched(job.endedAt ?? gone?.at, {
      sinceAt: context.watchingSinceAt,
      judgedSinceAt: context.judgedSinceAt,
    }),
    inMaintenance: context.inMaintenance(slotAt ?? job.createdAt),
  });
  return execution ? { kind: 'ended', execution } : { kind: 'running' };
}

/** True when another Job may own the slot this one names, so that the store has to be asked: the canonical name always owns it. */
export function mayBeRerun({ snapshot: { job } }: GatheredJob): boolean {
  const slotAt = slotOf(job);
  return slotAt !== undefined && job.name !== canonicalJobName(job.cronJobName, slotAt);
}

function claimOf(job: GatheredJob['snapshot']['job']): SlotClaim[] {
  const slotAt = slotOf(job);
  return slotAt === undefined ? [] : [{ jobUid: job.uid, jobName: job.name, slotAt, createdAt: job.createdAt }];
}
