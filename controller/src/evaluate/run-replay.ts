import {
  type DetectionFacts,
  factsReach,
  failureReason,
  type Instant,
  judge,
  type Judged,
  type JudgedRun,
  type OutputHistory,
  outputRunsNeeded,
  type PassedLevel,
  policyRuleOf,
  quiet,
  runsNeeded,
} from '@cronjob-monitor/shared/domain';
import { type JudgedRunRow, listJudgedRuns, listOutputRuns, toId16, type Tx } from '@cronjob-monitor/shared/store';
import { type EarlierRules, forgetAt, isNewsTo, type MonitorRules, type Subject, type Watch } from './subject.ts';
import type { RunningSources } from './running-facts.ts';

/** How things stood between the end of one run and the end of the next. */
interface RunStage {
  /** The run that had just ended. */
  readonly run: JudgedRunRow;
  /** When it had ended, when the monitor began to ask otherwise about it, or when it let go of the group that the run is of. */
  readonly at: Instant;
  /** It was not judged before. */
  readonly isNews: boolean;
  /** The group that it is of was let go of then. */
  readonly isForgotten: boolean;
  readonly facts: DetectionFacts;
  readonly judged: readonly Judged[];
  /** When the next run ended, or the monitor began to ask otherwise. */
  readonly untilAt: Instant;
}

/** What a run of a gap is judged with. */
export interface ReplayedRuns {
  /** The stages before the present one, oldest first: runs that are told of as if the service had looked when they ended. */
  readonly stages: readonly RunStage[];
  /** Whether the newest run is news; undefined: there is nothing but what was recorded now. */
  readonly isNewestNews: boolean | undefined;
  /** Whether the last stage left an alert about failed runs open; undefined: as the database has it. */
  readonly isOpen: boolean | undefined;
}

const nothing: ReplayedRuns = { stages: [], isNewestNews: undefined, isOpen: undefined };

/**
 * Runs that come to be known together are judged one after the other, in the order of their end: an alert that one of them opened and the
 * next one ended is an alert as well, however late the service looked. `runs`: newest first. One that ended before a run that is judged
 * already moves nothing while an alert about that one is open. Where its rules were changed between two runs, what they say of the first is
 * asked at that instant. A group of Jobs of which none ran for as long as its monitor remembers it is let go of at that instant.
 */
export function replayRuns(
  subject: Subject,
  watch: Watch,
  runs: readonly JudgedRunRow[],
  of: { readonly isNews: (run: JudgedRunRow) => boolean; readonly facts: DetectionFacts; readonly now: Instant },
): ReplayedRuns {
  const { jobFailed } = of.facts;
  if (!jobFailed || runs.length === 0) return nothing;
  const ordered = runs.toReversed();
  const news = ordered.map(of.isNews);
  const told = subject.alerts.filter(({ monitorId }) => monitorId === watch.monitor.id);
  const open = told.filter(({ type }) => type === 'jobFailed');
  const judgedThrough = open.length > 0 ? news.lastIndexOf(false) : -1;
  const first = news.findIndex((isNews, index) => isNews && index > judgedThrough);
  if (first < 0) return nothing;
  const changes = changesOf(watch);
  // What waits was not told: whether it still held when its delay was over is asked of the time before the run that is news.
  const isWaiting = first > 0 && open.some(({ state }) => state !== 'active');
  const points = pointsOf(ordered, { subject, watch, now: of.now }).filter(
    ({ index, at, isForgotten }) =>
      index >= first || (index === first - 1 && (isWaiting || isForgotten || changes.includes(at))),
  );
  const { alertDelayMs } = watch.rules.alerts;
  let isOpen = open.some(({ state }) => state !== 'pending');
  const isForgottenNow = points.at(-1)?.isForgotten === true;
  const passed = isForgottenNow ? points : points.slice(0, -1);
  const stages = passed.flatMap(({ index, at, isForgotten }, position): RunStage[] => {
    const run = ordered[index];
    if (run === undefined) return [];
    const untilAt = points[position + 1]?.at ?? of.now;
    if (isForgotten) {
      isOpen = false;
      const about: Pick<Judged, 'type' | 'subject'>[] = [{ type: 'jobFailed', subject: undefined }, ...told];
      const judged = about.map(({ type, subject: on }): Judged => ({ type, subject: on, verdict: forgotten }));
      return [{ run, at, isNews: false, isForgotten, facts: {}, judged, untilAt }];
    }
    const known = ordered.slice(0, index + 1).toReversed();
    const facts: DetectionFacts = {
      jobFailed: { runs: known.map((ended) => ({ ...ended, reason: failureReason(ended) })), isOpen },
    };
    const judged = judge(rulesAt(watch, at).detection, facts, untilAt);
    const failed = judged.find(({ type }) => type === 'jobFailed')?.verdict;
    isOpen = failed?.kind === 'holds' && (isOpen || run.endedAt + alertDelayMs <= untilAt);
    return [{ run, at, isNews: at === run.endedAt && news[index] === true, isForgotten, facts, judged, untilAt }];
  });
  const lastAt = points.at(-1)?.at;
  const isAskedAnew = lastAt !== undefined && changes.includes(lastAt);
  return { stages, isNewestNews: news.at(-1) === true && !isAskedAnew, isOpen: stages.length > 0 ? isOpen : undefined };
}

/** An instant from which on something else was known of a run, or asked of it, than before. */
interface Point {
  readonly index: number;
  readonly at: Instant;
  /** Its group was let go of. */
  readonly isForgotten: boolean;
}

/** When what is known of these runs, or what is asked of them, was another thing than before; the last is how things are now. */
function pointsOf(
  ordered: readonly JudgedRunRow[],
  of: { readonly subject: Subject; readonly watch: Watch; readonly now: Instant },
): Point[] {
  const changes = changesOf(of.watch);
  return ordered.flatMap(({ endedAt }, index) => {
    const untilAt = ordered[index + 1]?.endedAt ?? of.now;
    const forgottenAt = forgottenAfter(ordered, index, of) ?? Infinity;
    const points = [{ index, at: endedAt, isForgotten: false }];
    for (const at of changes)
      if (endedAt < at && at < Math.min(untilAt, forgottenAt)) points.push({ index, at, isForgotten: false });
    if (forgottenAt !== Infinity) points.push({ index, at: forgottenAt, isForgotten: true });
    return points;
  });
}

/** When a monitor began to ask otherwise, oldest first. */
function changesOf({ earlier }: Pick<EarlierRules, 'earlier'>): Instant[] {
  return earlier === undefined ? [] : [...changesOf(earlier), earlier.untilAt];
}

/** What it asked then. */
function rulesAt({ rules, earlier }: Pick<EarlierRules, 'rules' | 'earlier'>, at: Instant): MonitorRules {
  return earlier === undefined || at >= earlier.untilAt ? rules : rulesAt(earlier, at);
}

/**
 * When a monitor let go of a group of Jobs after this run: no other had begun for as long as it remembers a group. Undefined: it did not.
 * `ordered`: in the order of their end.
 */
function forgottenAfter(
  ordered: readonly JudgedRunRow[],
  index: number,
  of: { readonly subject: Subject; readonly watch: Watch; readonly now: Instant },
): Instant | undefined {
  const { forgetAfterMs } = of.watch.rules;
  const run = ordered[index];
  if (forgetAfterMs === undefined || run === undefined) return undefined;
  const later = ordered.slice(index + 1);
  if (later.length === 0) return forgottenBy(of);
  const begunAt = Math.min(...later.map(({ endedAt, durationMs = 0 }) => endedAt - durationMs));
  const forgottenAt = run.endedAt + forgetAfterMs;
  return forgottenAt <= begunAt ? forgottenAt : undefined;
}

/** When the monitor let go of the group as it is now; undefined: it has not yet. */
export function forgottenBy({
  subject,
  watch,
  now,
}: {
  readonly subject: Subject;
  readonly watch: Watch;
  readonly now: Instant;
}): Instant | undefined {
  const at = forgetAt(subject, watch);
  return at !== undefined && at <= now ? at : undefined;
}

/** What the instant at which a group was let go of says of an alert about it, whatever was found of it before. */
const forgotten: Judged['verdict'] = quiet('forgotten');

/** Levels end where the group they are about was let go of. `forgottenAt`: oldest first. */
export function endForgotten(levels: readonly PassedLevel[], forgottenAt: readonly Instant[]): PassedLevel[] {
  return levels.map((level) => {
    const at = forgottenAt.find((instant) => instant > level.verdict.since);
    return at === undefined || at >= level.endedAt
      ? level
      : { ...level, endedAt: at, by: undefined, cause: 'forgotten' };
  });
}

/** Of a CronJob of which more may be news: what Kubernetes keeps of runs that no process saw end. */
const runsOfGap = 500;

export interface RunFacts {
  readonly jobFailed: (subject: Subject, watch: Watch) => DetectionFacts['jobFailed'];
  /** The judged runs of one watch, newest first. */
  readonly runsOf: (subject: Subject, watch: Watch) => readonly JudgedRunRow[];
}

/** The last runs that succeeded or failed, for these CronJobs at once. */
export async function gatherRuns(
  tx: Tx,
  subjects: readonly Subject[],
  { jobsOf }: Pick<RunningSources, 'jobsOf'>,
): Promise<RunFacts> {
  const all = await readRuns(tx, subjects, true);
  const scheduled = await readRuns(tx, subjects, false);
  const runsOf = ({ row }: Subject, { rules, judgesFromAt }: Watch): readonly JudgedRunRow[] => {
    const runs = (rules.detection.jobFailed.includeManual ? all : scheduled).get(row.id) ?? [];
    return runs.filter(({ endedAt }) => endedAt >= judgesFromAt);
  };
  // Known as long as the cluster keeps the Job: what was found stays with the alert.
  const ruleOf = ({ row }: Subject, { jobReason, jobUid }: JudgedRunRow): Pick<JudgedRun, 'policyRule'> => {
    if (jobReason !== 'PodFailurePolicy') return {};
    return { policyRule: policyRuleOf(jobsOf(row.uid).find(({ uid }) => toId16(uid) === jobUid)?.jobMessage) };
  };
  return {
    runsOf,
    jobFailed: (subject, watch) => {
      const runs = runsOf(subject, watch).map((run) => ({
        ...run,
        reason: failureReason(run),
        ...ruleOf(subject, run),
      }));
      const open = subject.alerts.filter(
        ({ monitorId, type }) => monitorId === watch.monitor.id && type === 'jobFailed',
      );
      // Runs that retention took say nothing about an alert that is still open.
      if (runs.length === 0 && open.length > 0) return undefined;
      // A Job that begins anew does not bring back what was forgotten.
      if (open.length === 0 && isForgotten(runs[0], watch, tx.now())) return { runs: [], isOpen: false };
      return { runs, isOpen: open.some(({ state }) => state !== 'pending') };
    },
  };
}

function isForgotten(newest: { readonly endedAt: Instant } | undefined, { rules }: Watch, now: Instant): boolean {
  return rules.forgetAfterMs !== undefined && newest !== undefined && newest.endedAt + rules.forgetAfterMs <= now;
}

async function readRuns(
  tx: Tx,
  subjects: readonly Subject[],
  includeManual: boolean,
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const rules = subjects.flatMap(({ watches }) => watches.map((watch) => watch.rules.detection.jobFailed));
  const wanted = rules.filter((rule) => rule.includeManual === includeManual);
  if (wanted.length === 0) return new Map();
  const ids = subjects
    .filter(({ watches }) => watches.some((watch) => watch.rules.detection.jobFailed.includeManual === includeManual))
    .map(({ row }) => row.id);
  const count = Math.max(factsReach.runs, ...wanted.map(runsNeeded));
  const runs = await listJudgedRuns(tx, ids, { count, includeManual });
  const unread = new Set(
    subjects.flatMap(({ row, watches }) => {
      const known = runs.get(row.id) ?? [];
      const mayHaveMore =
        known.length === count &&
        (known.at(-1)?.isUnjudged === true ||
          watches.some((watch) => isNewsTo(watch, known.at(-1)?.endedAt ?? -Infinity)));
      return mayHaveMore ? [row.id] : [];
    }),
  );
  if (unread.size === 0) return runs;
  return new Map([...runs, ...(await listJudgedRuns(tx, [...unread], { count: runsOfGap, includeManual }))]);
}

/** As many as are read of other runs, so that each that was recorded unwatched is judged. */
const fewestRuns = 40;

/** What successes of these CronJobs said of their output; nothing is read of those of which no monitor asserts anything. */
export async function gatherOutput(
  tx: Tx,
  subjects: readonly Subject[],
): Promise<(subject: Subject, watch: Watch) => OutputHistory> {
  const asserted = subjects.filter(({ watches }) => watches.some(hasAssertions));
  const rules = asserted.flatMap(({ watches }) => watches.flatMap(({ rules }) => rules.detection.output ?? []));
  const count = Math.max(fewestRuns, ...rules.map(outputRunsNeeded));
  const runs = await listOutputRuns(
    tx,
    asserted.map(({ row }) => row.id),
    count,
  );
  return ({ row }, { judgesFromAt }) => {
    const known = runs.get(row.id) ?? [];
    return { runs: known, judgesFromAt, isCut: known.length === count };
  };
}

export function hasAssertions({ rules }: { readonly rules: Pick<Watch['rules'], 'detection'> }): boolean {
  return (rules.detection.output?.assertions.length ?? 0) > 0;
}
