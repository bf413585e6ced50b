import {
  factsReach,
  failureReason,
  policyRuleOf,
  runsNeeded,
  type DetectionFacts,
  type Instant,
  type JudgedRun,
  outputRunsNeeded,
  type OutputHistory,
} from '@cronjob-monitor/shared/domain';
import { listJudgedRuns, toId16, type JudgedRunRow, type Tx, listOutputRuns } from '@cronjob-monitor/shared/store';
import type { RunningSources } from './running-facts.ts';
import { isNewsTo, type Subject, type Watch } from './subject.ts';

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
  const runsOf = ({ row }: Subject, { rules, judgesFromAt, judgesUntilAt = Infinity }: Watch): JudgedRunRow[] => {
    const runs = (rules.detection.jobFailed.includeManual ? all : scheduled).get(row.id) ?? [];
    return runs.filter(({ endedAt }) => endedAt >= judgesFromAt && endedAt <= judgesUntilAt);
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
