import type { Instant } from '../instant.ts';
import type { ExecutionTrigger } from './execution.ts';
import type { JobFacts } from '../objects/job.ts';

type NamedJob = Pick<JobFacts, 'uid' | 'name' | 'cronJobName' | 'createdAt' | 'slotAt' | 'manual' | 'marks'>;

/** Another Job of the same CronJob that names a slot, live or recorded. */
export interface SlotClaim {
  readonly jobUid: string;
  readonly jobName: string;
  readonly slotAt: Instant;
  readonly createdAt: Instant;
}

interface Origin {
  readonly trigger: ExecutionTrigger;
  /** The slot that the run owns: of scheduled runs only. */
  readonly scheduledAt: Instant | undefined;
}

/** The search of the schedule gives up after five years: a slot cannot lie further before its Job. */
const longestGapMs = 5 * 366 * 24 * 3600 * 1000;
/** How far the clock that stamped the Job may lag behind the one that chose the slot. */
const clockSlackMs = 60_000;

/** The name that the CronJob controller gives to the Job of a slot: it has the slot's minute. */
export function canonicalJobName(cronJobName: string, slotAt: Instant): string {
  return `${cronJobName}-${Math.floor(slotAt / 60_000)}`;
}

/**
 * The slot that a Job names: by the annotation of the CronJob controller (since Kubernetes 1.28), else by its name. A Job that a person
 * started names none by its name. Undefined: it names none.
 */
export function slotOf(job: NamedJob): Instant | undefined {
  if (job.marks) return undefined;
  if (job.slotAt !== undefined || job.manual) return job.slotAt;
  if (!job.name.startsWith(`${job.cronJobName}-`)) return undefined;
  const minutes = job.name.slice(job.cronJobName.length + 1);
  if (!/^[1-9]\d{0,9}$/.test(minutes)) return undefined;
  const slotAt = Number(minutes) * 60_000;
  const possible = slotAt <= job.createdAt + clockSlackMs && slotAt >= job.createdAt - longestGapMs;
  return possible ? slotAt : undefined;
}

/**
 * What started a run, and the slot that it owns. A slot has one owner: of all Jobs that name it the one with the canonical name, else the
 * oldest. Who names a slot that another owns is a rerun: a copy of the Job, annotation included. A Job of a group has no slot and counts as a
 * scheduled run does.
 */
export function originOf(job: NamedJob, others: readonly SlotClaim[]): Origin {
  if (job.marks) return { trigger: 'scheduled', scheduledAt: undefined };
  const slotAt = slotOf(job);
  if (slotAt === undefined) return { trigger: job.manual ? 'manual' : 'unmatched', scheduledAt: undefined };
  const own: SlotClaim = { jobUid: job.uid, jobName: job.name, slotAt, createdAt: job.createdAt };
  const canonical = canonicalJobName(job.cronJobName, slotAt);
  const rivals = others.filter((other) => other.slotAt === slotAt && other.jobUid !== job.uid);
  if (rivals.some((rival) => comesBefore(rival, own, canonical))) return { trigger: 'rerun', scheduledAt: undefined };
  return { trigger: 'scheduled', scheduledAt: slotAt };
}

function comesBefore(a: SlotClaim, b: SlotClaim, canonical: string): boolean {
  if ((a.jobName === canonical) !== (b.jobName === canonical)) return a.jobName === canonical;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt;
  return a.jobUid < b.jobUid;
}
