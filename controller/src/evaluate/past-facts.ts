import {
  dayMs,
  type DetectionFacts,
  type DetectionPast,
  type EndedRun,
  factsReach,
  findNotStarted,
  firstRunAt,
  hopelessWaitAtEnd,
  type Instant,
  type JobFacts,
  p95Duration,
  type Part,
  type PastJob,
  type PodFacts,
  rateHeldSince,
  type RatePast,
} from '@cronjob-monitor/shared/domain';
import {
  type JudgedRunRow,
  type LastDurations,
  listJudgedRuns,
  listMissedSlots,
  measureLastDurations,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { hasAssertions, readNewest } from './run-facts.ts';
import type { PresenceFacts } from './presence-facts.ts';
import { gapAround, type RunningSources } from './running-facts.ts';
import type { Occasion, Subject, Watch } from './subject.ts';
import { countsMissed, gatherRated } from './windowed-facts.ts';

/** Ended runs read of each CronJob: a usual duration is measured from the 20 runs before the oldest that is news. */
const fewestRuns = 40;
/** A rule without a limit of its own calls a run too long after an hour at the earliest. */
const soonestOverrunMs = 3_600_000;

/** The past of CronJobs, as the detectors take it. */
export interface PastFacts {
  readonly of: (subject: Subject, watch: Watch, facts: DetectionFacts) => DetectionPast;
  /** The runs that limits of duration count, in the order of their end; none where no run is news. */
  readonly countedOf: (subject: Subject, watch: Watch) => readonly JudgedRunRow[];
  /** The ended runs that were read, newest first. */
  readonly runsOf: (subject: Subject) => readonly JudgedRunRow[];
  /** When a success rate broke that no pass has looked at since, and that has not recovered for good; undefined: none did. */
  readonly rateHeldSince: (subject: Subject, watch: Watch) => Instant | undefined;
}

/** Gathers the past that these parts ask for. `withRuns`: runs are news, so the levels that they ended are asked for too. */
export async function gatherPast(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  of: {
    readonly withRuns: boolean;
    readonly recorded?: Occasion['recorded'];
    readonly from: RunningSources;
    readonly presence: ((subject: Subject, watch: Watch) => PresenceFacts) | undefined;
    /** The last pass over rates asked up to then; undefined: there was none. */
    readonly ratedThroughAt: Instant | undefined;
  },
): Promise<PastFacts> {
  const { withRuns, recorded, from, presence, ratedThroughAt } = of;
  const rates = parts.has('successRate') ? await gatherRatePast(tx, subjects, ratedThroughAt) : undefined;
  const runs = withRuns ? await readEnded(tx, subjects, parts, recorded) : new Map<number, readonly JudgedRunRow[]>();
  const limits = parts.has('stuck') ? await measureBefore(tx, subjects, from) : undefined;
  return {
    runsOf: ({ row }) => runs.get(row.id) ?? [],
    countedOf: ({ row }, watch) => countedOf(runs.get(row.id)?.toReversed(), watch),
    rateHeldSince: (subject, watch) => {
      const rule = watch.rules.detection.successRate;
      const past = rates?.(subject, watch);
      return rule && past && rateHeldSince(rule, past);
    },
    of: (subject, watch, facts) => {
      const ended = runs.get(subject.row.id)?.toReversed();
      const present = presence?.(subject, watch);
      return {
        missedSchedule: facts.missedSchedule,
        finishBy: facts.finishBy,
        output: withRuns ? facts.output : undefined,
        successRate: rates?.(subject, watch),
        suspensions: parts.has('suspended') ? present?.suspensions : undefined,
        deadMan:
          ended && parts.has('deadMan') && facts.deadMan
            ? {
                successes: successesOf(ended),
                failuresBeforeFirst: failuresBeforeFirst(subject, watch, ended),
                originAt: watch.judgesFromAt,
                suspensions: present?.suspensions ?? [],
                nthSlotAfter: facts.deadMan.nthSlotAfter,
              }
            : undefined,
        durations: ended && facts.durations ? durationsOf(ended, watch, facts.durations.running) : undefined,
        stuck: limits && {
          ...stuckOf(subject, from),
          durations: limits.get(subject.row.id) ?? { p99DurationMs: undefined, runs: 0 },
        },
      };
    },
  };
}

async function readEnded(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  recorded: Occasion['recorded'],
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const asked = subjects.filter(({ watches }) =>
    watches.some(({ rules: { detection } }) => {
      const { deadMan, durations } = detection;
      if (parts.has('output') && hasAssertions({ rules: { detection } })) return true;
      const hasLimit = durations?.maxDurationMs !== undefined || durations?.minDurationMs !== undefined;
      return (parts.has('deadMan') && deadMan?.enabled) || (parts.has('durations') && durations?.enabled && hasLimit);
    }),
  );
  const spare = factsReach.durationsForP95 - 1;
  return readNewest(tx, asked, { count: fewestRuns, spare, includeManual: true, recorded });
}

function successesOf(ended: readonly JudgedRunRow[]): NonNullable<DetectionPast['deadMan']>['successes'] {
  const durations: number[] = [];
  return ended.flatMap(({ status, isScheduled, durationMs, jobName, endedAt }) => {
    if (status !== 'success') return [];
    if (isScheduled && durationMs !== undefined) durations.push(durationMs);
    return [{ jobName, endedAt, p95DurationMs: p95Duration(durations) }];
  });
}

/**
 * Ends of the failures before the first known success. Undefined where the cluster may have cleared an earlier success away unseen: it keeps
 * all only while they are fewer than its history limit and none has a time to live. Undefined too where history was removed of the time that
 * the monitor judges.
 */
function failuresBeforeFirst(
  { facts, row }: Subject,
  { judgesFromAt }: Watch,
  ended: readonly JudgedRunRow[],
): readonly Instant[] | undefined {
  const successes = ended.filter(({ status }) => status === 'success').length;
  const keepsAll = facts !== undefined && facts.ttlAfterFinishedS === undefined && successes < facts.successLimit;
  const isRemoved = (row.baselineAt ?? -Infinity) >= judgesFromAt;
  if (!keepsAll || isRemoved || ended.length >= fewestRuns) return undefined;
  const first = ended.findIndex(({ status }) => status === 'success');
  return ended
    .slice(0, first < 0 ? ended.length : first)
    .flatMap(({ status, endedAt }) => (status === 'failed' && endedAt >= judgesFromAt ? [endedAt] : []));
}

function countedOf(
  runs: readonly JudgedRunRow[] = [],
  { judgesFromAt, judgesUntilAt = Infinity }: Watch,
): readonly JudgedRunRow[] {
  return runs.filter(({ isCounted, endedAt }) => isCounted && endedAt >= judgesFromAt && endedAt <= judgesUntilAt);
}

function durationsOf(
  runs: readonly JudgedRunRow[],
  watch: Watch,
  running: NonNullable<DetectionFacts['durations']>['running'],
): DetectionPast['durations'] {
  const ended = countedOf(runs, watch);
  const successes: readonly EndedRun[] = ended.filter(({ status }) => status === 'success');
  const isCut = runs.length >= fewestRuns && (runs[0]?.endedAt ?? 0) >= watch.judgesFromAt;
  return { ended, successes, running, isCut };
}

/**
 * How long runs took before the newest run of each CronJob that may have been too long. Measured with that run in it, the usual duration would
 * be its own, and it would never be slow.
 */
async function measureBefore(
  tx: Tx,
  subjects: readonly Subject[],
  from: RunningSources,
): Promise<ReadonlyMap<number, { readonly p99DurationMs: number | undefined; readonly runs: number }>> {
  const measured = new Map<number, { readonly p99DurationMs: number | undefined; readonly runs: number }>();
  for (const { row, watches } of subjects) {
    const isAutomatic = watches.some(({ rules }) => {
      const overrunning = rules.detection.stuck.overrunning;
      return overrunning?.enabled && overrunning.overrunningAfterMs === undefined;
    });
    const slow = isAutomatic ? knownJobsOf(row.uid, from).filter(isSlow) : [];
    if (slow.length === 0) continue;
    const beforeAt = Math.min(...slow.map(({ endedAt = Infinity }) => endedAt));
    // There is seldom more than one: an hour-long run that has just ended.
    const found: LastDurations | undefined = (
      await measureLastDurations(tx, [row.id], factsReach.durationsForP99, beforeAt)
    ).get(row.id);
    measured.set(row.id, { p99DurationMs: found?.p99Ms, runs: found?.runs ?? 0 });
  }
  return measured;
}

function isSlow({ startedAt, endedAt }: JobFacts): boolean {
  return startedAt !== undefined && endedAt !== undefined && endedAt - startedAt >= soonestOverrunMs;
}

/** Jobs of the CronJob, those included that were deleted before their runs could be written. */
function knownJobsOf(cronJobUid: string, { jobsOf, goneJobsOf }: RunningSources): readonly JobFacts[] {
  return [...jobsOf(cronJobUid), ...goneJobsOf(cronJobUid)];
}

function stuckOf(subject: Subject, from: RunningSources): Omit<NonNullable<DetectionPast['stuck']>, 'durations'> {
  const jobs = knownJobsOf(subject.row.uid, from).filter(({ suspended }) => !suspended);
  return {
    notStarted: jobs.flatMap((job) => waitOf(job, from) ?? []),
    overrunning: jobs.flatMap((job): PastJob[] => {
      if (job.startedAt === undefined) return [];
      const untilAt = job.decidedAt ?? job.endedAt ?? job.deletingAt ?? Infinity;
      return [{ job: named(job, gapAround(subject, job)), sinceAt: job.startedAt, untilAt, by: byOf(job) }];
    }),
    terminating: jobs.flatMap((job): PastJob[] =>
      job.decidedAt === undefined
        ? []
        : [{ job: named(job), sinceAt: job.decidedAt, untilAt: job.endedAt ?? Infinity, by: byOf(job) }],
    ),
  };
}

/** How long a Job waited for its first container; undefined: nothing in the cluster tells. */
function waitOf(job: JobFacts, from: RunningSources): PastJob | undefined {
  const pods = from.podsOf(job.uid);
  const sinceAt = Math.max(job.createdAt, job.startedAt ?? job.createdAt);
  // A deleted Job without a known pod may have had one: it is not called "not started".
  const isGone = job.outcome === undefined && job.endedAt !== undefined;
  if (findNotStarted(job, pods) && !(isGone && pods.length === 0))
    return { job: named(job), sinceAt, untilAt: job.endedAt ?? Infinity };
  // Deleted pods may have run before those that are left, so the Job has to have no more ended pods than the cluster still shows.
  if (pods.length === 0 || job.failedPods + job.succeededPods > pods.filter(isOver).length) return undefined;
  const ranAt = firstRunAt(pods);
  if (ranAt === 'unknown') return undefined;
  if (ranAt !== undefined) return { job: named(job), sinceAt, untilAt: ranAt };
  const untilAt = job.decidedAt ?? job.endedAt;
  if (untilAt === undefined || job.outcome === 'success') return undefined;
  const reason = hopelessWaitAtEnd(pods);
  return { job: { ...named(job), reason }, sinceAt, untilAt, isHopeless: reason !== undefined };
}

function isOver({ phase, deletingAt }: PodFacts): boolean {
  return phase === 'Failed' || phase === 'Succeeded' || deletingAt !== undefined;
}

function named({ name, jobReason, outcome }: JobFacts, slotGapMs?: number): PastJob['job'] {
  return { jobName: name, slotGapMs, reason: outcome === 'success' ? undefined : jobReason };
}

function byOf({ name, outcome, endedAt }: JobFacts): PastJob['by'] {
  return outcome === 'success' && endedAt !== undefined ? { jobName: name, endedAt } : undefined;
}

/** A watching service asks about rates often enough: only a gap longer than this may hide one that broke and recovered. */
const fewestHiddenMs = 600_000;
/** News of what ended shortly before the last pass may have arrived after it. */
const againMs = 120_000;
/** The newest runs of a CronJob that are read to find out whether one failed in the gap. */
const newest = 40;

/**
 * Reads the runs that make the rates of a gap, for CronJobs with an alert about their rate, with a failed run in a window that reaches into the
 * gap, or with a missed run where a monitor counts those. `ratedThroughAt` undefined: no pass ever asked.
 */
async function gatherRatePast(
  tx: Tx,
  subjects: readonly Subject[],
  ratedThroughAt: Instant | undefined,
): Promise<((subject: Subject, watch: Watch) => RatePast | undefined) | undefined> {
  const now = tx.now();
  const hiddenFromAt = (ratedThroughAt ?? -Infinity) - againMs;
  if (now - hiddenFromAt < fewestHiddenMs) return undefined;
  const rated = subjects.filter(({ watches }) => watches.some(isRated));
  const ids = rated.map(({ row }) => row.id);
  const missing = rated.flatMap(({ row, watches }) => (watches.some(countsMissed) ? [row.id] : []));
  const runs = await listJudgedRuns(tx, ids, { count: newest, includeManual: false });
  const missed = await listMissedSlots(tx, missing, 1);
  const failing = rated.filter(({ row: { id }, alerts, watches }) => {
    if (alerts.some(({ subject }) => subject === 'successRate')) return true;
    // A success that leaves the window can break a rate too, and so can the one that completes `minRuns`.
    const from = hiddenFromAt - Math.max(...watches.map(windowMsOf));
    const hasFailed = runs.get(id)?.some(({ status, endedAt }) => status === 'failed' && endedAt >= from);
    return hasFailed === true || (missed.get(id)?.[0] ?? -Infinity) >= from;
  });
  if (failing.length === 0) return undefined;
  const pairs = failing.flatMap((subject) => subject.watches.filter(isRated).map((watch) => ({ subject, watch })));
  const ratedOf = await gatherRated(tx, pairs);
  const asked = new Set(failing.map(({ row }) => row.id));
  return (subject, watch) => {
    const rule = watch.rules.detection.successRate;
    if (!asked.has(subject.row.id) || rule === undefined || !isRated(watch)) return undefined;
    const { runs: known, knownFromAt } = ratedOf(subject, watch);
    return {
      runs: known,
      originAt: watch.judgesFromAt,
      completeFromAt: knownFromAt + windowMsOf(watch),
      delayMs: watch.rules.alerts.alertDelayMs,
      now,
    };
  };
}

function windowMsOf({ rules }: Watch): number {
  return (rules.detection.successRate?.windowDays ?? 0) * dayMs;
}

function isRated({ rules }: Watch): boolean {
  return rules.detection.successRate?.enabled === true;
}
