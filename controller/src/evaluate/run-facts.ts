import {
  factsReach,
  failureReason,
  policyRuleOf,
  runsNeeded,
  type DetectionFacts,
  type JudgedRun,
  outputRunsNeeded,
  type OutputHistory,
} from '@cronjob-monitor/shared/domain';
import { listJudgedRuns, toId16, type JudgedRunRow, type Tx, listOutputRuns } from '@cronjob-monitor/shared/store';
import type { RunningSources } from './running-facts.ts';
import { isNewsTo, type Occasion, type Subject, type Watch } from './subject.ts';

/** Of a CronJob of which more may be news: what Kubernetes keeps of runs that no process saw end. */
const runsOfGap = 500;
/** Successes that are read of what CronJobs write: as many as of other runs. */
const fewestRuns = 40;

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
  recorded: Occasion['recorded'],
): Promise<RunFacts> {
  const all = await readRuns(tx, subjects, true, recorded);
  const scheduled = await readRuns(tx, subjects, false, recorded);
  const runsOf = ({ row }: Subject, { rules, judgesFromAt, judgesUntilAt = Infinity }: Watch): JudgedRunRow[] => {
    const runs = (rules.detection.jobFailed.includeManual ? all : scheduled).get(row.id) ?? [];
    return [...runs, ...removedFailures(row, runs)].filter(
      ({ endedAt }) => endedAt >= judgesFromAt && endedAt <= judgesUntilAt,
    );
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
      // A Job that begins anew does not bring back what was forgotten.
      const forgottenAt = (runs[0]?.endedAt ?? Infinity) + (watch.rules.forgetAfterMs ?? Infinity);
      if (open.length === 0 && forgottenAt <= tx.now()) return { runs: [], isOpen: false };
      // An alert that waits goes on while no run has succeeded, though failures that opened it were removed.
      const { baselineAt = -Infinity } = subject.row;
      const goesOn = runs.every(({ status }) => status === 'failed');
      const isOpen = open.some(({ state, sinceAt }) => state !== 'pending' || (goesOn && sinceAt <= baselineAt));
      return { runs, isOpen };
    },
  };
}

/** Of a run of which no more is kept than that it failed, and when: it is no news. */
const removedUid = '';

/** Failures before these runs that were removed from the history, newest first, where nothing has succeeded since. */
function removedFailures(
  { failedRun, baselineAt = -Infinity }: Subject['row'],
  runs: readonly JudgedRunRow[],
): JudgedRunRow[] {
  if (failedRun?.status !== 'failed' || runs.some(({ status }) => status === 'success')) return [];
  const { removedEnds = [], finishedAt = Infinity, ...known } = failedRun;
  const oldestAt = runs.at(-1)?.endedAt ?? Infinity;
  // An earlier release kept the newest alone.
  const ends = runs.length === 0 && finishedAt <= baselineAt ? new Set([finishedAt, ...removedEnds]) : removedEnds;
  const unknown = { jobReason: undefined, failedIndexes: undefined, fault: undefined };
  const of = { ...unknown, ...known, status: failedRun.status, isScheduled: true, isCounted: false, isUnjudged: false };
  return [...ends]
    .filter((endedAt) => endedAt < oldestAt)
    .map((endedAt) => ({ ...of, jobUid: endedAt === finishedAt ? known.jobUid : removedUid, endedAt }));
}

async function readRuns(
  tx: Tx,
  subjects: readonly Subject[],
  includeManual: boolean,
  recorded: Occasion['recorded'],
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const isAsked = ({ rules }: Watch): boolean => rules.detection.jobFailed.includeManual === includeManual;
  const asked = subjects.filter(({ watches }) => watches.some(isAsked));
  const needed = asked.flatMap(({ watches }) => watches.map(({ rules }) => runsNeeded(rules.detection.jobFailed)));
  return readNewest(tx, asked, { count: Math.max(factsReach.runs, ...needed), includeManual, recorded });
}

/** The newest runs of these CronJobs, and all of a gap where more of them may be news. */
export async function readNewest(
  tx: Tx,
  subjects: readonly Subject[],
  of: Parameters<typeof mayHideNews>[2] & { readonly includeManual: boolean },
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const runs = await listJudgedRuns(tx, idsOf(subjects), of);
  const unread = subjects.filter((one) => mayHideNews(one, runs.get(one.row.id) ?? [], of));
  return new Map([...runs, ...(await listJudgedRuns(tx, idsOf(unread), { ...of, count: runsOfGap }))]);
}

const idsOf = (subjects: readonly Subject[]): number[] => subjects.map(({ row }) => row.id);

/** Whether runs beyond the newest `count` may be news. `spare`: so many of those that were read are there for the sake of the others. */
function mayHideNews(
  { row, watches }: Subject,
  known: readonly Pick<JudgedRunRow, 'endedAt' | 'isUnjudged'>[],
  of: { readonly count: number; readonly spare?: number; readonly recorded: Occasion['recorded'] },
): boolean {
  const oldest = known.at(-1 - (of.spare ?? 0));
  if (oldest === undefined || known.length < of.count) return false;
  const isOlder = of.recorded?.get(row.id)?.some(({ finishedAt = Infinity }) => finishedAt <= oldest.endedAt);
  return oldest.isUnjudged || isOlder === true || watches.some((watch) => isNewsTo(watch, oldest.endedAt));
}

/** What successes of these CronJobs said of their output; nothing is read of those of which no monitor asserts anything. */
export async function gatherOutput(
  tx: Tx,
  subjects: readonly Subject[],
  recorded: Occasion['recorded'],
): Promise<(subject: Subject, watch: Watch) => OutputHistory> {
  const asserted = subjects.filter(({ watches }) => watches.some(hasAssertions));
  const rules = asserted.flatMap(({ watches }) => watches.flatMap(({ rules }) => rules.detection.output ?? []));
  const count = Math.max(fewestRuns, ...rules.map(outputRunsNeeded));
  const newest = await listOutputRuns(tx, idsOf(asserted), count);
  const of = { count, recorded };
  const unread = asserted.filter((one) => mayHideNews(one, newest.get(one.row.id)?.toReversed() ?? [], of));
  const runs = new Map([...newest, ...(await listOutputRuns(tx, idsOf(unread), runsOfGap))]);
  return ({ row }, { judgesFromAt }) => {
    const known = runs.get(row.id) ?? [];
    return { runs: known, judgesFromAt, isCut: known.length >= count };
  };
}

export function hasAssertions({ rules }: { readonly rules: Pick<Watch['rules'], 'detection'> }): boolean {
  return (rules.detection.output?.assertions.length ?? 0) > 0;
}
