import type { Instant } from '../instant.ts';
import type { JobFacts } from './job.ts';

/** That a Job is no longer in the cluster. */
export interface Departure {
  /** When we learned of it. */
  readonly at: Instant;
  /** By a watch that saw it go; false: a list no longer had it, and it may have ended while nobody watched. */
  readonly seen: boolean;
}

/** The last that is known of a Job: it outlives the Job until its run is recorded. */
export interface JobSnapshot {
  readonly job: JobFacts;
  /** Undefined while the Job is in the cluster. */
  readonly gone: Departure | undefined;
}

/**
 * The snapshot to keep when one more has arrived; the very `known` when it says nothing new. States: unfinished, ended, and beside them
 * gone. The newest arrival wins, but nothing leads back: an ended Job stays ended and a gone one stays gone, for a list that began before
 * the end may arrive after it. A departure that a watch has seen is not weakened by one that a list noticed.
 */
export function nextSnapshot(known: JobSnapshot | undefined, arrived: JobSnapshot): JobSnapshot {
  if (!known || known.job.uid !== arrived.job.uid) return arrived;
  const keepsJob = known.job.outcome !== undefined && arrived.job.outcome === undefined;
  const staleJob = known.gone !== undefined && arrived.gone === undefined && arrived.job.outcome === undefined;
  const job = keepsJob || staleJob ? known.job : arrived.job;
  const gone = strongerDeparture(known.gone, arrived.gone);
  return job === known.job && gone === known.gone ? known : { job, gone };
}

function strongerDeparture(known: Departure | undefined, arrived: Departure | undefined): Departure | undefined {
  if (!known || !arrived) return known ?? arrived;
  return arrived.seen && !known.seen ? arrived : known;
}

/** Whether the Job needs no more watching: it has ended, or is gone. */
export function isOver({ job, gone }: JobSnapshot): boolean {
  return job.outcome !== undefined || gone !== undefined;
}
