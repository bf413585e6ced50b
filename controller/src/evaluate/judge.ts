import {
  type AlertFinding,
  type AlertRun,
  type DetectionFacts,
  type Execution,
  type Instant,
  judge,
  type Judged,
  originOf,
  type Part,
  partOf,
  toAlertFacts,
} from '@cronjob-monitor/shared/domain';
import {
  type AlertRecord,
  decideStates,
  type JudgedRunRow,
  listAlertRuns,
  markJudged,
  markWatchesJudged,
  setBrokenTargets,
  setDue,
  toId16,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { type FreezeMessage, raise, type RaisedAlert } from '../alerting/index.ts';
import { gatherBrokenTargets } from './broken-targets.ts';
import { type ClosingFacts, closingsOf } from './closings.ts';
import { allParts, dueWishesOf } from './asked-parts.ts';
import {
  gatherAcross,
  type GatheredFacts,
  type JudgedThrough,
  newLevels,
  type PastOfWatch,
  settledThrough,
} from './new-levels.ts';
import { type FindingContext, findingsOf, keyOf } from './findings.ts';
import { gatherOutput, gatherRuns, type RunFacts } from './run-facts.ts';
import { endForgotten, forgottenBy, type ReplayedRuns, replayRuns } from './run-replay.ts';
import { gatherFinishBy } from './finish-by-facts.ts';
import { findingsOfPassed, findUntold, type PassedOfWatch } from './passed-findings.ts';
import { gatherPast } from './past-facts.ts';
import { gatherPresence } from './presence-facts.ts';
import { gatherRunning, type RunningSources } from './running-facts.ts';
import { soonestStuckMs } from './watchers.ts';
import {
  forgetAt,
  gatherSubjects,
  isNewsTo,
  type Occasion,
  type Subject,
  type SubjectSources,
  type Watch,
} from './subject.ts';
import { gatherWindowed } from './windowed-facts.ts';

export interface JudgeDeps {
  readonly sources: SubjectSources & RunningSources;
  readonly closing: Omit<ClosingFacts, 'isRecreated' | 'now'> & {
    /** Whether another object of its name is there. */
    readonly isRecreated: (subject: Subject) => boolean;
  };
  /** The watches have told everything up to then: an absence after it is not known. */
  readonly freshThroughAt: () => Instant | undefined;
  /** The service has been blind since then, so it lets no answer hold beyond it; undefined: it watches. */
  readonly blindFromAt: () => Instant | undefined;
  /** A read of the CronJob showed no newer success up to then; undefined: nothing read it. */
  readonly provenThroughAt?: (cronJobUid: string) => Instant | undefined;
  readonly judgedThroughAt: JudgedThrough;
  readonly isDelayed: FindingContext['isDelayed'];
  readonly knownOf: FindingContext['knownOf'];
  readonly freeze: FreezeMessage;
}

/** The facts of one CronJob and monitor, and what the rules found in them. */
interface Answered extends PassedOfWatch {
  readonly facts: DetectionFacts;
  readonly replayed: ReplayedRuns;
}

/**
 * Asks the questions of every monitor about these CronJobs, and brings alerts, messages and due instants in line with the answers. The
 * rows of the CronJobs are locked by the caller, in the transaction in which the facts were written.
 */
export async function judgeCronJobs(
  tx: Tx,
  ids: readonly number[],
  occasion: Occasion,
  deps: JudgeDeps,
): Promise<RaisedAlert[]> {
  const judgedThroughAt = beforeNews(occasion, deps);
  const settledThroughAt = settledThrough(allParts, judgedThroughAt);
  const subjects = await gatherSubjects(tx, ids, deps.sources, settledThroughAt);
  const parts = partsAsked(subjects, occasion, deps.sources);
  const now = occasion.asOfAt ?? tx.now();
  const horizon = Math.min(now, deps.freshThroughAt() ?? now);
  const runs = parts.has('jobFailed') ? await gatherRuns(tx, subjects, deps.sources, occasion.recorded) : undefined;
  const withRuns = occasion.recorded !== undefined || parts.has('jobFailed');
  const gathering = { now, horizon, withRuns, recorded: occasion.recorded };
  const { factsOf, past: present } = await gatherFacts(tx, subjects, parts, gathering, runs, deps);
  const answersOf = (subject: Subject, watch: Watch, facts: DetectionFacts): Judged[] =>
    judge(watch.rules.detection, facts, now, Math.max(horizon, deps.provenThroughAt?.(subject.row.uid) ?? horizon));
  const past = await gatherAcross(subjects, parts, {
    past: present,
    judgedThroughAt,
    gather: (changed, some) => gatherFacts(tx, changed, some, gathering, undefined, deps),
    judge: answersOf,
  });
  const asked = subjects.flatMap((subject) => subject.watches.map((watch) => ({ subject, watch })));
  const answered = asked.map(({ subject, watch }): Answered => {
    const known = factsOf(subject, watch);
    const isNews = newsOf(subject, watch, occasion);
    const replayed = replayRuns(subject, watch, runs?.runsOf(subject, watch) ?? [], { isNews, facts: known, now });
    const facts = withOpen(known, replayed.isOpen);
    // Only a new Job makes the rules ask about a forgotten group again. News of the time before it was forgotten is still told.
    const isForgotten = forgottenBy({ subject, watch, now }) !== undefined;
    const judged = isForgotten ? [] : answersOf(subject, watch, facts);
    const found = newLevels({ subject, watch, facts, judged }, past, isNews, judgedThroughAt);
    const levels = endForgotten(
      found,
      replayed.stages.flatMap(({ at, isForgotten: ends }) => (ends ? at : [])),
    );
    return { subject, watch, facts, judged, levels, replayed };
  });
  const untold = await findUntold(tx, answered, deps.sources);
  const named = await runsNamed(tx, answered, { runs, past }, deps.sources);

  const findings: AlertFinding[] = [];
  const wishes: ReturnType<typeof dueWishesOf> = [];
  for (const one of answered) {
    const { subject, watch, judged } = one;
    const context = {
      now,
      runOf: (jobName: string) => named.get(nameKey(subject, jobName)),
      isDelayed: deps.isDelayed,
      knownOf: deps.knownOf,
      stormHold: occasion.stormHold,
      firstHold: occasion.firstHold,
      untilAt: occasion.asOfAt ?? deps.blindFromAt(),
    };
    // A level that has passed joins no storm of the present: its message tells its end as well.
    findings.push(...findingsOfPassed(one, untold.get(watch) ?? [], { ...context, stormHold: undefined }));
    findings.push(...findingsOfRuns(one, occasion.recorded?.get(subject.row.id) ?? [], context));
    const of = { cronJobId: subject.row.id, monitorId: watch.monitor.id };
    const forgottenAt = forgetAt(subject, watch);
    wishes.push(
      ...dueWishesOf(of, judged, parts, forgottenBy({ subject, watch, now }) === undefined ? forgottenAt : undefined),
    );
  }
  for (const subject of subjects) {
    findings.push(...closingsOf(subject, { ...deps.closing, now, isRecreated: deps.closing.isRecreated(subject) }));
  }
  await setDue(tx, wishes, occasion.recorded !== undefined);
  // The CronJob that left one monitor stays unjudged for the others.
  if (runs && occasion.asOfAt === undefined) await noteJudged(tx, subjects, runs);
  const raised = await raise(tx, findings, { freeze: deps.freeze });
  const remembered = answered.filter((one) => forgottenBy({ ...one, now }) === undefined);
  await setBrokenTargets(tx, await gatherBrokenTargets(tx, subjects, remembered, parts, now));
  // The recording of a run decides the state of its CronJob; a pass of the clock decides it for everything else that moved.
  if (occasion.recorded === undefined) await decideStates(tx, ids);
  return raised;
}

/**
 * A rate that broke while the service did not look is judged with the margin of recovery, as if its alert were open. `heldSince` is when it
 * broke last: a rate that was good in between counts from its second break.
 */
function withHeldRate(
  facts: Pick<DetectionFacts, 'successRate' | 'regression'> | undefined,
  heldSince: () => Instant | undefined,
): typeof facts {
  const { successRate } = facts ?? {};
  return successRate === undefined ? facts : { ...facts, successRate: { ...successRate, heldSince: heldSince() } };
}

/** The facts after the replay: the answers of now take an alert as open or ended as the replayed stages left it. */
function withOpen(facts: DetectionFacts, isOpen: boolean | undefined): DetectionFacts {
  return facts.jobFailed && isOpen !== undefined ? { ...facts, jobFailed: { ...facts.jobFailed, isOpen } } : facts;
}

/** A run that is recorded now reopens the time since it ended, whatever earlier passes asked about. */
function beforeNews({ recorded }: Occasion, { judgedThroughAt }: JudgeDeps): JudgedThrough {
  const newsFromAt = Math.min(
    ...[...(recorded?.values() ?? [])].flat().map(({ finishedAt }) => finishedAt ?? Infinity),
  );
  return (part) => {
    const at = judgedThroughAt(part);
    return at === undefined ? undefined : Math.min(at, newsFromAt);
  };
}

/**
 * A run is news when this transaction recorded it, when an earlier one recorded it without judging it, and when it ended while its monitor was
 * away. To a monitor that never judged the CronJob all runs are news.
 */
function newsOf({ row }: Subject, watch: Watch, { recorded }: Occasion): (run: JudgedRunRow) => boolean {
  const now = new Set(recorded?.get(row.id)?.map(({ jobUid }) => toId16(jobUid)));
  return ({ jobUid, isUnjudged, endedAt }) => isUnjudged || isNewsTo(watch, endedAt) || now.has(jobUid);
}

/** The findings after each run that is news, in the order in which the runs ended, then those of now. */
function findingsOfRuns(
  { subject, watch, facts, judged, replayed }: Answered,
  recorded: readonly Execution[],
  context: Omit<FindingContext, 'occurred' | 'clearedBy'>,
): AlertFinding[] {
  const openedBefore = new Set<string>();
  const findings: AlertFinding[] = [];
  for (const stage of replayed.stages) {
    const { run, isNews, at, untilAt } = stage;
    findings.push(
      ...findingsOf(subject, watch, stage.judged, {
        ...context,
        happenedAt: run.endedAt,
        endedAt: at,
        occurred: ({ type }) => Number(type === 'jobFailed' && isNews && run.status === 'failed'),
        clearedBy:
          at === run.endedAt && run.status === 'success'
            ? { jobName: run.jobName, finishedAt: run.endedAt }
            : undefined,
        openedBefore: new Set(openedBefore),
        untilAt,
      }),
    );
    for (const one of stage.judged) if (one.verdict.kind === 'holds') openedBefore.add(keyOf(one));
  }
  const newest = facts.jobFailed?.runs[0];
  // A single run is news without being recorded here when it was recorded while its monitor was gone.
  const isReplay = replayed.stages.length > 0 || (recorded.length === 0 && replayed.isNewestNews !== undefined);
  findings.push(
    ...findingsOf(subject, watch, judged, {
      ...context,
      occurred: (one, open) =>
        isReplay && one.type === 'jobFailed'
          ? Number(replayed.isNewestNews === true && newest?.status === 'failed')
          : occurrencesOf(one, open, facts, recorded, watch),
      clearedBy:
        isReplay && newest?.status === 'success'
          ? { jobName: newest.jobName, finishedAt: newest.endedAt }
          : recorded.findLast(({ status }) => status === 'success'),
      openedBefore,
    }),
  );
  return findings;
}

/** Marks the runs of these CronJobs as judged: from now on each run is news once, when it is recorded. */
async function noteJudged(tx: Tx, subjects: readonly Subject[], runs: RunFacts): Promise<void> {
  const begun = subjects.flatMap(({ row, watches }) =>
    watches.flatMap(({ monitor, wasJudged, newsFromAt }) =>
      wasJudged && newsFromAt === undefined ? [] : [{ monitorId: monitor.id, cronJobId: row.id }],
    ),
  );
  await markWatchesJudged(tx, begun);
  const unjudged = subjects.flatMap((subject) =>
    subject.watches.flatMap((watch) =>
      runs.runsOf(subject, watch).flatMap(({ jobUid, isUnjudged }) => (isUnjudged ? [jobUid] : [])),
    ),
  );
  if (unjudged.length > 0) await markJudged(tx, [...new Set(unjudged)]);
}

function partsAsked(
  subjects: readonly Subject[],
  { parts, recorded }: Occasion,
  { goneJobsOf }: RunningSources,
): ReadonlySet<Part> {
  if (recorded === undefined) return withFailedRuns(subjects, parts);
  const wasStuck = subjects.some(
    (subject) =>
      recorded.get(subject.row.id)?.some((run) => mayHaveBeenStuck(subject, run, run.finishedAt)) === true ||
      goneJobsOf(subject.row.uid).some((job) => mayHaveBeenStuck(subject, job, job.endedAt)),
  );
  return new Set([
    ...parts,
    ...subjects.flatMap(({ alerts }) => alerts.map(partOf)),
    ...subjects.flatMap(({ row }) => row.broken.map(({ subject }) => partOf({ type: 'slaBreached', subject }))),
    ...(wasStuck ? (['stuck'] as const) : []),
  ]);
}

/** Whether it took so long that some monitor may call it stuck: no tick may have looked while it was. */
function mayHaveBeenStuck(
  { watches }: Subject,
  { createdAt }: Pick<Execution, 'createdAt'>,
  endedAt = createdAt,
): boolean {
  const tookMs = endedAt - createdAt;
  return watches.some(({ rules: { detection } }) => tookMs >= soonestStuckMs(detection));
}

/** Failed runs have no tick of their own: of one that was told, reminders and an end by time are asked with what did not come. */
function withFailedRuns(subjects: readonly Subject[], parts: ReadonlySet<Part>): ReadonlySet<Part> {
  const isOpen = subjects.some(({ alerts }) => alerts.some(({ type }) => type === 'jobFailed'));
  return parts.has('missedSchedule') && isOpen ? new Set([...parts, 'jobFailed']) : parts;
}

async function gatherFacts(
  tx: Tx,
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  { now, horizon, ...news }: Pick<Occasion, 'recorded'> & Record<'now' | 'horizon', Instant> & { withRuns: boolean },
  runs: RunFacts | undefined,
  deps: JudgeDeps,
): Promise<GatheredFacts> {
  const has = (...some: Part[]): boolean => some.some((part) => parts.has(part));
  const presence = has('missedSchedule', 'deadMan', 'suspended')
    ? await gatherPresence(tx, subjects, parts, deps.sources)
    : undefined;
  const running = has('stuck', 'durations')
    ? await gatherRunning(tx, subjects, parts, deps.sources, horizon)
    : undefined;
  const windowed = has('successRate', 'regression') ? await gatherWindowed(tx, subjects, parts, now) : undefined;
  const output = has('output') ? await gatherOutput(tx, subjects, news.recorded) : undefined;
  const { jobsOf } = deps.sources;
  const askedThroughAt = deps.judgedThroughAt('finishBy');
  const finishBy = has('finishBy')
    ? await gatherFinishBy(tx, subjects, horizon, { askedThroughAt, jobsOf })
    : undefined;
  const past = await gatherPast(tx, subjects, parts, {
    ...news,
    from: deps.sources,
    presence,
    ratedThroughAt: deps.judgedThroughAt('successRate'),
  });
  return {
    factsOf: (subject, watch) => ({
      ...presence?.(subject, watch).present,
      ...running?.(subject, watch, past.countedOf(subject, watch)),
      ...withHeldRate(windowed?.(subject, watch), () => past.rateHeldSince(subject, watch)),
      finishBy: finishBy?.(watch),
      jobFailed: runs?.jobFailed(subject, watch),
      output: output?.(subject, watch),
    }),
    past,
  };
}

/** How many failures or missed runs are new since the alert was written last; 0 for levels, and when an edge is only asked again. */
function occurrencesOf(
  { type }: Judged,
  open: AlertRecord | undefined,
  { missedSchedule }: DetectionFacts,
  recorded: readonly Execution[],
  { rules, judgesFromAt }: Watch,
): number {
  if (type === 'jobFailed') {
    const { includeManual } = rules.detection.jobFailed;
    return recorded.filter(
      ({ status, trigger, finishedAt }) =>
        status === 'failed' && (includeManual || trigger === 'scheduled') && (finishedAt ?? 0) >= judgesFromAt,
    ).length;
  }
  if (type !== 'missedSchedule' || open === undefined) return 0;
  const { reason, detail } = toAlertFacts(open.context).verdict ?? {};
  const countedThroughAt = Number(detail?.['lastSlotAt'] ?? 0);
  const isCounted = (outcome: string): boolean =>
    reason === 'skipped' ? outcome.startsWith('skipped') : outcome === 'missed';
  return (missedSchedule?.slots ?? []).filter(({ at, outcome }) => at > countedThroughAt && isCounted(outcome)).length;
}

/** The runs that verdicts name, from memory while they go on, else from their rows. */
async function runsNamed(
  tx: Tx,
  answered: readonly Answered[],
  { runs, past }: { readonly runs: RunFacts | undefined; readonly past: PastOfWatch },
  from: RunningSources,
): Promise<ReadonlyMap<string, AlertRun>> {
  const named = new Map<string, AlertRun>();
  const recorded = new Map<string, string>();
  for (const { subject, watch, facts, judged, levels, replayed } of answered) {
    const known = [
      ...(runs?.runsOf(subject, watch) ?? []),
      ...past.runsOf(subject),
      facts.durations?.lastEnded,
      facts.durations?.lastSuccess,
      ...(facts.output?.runs ?? []),
    ];
    for (const { verdict } of [...replayed.stages.flatMap((stage) => stage.judged), ...levels, ...judged]) {
      const jobName = verdict.kind === 'holds' ? verdict.detail['jobName'] : undefined;
      if (typeof jobName !== 'string') continue;
      const ended = known.find((run) => run?.jobName === jobName);
      if (ended?.jobUid !== undefined) {
        recorded.set(ended.jobUid, nameKey(subject, jobName));
        continue;
      }
      const job = from.jobsOf(subject.row.uid).find(({ name }) => name === jobName);
      if (!job) continue;
      const { uid: jobUid, startedAt } = job;
      named.set(nameKey(subject, jobName), { jobUid, jobName, ...originOf(job, []), startedAt });
    }
  }
  if (recorded.size === 0) return named;
  for (const [uid, run] of await listAlertRuns(tx, [...recorded.keys()])) {
    const key = recorded.get(uid);
    if (key !== undefined) named.set(key, run);
  }
  return named;
}

const nameKey = ({ row }: Subject, jobName: string): string => `${row.id} ${jobName}`;
