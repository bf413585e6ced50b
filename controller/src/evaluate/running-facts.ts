import type { StuckSubject } from '@cronjob-monitor/shared/contract';
import {
  awaitsRecord,
  factsReach,
  faultOfRun,
  findNotStarted,
  hopelessWaitOf,
  originOf,
  refusedCreate,
  slotGapMs,
  slotOf,
  toAlertFacts,
  type CreateRefusal,
  type DetectionFacts,
  type Instant,
  type JobFacts,
  type JobStuckFacts,
  type Part,
  type PodFacts,
  type UnfinishedJob,
} from '@cronjob-monitor/shared/domain';
import {
  listLastScheduledRuns,
  measureLastDurations,
  type JudgedRunRow,
  type LastScheduledRuns,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** Jobs and pods, from memory. */
export interface RunningSources {
  /** Those that are in the cluster. */
  readonly jobsOf: (cronJobUid: string) => readonly JobFacts[];
  /** Those that went while a watch saw it and whose runs are not written yet; one that had not ended ends as it goes. */
  readonly goneJobsOf: (cronJobUid: string) => readonly JobFacts[];
  readonly podsOf: (jobUid: string) => readonly PodFacts[];
  /** That the cluster does not create its pods, as far as events of the Job were read. */
  readonly refusalOf: (jobUid: string) => CreateRefusal | undefined;
}

const noRuns: Partial<LastScheduledRuns> = {};

/** Facts about runs that go on and about how long they took, for these CronJobs at once. */
export async function gatherRunning(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  from: RunningSources,
  horizon: Instant,
): Promise<(...of: [Subject, Watch, readonly JudgedRunRow[]]) => Pick<DetectionFacts, 'stuck' | 'durations'>> {
  const unfinished = new Map(subjects.map((subject) => [subject, unfinishedOf(subject, from)]));
  const running = subjects.filter((subject) => (unfinished.get(subject)?.length ?? 0) > 0);
  const p99s = parts.has('stuck')
    ? await measureLastDurations(
        tx,
        running.map(({ row }) => row.id),
        factsReach.durationsForP99,
      )
    : undefined;
  const limited = subjects.filter(({ watches }) => watches.some(({ rules }) => hasLimit(rules.detection.durations)));
  const lastRuns = parts.has('durations')
    ? await listLastScheduledRuns(
        tx,
        limited.map(({ row }) => row.id),
      )
    : undefined;

  return (subject, watch, ended) => {
    const jobs = unfinished.get(subject) ?? [];
    const p99 = p99s?.get(subject.row.id);
    const last = lastRuns && (lastRuns.get(subject.row.id) ?? noRuns);
    return {
      stuck: p99s && {
        jobs: jobs.map((job) => ({
          ...toUnfinished(job, from.podsOf(job.uid), { refusal: from.refusalOf(job.uid), horizon, now: tx.now() }),
          slotGapMs: gapAround(subject, job),
        })),
        p99DurationMs: p99?.p99Ms,
        runs: p99?.runs ?? 0,
        ...toldStuck(subject, watch),
      },
      durations:
        last && !awaitsRecord(overOf(subject, from), last.lastEnded, tx.now())
          ? { ...sinceOrigin(last, watch.judgesFromAt), running: scheduledOf(jobs), ended }
          : undefined,
    };
  };
}

function hasLimit(
  limits: { readonly maxDurationMs: number | undefined; readonly minDurationMs: number | undefined } | undefined,
): boolean {
  return limits?.maxDurationMs !== undefined || limits?.minDurationMs !== undefined;
}

function unfinishedOf({ row }: Subject, from: RunningSources): JobFacts[] {
  return from.jobsOf(row.uid).filter((job) => job.outcome === undefined);
}

/** Scheduled Jobs that run now; suspended ones left out. */
function scheduledOf(jobs: readonly JobFacts[]): { readonly jobName: string; readonly startedAt: Instant }[] {
  return jobs.flatMap((job) =>
    originOf(job, []).trigger !== 'scheduled' ||
    job.suspended ||
    job.startedAt === undefined ||
    job.decidedAs !== undefined
      ? []
      : [{ jobName: job.name, startedAt: job.startedAt }],
  );
}

/** Scheduled Jobs that have ended, or of which it is decided how they will. */
function overOf({ row }: Subject, from: RunningSources): { readonly jobName: string; readonly endedAt: Instant }[] {
  return from.jobsOf(row.uid).flatMap((job) => {
    const endedAt = job.outcome === undefined ? job.decidedAt : job.endedAt;
    const isOver = endedAt !== undefined && (job.outcome ?? job.decidedAs) !== undefined;
    return isOver && originOf(job, []).trigger === 'scheduled' ? [{ jobName: job.name, endedAt }] : [];
  });
}

/** What ended before the monitor judged the CronJob is history: it opens nothing. */
function sinceOrigin(
  runs: Partial<LastScheduledRuns>,
  judgesFromAt: Instant,
): Pick<NonNullable<DetectionFacts['durations']>, 'lastEnded' | 'lastSuccess'> {
  const seen = <T extends { readonly endedAt: Instant }>(run: T | undefined): T | undefined =>
    run && run.endedAt >= judgesFromAt ? run : undefined;
  return { lastEnded: seen(runs.lastEnded), lastSuccess: seen(runs.lastSuccess) };
}

/** What the alerts about it say of the Jobs that they name. */
function toldStuck(
  { alerts }: Subject,
  { monitor }: Watch,
): Pick<JobStuckFacts, 'toldNotStarted' | 'toldHopeless' | 'toldOverrunning'> {
  const told = (
    about: StuckSubject,
    key: string,
  ): { readonly names: string[]; readonly limitMs: number } | undefined => {
    const alert = alerts.find(
      ({ monitorId, type, subject }) => monitorId === monitor.id && type === 'jobStuck' && subject === about,
    );
    const jobs = alert && toAlertFacts(alert.context).verdict?.detail[key];
    if (!Array.isArray(jobs)) return undefined;
    const limit = (alert?.figures as { readonly limit?: unknown } | undefined)?.limit;
    const limitMs = typeof limit === 'number' ? limit * 1_000 : Infinity;
    return { names: jobs.filter((name) => typeof name === 'string'), limitMs };
  };
  const [notStarted, hopeless] = [told('notStarted', 'jobs'), told('notStarted', 'hopeless')];
  const overrunning = told('overrunning', 'jobs');
  return {
    toldNotStarted: notStarted && new Set(notStarted.names),
    toldHopeless: hopeless && new Set(hopeless.names),
    toldOverrunning: overrunning && new Map(overrunning.names.map((name) => [name, overrunning.limitMs])),
  };
}

export function gapAround({ facts, zone }: Subject, job: JobFacts): number | undefined {
  return facts && slotGapMs(facts.schedule, facts.timeZone ?? zone, { slotAt: slotOf(job), createdAt: job.createdAt });
}

/** A Job that has not ended, as what is stuck is judged by. */
function toUnfinished(
  job: JobFacts,
  pods: readonly PodFacts[],
  {
    refusal,
    horizon,
    now,
  }: {
    readonly refusal: CreateRefusal | undefined;
    /** Nothing is known beyond it of pods that did not come. */
    readonly horizon: Instant;
    readonly now: Instant;
  },
): UnfinishedJob {
  const events = refusal ? [{ reason: refusedCreate, message: refusal.message }] : [];
  const waiting = findNotStarted(job, pods, events);
  const hopeless = hopelessWaitOf(job, pods, refusal);
  const waitingReason = waiting?.reason ?? hopeless?.reason;
  return {
    jobName: job.name,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    suspended: job.suspended,
    // A Job that resumes gets its start anew.
    waitingSinceAt: waiting && Math.max(job.createdAt, job.startedAt ?? job.createdAt),
    hopelessSinceAt: hopeless && now >= hopeless.fromAt ? hopeless.sinceAt : undefined,
    waitingReason,
    refusal: waitingReason === refusedCreate ? refusal?.message : undefined,
    fault: waiting || hopeless ? faultOfRun(job, pods, { events }) : undefined,
    seenThroughAt:
      pods.length === 0 && job.decidedAt === undefined && job.deletingAt === undefined ? horizon : undefined,
    endingSinceAt: endingSince(job, pods),
  };
}

/** The deletionTimestamp of a pod lies at the end of its grace already. */
function endingSince(job: JobFacts, pods: readonly PodFacts[]): Instant | undefined {
  if (job.decidedAt !== undefined) return job.decidedAt;
  if (job.deletingAt === undefined) return undefined;
  return Math.max(job.deletingAt, ...pods.flatMap(({ deletingAt }) => deletingAt ?? []));
}
