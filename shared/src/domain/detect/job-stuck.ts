import type { StuckSubject } from '../../contract/index.ts';
import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import { hourMs } from '../duration.ts';
import type { HeldSpan, PassedLevel, Suspension } from './passed-level.ts';

export interface JobStuckRule {
  readonly enabled: boolean;
  readonly notStartedAfterMs: number;
  /** Of a wait that does not pass by itself; 0, and what is longer than `notStartedAfterMs`: as that. */
  readonly hopelessAfterMs: number;
  readonly terminatingAfterMs: number;
  /** Undefined: from the durations seen. */
  readonly overrunningAfterMs: number | undefined;
}

export interface UnfinishedJob {
  readonly jobName: string;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  readonly suspended: boolean;
  /** Set when no container of any of its pods has ever run: since creation or resume. */
  readonly waitingSinceAt: Instant | undefined;
  /** Set when it waits for what does not come by itself, also beside containers that run or have run. */
  readonly hopelessSinceAt?: Instant | undefined;
  /** Absence is known up to here: of a Job without a pod it is unknown beyond that it has none. Undefined: its state is seen. */
  readonly seenThroughAt?: Instant | undefined;
  /** Why, such as ImagePullBackOff. */
  readonly waitingReason: string | undefined;
  /** The sentence of the cluster that refuses its pods, without secrets. */
  readonly refusal?: string | undefined;
  /** On whose side it is that it waits. */
  readonly fault?: Fault | undefined;
  /** Decided or deleted, with the grace of its pods over, yet still there. */
  readonly endingSinceAt: Instant | undefined;
  /** From the slot before the run to the one after it; undefined: its schedule has no such slots. */
  readonly slotGapMs?: number | undefined;
}

export interface JobStuckFacts {
  readonly jobs: readonly UnfinishedJob[];
  /** p99 duration of ended runs and how many they were. */
  readonly p99DurationMs: number | undefined;
  readonly runs: number;
  /** Names of Jobs of which it is told already that they have not started. */
  readonly toldNotStarted?: ReadonlySet<string> | undefined;
  /** Those of them that wait for what does not come by itself. */
  readonly toldHopeless?: ReadonlySet<string> | undefined;
  /** By what limit it is told already that Jobs overrun: what others take meanwhile does not end that. */
  readonly toldOverrunning?: ReadonlyMap<string, number> | undefined;
}

/** So many earlier runs tell how long one takes. */
const fewestRuns = 10;

/** A Job with the instant at which it began to be in the given way, and how long that may last. */
interface Candidate {
  readonly job: UnfinishedJob;
  readonly sinceAt: Instant;
  readonly limitMs: number;
  /** It waits for what does not come by itself. */
  readonly isHopeless?: boolean | undefined;
}

/** Holds while a Job of the CronJob is stuck in the given way; names all of them. */
export function jobStuck(subject: StuckSubject, rule: JobStuckRule, facts: JobStuckFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  const candidates = facts.jobs.flatMap((job) => candidateOf(subject, job, rule, facts) ?? []);
  const stuck = candidates
    .filter((candidate) => Math.min(now, candidate.job.seenThroughAt ?? now) >= passesAt(candidate))
    .sort((a, b) => passesAt(a) - passesAt(b));
  const [first] = stuck;
  if (!first) {
    const next = Math.min(...candidates.map(passesAt));
    return quiet('noneStuck', next === Infinity ? undefined : next);
  }
  const { job, sinceAt, limitMs } = first;
  const hopeless = stuck.flatMap(({ isHopeless, job: { jobName } }) => (isHopeless ? [jobName] : []));
  return holds({
    since: passesAt(first),
    reason: subject,
    count: stuck.length,
    figures: { measured: (now - sinceAt) / 1000, limit: limitMs / 1000, unit: 'seconds' },
    detail: {
      jobName: job.jobName,
      reason: job.waitingReason,
      refusal: subject === 'notStarted' ? job.refusal : undefined,
      fault: subject === 'notStarted' ? job.fault : undefined,
      jobs: stuck.slice(0, 20).map(({ job: { jobName } }) => jobName),
      hopeless: hopeless.length === 0 ? undefined : hopeless.slice(0, 20),
      neverRan: subject === 'overrunning' && job.waitingSinceAt !== undefined ? true : undefined,
    },
  });
}

/** A Job of which it is known until when it was in the way that is asked about. */
export interface PastJob {
  readonly job: Pick<UnfinishedJob, 'jobName' | 'slotGapMs'> & { readonly reason: string | undefined };
  readonly sinceAt: Instant;
  /** Infinity: it still is. */
  readonly untilAt: Instant;
  /** Its end, where that ended it in success. */
  readonly by?: { readonly jobName: string; readonly endedAt: Instant } | undefined;
  /** It waited for what does not come by itself. */
  readonly isHopeless?: boolean | undefined;
}

/** Each time that Jobs of the CronJob were stuck in the given way, and then none was. */
export function stuckPassed(
  subject: StuckSubject,
  rule: JobStuckRule,
  jobs: readonly PastJob[],
  durations: Pick<JobStuckFacts, 'p99DurationMs' | 'runs'>,
): PassedLevel[] {
  if (!rule.enabled) return [];
  const spans = jobs.flatMap((past): HeldSpan<PastJob>[] => {
    const fromAt = past.sinceAt + limitOfPast(subject, past, rule, durations);
    return fromAt < past.untilAt ? [{ of: past, fromAt, toAt: past.untilAt }] : [];
  });
  return joinSpans(spans).flatMap(({ members, toAt }) => {
    const [first] = members;
    if (!first || toAt === Infinity) return [];
    const { job, sinceAt } = first.of;
    const verdict = {
      kind: 'holds',
      since: first.fromAt,
      reason: subject,
      count: members.length,
      figures: { measured: (toAt - sinceAt) / 1000, limit: (first.fromAt - sinceAt) / 1000, unit: 'seconds' },
      detail: { jobName: job.jobName, reason: job.reason, jobs: members.slice(0, 20).map(({ of }) => of.job.jobName) },
    } as const;
    const by = members.findLast((member) => member.toAt === toAt)?.of.by;
    return [{ type: 'jobStuck', subject, verdict, beganAt: sinceAt, endedAt: toAt, by }];
  });
}

/** Jobs of the past without what was told of them by another limit already: of one that waited, the limit that passed first tells. */
export function toldOnce(
  rule: JobStuckRule,
  past: Readonly<Record<'notStarted' | 'overrunning', readonly PastJob[]>>,
  durations: Pick<JobStuckFacts, 'p99DurationMs' | 'runs'>,
): Readonly<Record<'notStarted' | 'overrunning', readonly PastJob[]>> {
  const waits = new Map(past.notStarted.map((wait) => [wait.job.jobName, wait]));
  const passedAt = (subject: StuckSubject, one: PastJob): Instant =>
    one.sinceAt + limitOfPast(subject, one, rule, durations);
  const overran = new Set<string>();
  const overrunning = past.overrunning.filter((run) => {
    const wait = waits.get(run.job.jobName);
    if (wait === undefined) return true;
    const isFirst = passedAt('overrunning', run) < passedAt('notStarted', wait);
    if (isFirst) overran.add(run.job.jobName);
    return isFirst || wait.untilAt < run.untilAt;
  });
  return { notStarted: past.notStarted.filter(({ job }) => !overran.has(job.jobName)), overrunning };
}

function limitOfPast(
  subject: StuckSubject,
  { job, isHopeless }: PastJob,
  rule: JobStuckRule,
  durations: Pick<JobStuckFacts, 'p99DurationMs' | 'runs'>,
): number {
  if (subject === 'terminating') return rule.terminatingAfterMs;
  if (subject === 'notStarted') return isHopeless ? hopelessLimit(rule) : rule.notStartedAfterMs;
  return overrunLimit(job, rule, durations);
}

function passesAt({ sinceAt, limitMs }: Candidate): Instant {
  return sinceAt + limitMs;
}

function candidateOf(
  subject: StuckSubject,
  job: UnfinishedJob,
  rule: JobStuckRule,
  facts: JobStuckFacts,
): Candidate | undefined {
  if (subject === 'terminating') {
    const { endingSinceAt: sinceAt } = job;
    return sinceAt === undefined ? undefined : { job, sinceAt, limitMs: rule.terminatingAfterMs };
  }
  if (job.suspended || job.endingSinceAt !== undefined) return undefined;
  const waits = notStartedOf(job, rule, facts);
  const runs = overrunningOf(job, rule, facts);
  // What never ran is told once: one that waits beside containers that ran is both.
  if (waits && runs && job.waitingSinceAt !== undefined)
    return subject === toldAs(waits, runs, facts) ? { notStarted: waits, overrunning: runs }[subject] : undefined;
  return subject === 'notStarted' ? waits : runs;
}

/** By the limit that passed first; the alert that was told by one keeps it, whatever is known later of how it waits. */
function toldAs(waits: Candidate, runs: Candidate, facts: JobStuckFacts): 'notStarted' | 'overrunning' {
  if (facts.toldNotStarted?.has(waits.job.jobName)) return 'notStarted';
  if (facts.toldOverrunning?.has(runs.job.jobName)) return 'overrunning';
  return passesAt(runs) < passesAt(waits) ? 'overrunning' : 'notStarted';
}

function overrunningOf(job: UnfinishedJob, rule: JobStuckRule, facts: JobStuckFacts): Candidate | undefined {
  const { startedAt: sinceAt } = job;
  if (sinceAt === undefined) return undefined;
  const limitMs = overrunLimit(job, rule, facts);
  const toldMs = rule.overrunningAfterMs === undefined ? facts.toldOverrunning?.get(job.jobName) : undefined;
  return { job, sinceAt, limitMs: Math.min(limitMs, toldMs ?? limitMs) };
}

/**
 * What is told already stays until the Job has started, and by the limit that it was told by, also while nothing tells why it waits: events
 * are gone after an hour, one wait may follow another, and a pod that replaces another waits anew.
 */
function notStartedOf(job: UnfinishedJob, rule: JobStuckRule, facts: JobStuckFacts): Candidate | undefined {
  const limitMs = hopelessLimit(rule);
  const told = facts.toldHopeless?.has(job.jobName) ? job.waitingSinceAt : undefined;
  const hopelessAt = told ?? job.hopelessSinceAt;
  const hopeless = hopelessAt === undefined ? undefined : { job, sinceAt: hopelessAt, limitMs, isHopeless: true };
  if (job.waitingSinceAt === undefined) return hopeless;
  const usual = { job, sinceAt: job.waitingSinceAt, limitMs: rule.notStartedAfterMs };
  return hopeless && passesAt(hopeless) <= passesAt(usual) ? hopeless : usual;
}

function hopelessLimit({ hopelessAfterMs, notStartedAfterMs }: JobStuckRule): number {
  return hopelessAfterMs === 0 ? notStartedAfterMs : Math.min(hopelessAfterMs, notStartedAfterMs);
}

/**
 * Without a limit of its own a run overruns when it takes five times as long as almost all before it; as long as too few have ended, when it
 * takes longer than the CronJob has from one run to the next.
 */
function overrunLimit(
  job: Pick<UnfinishedJob, 'slotGapMs'>,
  rule: JobStuckRule,
  facts: Pick<JobStuckFacts, 'p99DurationMs' | 'runs'>,
): number {
  if (rule.overrunningAfterMs !== undefined) return rule.overrunningAfterMs;
  return facts.runs >= fewestRuns && facts.p99DurationMs !== undefined
    ? Math.max(hourMs, 5 * facts.p99DurationMs)
    : Math.min(12 * hourMs, Math.max(hourMs, job.slotGapMs ?? Infinity));
}

/** Holds when a CronJob has been suspended for longer than its monitor allows; counted from the suspension, across restarts of ours. */
export function jobSuspended(
  rule: { readonly alertIfSuspendedForMs: number | undefined },
  facts: { readonly suspendedSinceAt: Instant | undefined },
  now: Instant,
): Verdict {
  const { alertIfSuspendedForMs: limitMs } = rule;
  if (limitMs === undefined) return quiet('notConfigured');
  if (facts.suspendedSinceAt === undefined) return quiet('notSuspended');
  const dueAt = facts.suspendedSinceAt + limitMs;
  if (now < dueAt) return quiet('withinLimit', dueAt);
  return holds({
    since: dueAt,
    reason: 'suspendedTooLong',
    figures: { measured: (now - facts.suspendedSinceAt) / 1000, limit: limitMs / 1000, unit: 'seconds' },
    detail: { suspendedSinceAt: facts.suspendedSinceAt },
  });
}

/** Each suspension that lasted longer than the monitor allows and is over. */
export function suspensionsPassed(
  rule: { readonly alertIfSuspendedForMs: number | undefined },
  suspensions: readonly Suspension[],
): PassedLevel[] {
  return suspensions.flatMap(({ fromAt, toAt }) => {
    if (toAt === undefined) return [];
    // Just before its end: a suspension that ends when the limit is reached was in time.
    const verdict = jobSuspended(rule, { suspendedSinceAt: fromAt }, toAt - 1);
    if (verdict.kind !== 'holds') return [];
    return [{ type: 'jobSuspended', subject: undefined, verdict, beganAt: fromAt, endedAt: toAt, by: undefined }];
  });
}

/** Spans that touch are one: its members in the order in which they began. */
function joinSpans<T>(
  spans: readonly HeldSpan<T>[],
): { readonly members: readonly HeldSpan<T>[]; readonly toAt: Instant }[] {
  const joined: { members: HeldSpan<T>[]; toAt: Instant }[] = [];
  for (const span of spans.toSorted((a, b) => a.fromAt - b.fromAt)) {
    const last = joined.at(-1);
    if (last && span.fromAt <= last.toAt) {
      last.members.push(span);
      last.toAt = Math.max(last.toAt, span.toAt);
    } else joined.push({ members: [span], toAt: span.toAt });
  }
  return joined;
}
