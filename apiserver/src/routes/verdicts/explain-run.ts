import type { Ref, VerdictLogLine, VerdictStep } from '@cronjob-monitor/shared/contract';
import {
  changeWords,
  compareRuns,
  createFixMatcher,
  deadlineStep,
  evictedStep,
  exitInWords,
  isHopelessReason,
  isUnplaced,
  killedStep,
  missingIn,
  openRunOf,
  onlyImageIn,
  placementMend,
  refusedLogin,
  templateMend,
  waitingCause,
  type FixMatcher,
  type FixPattern,
  type VerdictAddition,
  isObject,
  attemptsIn,
  eventsIn,
} from '@cronjob-monitor/shared/domain';
import {
  listComparedRuns,
  findNamedExecutions,
  findTemplate,
  listEvidence,
  listEvidenceOf,
  listMonitors,
  listMonitorsOf,
  listRunsOfAnotherSpec,
  measureLastDurations,
  type Db,
  type Evidence,
  type NamedRun,
  type RunOfCronJob,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { linesOf } from '../executions/decisive.ts';

/** What is known of why a run failed, computed when it is read: a run that was recorded after the service was away has it too. */
export interface ExplainedRun extends Pick<VerdictAddition, 'cause' | 'change' | 'logLine' | 'step'> {
  readonly suggestedFix: string | undefined;
}

/** Of the built-in patterns, and of those of monitors that look into no text. */
const matcher: FixMatcher = createFixMatcher();

/** Of so many failed runs of one answer what was captured is read; the others say what their rows say. */
const mostRead = 50;
/** Lines are marked when a run is explained. Of so many whose lines were not, such as one that failed while the service was away, the logs are read. */
const mostLogsRead = 5;
/** What a run usually takes is told by so many. */
const usualRuns = 100;

/** Explains failed runs of one CronJob; a run that did not fail has no entry. By Job UID. */
export async function explainRuns(
  db: Db,
  cronJobId: number,
  runs: readonly StoredExecution[],
): Promise<ReadonlyMap<string, ExplainedRun>> {
  const failed = runs.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return new Map();
  const patterns = await listPatterns(db, cronJobId);
  const explained = new Map<string, ExplainedRun>();
  const read = failed.slice(0, mostRead);
  const decisive = await listDecisive(db, read);
  const changes = await listChanges(
    db,
    read.map((run) => ({ cronJobId, run })),
  );
  for (const run of read)
    explained.set(run.jobUid, {
      ...(await explain(db, cronJobId, { run, patterns, logLine: decisive(run) })),
      change: changes.get(run.jobUid),
    });
  return explained;
}

/** The same of single runs of many CronJobs, without what a pattern suggests: three questions for all of them, and one for each that a template explains. */
export async function explainNamed(
  db: Db,
  runs: readonly NamedRun[],
): Promise<(run: NamedRun) => ExplainedRun | undefined> {
  const keyOf = ({ cronJobId, jobName }: NamedRun): string => `${cronJobId} ${jobName}`;
  const explained = new Map<string, ExplainedRun>();
  const wanted = [...new Map(runs.map((run) => [keyOf(run), run])).values()].slice(0, mostRead);
  const failed = [...(await findNamedExecutions(db, wanted))].filter(([, { status }]) => status === 'failed');
  const owners = failed.flatMap(([, run]) => (tellsMore(run) ? [run.jobUid] : []));
  const evidence = await listEvidenceOf(db, owners, ['attempts', 'events']);
  const decisive = await listDecisive(
    db,
    failed.map(([, run]) => run),
  );
  const changes = await listChanges(
    db,
    failed.map(([{ cronJobId }, run]) => ({ cronJobId, run })),
  );
  for (const [named, run] of failed) {
    const change = changes.get(run.jobUid);
    const found = await findOut(db, named.cronJobId, run, evidence.get(run.jobUid) ?? []);
    const logLine = decisive(run);
    explained.set(keyOf(named), { ...wordsOf(run, found, logLine), change, logLine, suggestedFix: run.fix });
  }
  return (run) => explained.get(keyOf(run));
}

/** Of runs whose log is kept: the decisive line of the attempt in which a pattern was found, else of the newest. */
async function listDecisive(
  db: Db,
  runs: readonly StoredExecution[],
): Promise<(run: StoredExecution) => VerdictLogLine | undefined> {
  const owners = runs.flatMap(({ hasLogs, jobUid }) => (hasLogs ? [jobUid] : []));
  const marked = await listEvidenceOf(db, owners, ['decisive']);
  const unmarked = owners.filter((owner) => !marked.has(owner)).slice(0, mostLogsRead);
  const logs = await listEvidenceOf(db, unmarked, ['logs', 'attempts']);
  return ({ jobUid, jobName, namespace, cronJobName }) => {
    const lines = linesOf(marked.get(jobUid) ?? logs.get(jobUid) ?? []);
    const line = lines.findLast(({ by }) => by === 'pattern') ?? lines.at(-1);
    if (line === undefined) return undefined;
    const { text, number, pod, container, before } = line;
    const href = `${openRunOf({ namespace, name: cronJobName }, jobName).href}?pod=${pod}&container=${container}#decisive`;
    return { text, ...(before ? { before } : {}), number, jobName, pod, href };
  };
}

/** Of failed runs: what a deploy changed with the first of them after the last success. By Job UID. */
async function listChanges(db: Db, runs: readonly RunOfCronJob[]): Promise<ReadonlyMap<string, string | undefined>> {
  const compared = await listComparedRuns(db, [...(await listRunsOfAnotherSpec(db, runs))]);
  return new Map([...compared].map(([uid, { before, after }]) => [uid, changeWords(compareRuns(before, after))]));
}

/** Reasons that more is known of than the row of the run says. */
const tellMore = new Set([
  'OOMKilled',
  'Evicted',
  'DeadlineExceeded',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'FailedCreate',
  'Unschedulable',
]);

function tellsMore({ reason, jobReason }: StoredExecution): boolean {
  return tellMore.has(reason ?? '') || tellMore.has(jobReason ?? '');
}

async function explain(
  db: Db,
  cronJobId: number,
  of: {
    readonly run: StoredExecution;
    readonly patterns: readonly FixPattern[];
    readonly logLine: VerdictLogLine | undefined;
  },
): Promise<Omit<ExplainedRun, 'change'>> {
  const { run, patterns, logLine } = of;
  const evidence = run.fix === undefined || tellsMore(run) ? await listEvidence(db, run.jobUid) : [];
  const found = await findOut(db, cronJobId, run, evidence);
  return {
    ...wordsOf(run, found, logLine),
    logLine,
    suggestedFix: run.fix ?? suggest(run, evidence, patterns, found?.container),
  };
}

function wordsOf(
  run: StoredExecution,
  found: FoundOut | undefined,
  logLine: VerdictLogLine | undefined,
): Pick<ExplainedRun, 'cause' | 'step'> {
  const login = refusedLogin(logLine?.text ?? '');
  const mend = login === undefined ? undefined : `Check the password of ${login} in the Secret that its pods read`;
  return {
    cause: found?.cause ?? (exitInWords(run) || undefined),
    step: found?.step ?? openRunOf({ namespace: run.namespace, name: run.cronJobName }, run.jobName, mend),
  };
}

/** What is known of a run beyond its row. */
interface FoundOut {
  readonly container?: string;
  readonly cause?: string;
  readonly step: VerdictStep;
}

async function findOut(
  db: Db,
  cronJobId: number,
  run: StoredExecution,
  evidence: readonly Evidence[],
): Promise<FoundOut | undefined> {
  if (!tellsMore(run)) return undefined;
  const cronJob = { namespace: run.namespace, name: run.cronJobName };
  const attempts = attemptsIn(evidence);
  const containers = attempts.flatMap((attempt) => attempt.containers);
  const waited = containers.findLast(({ exitCode, reason }) => exitCode === undefined && isHopelessReason(reason));
  if (isUnplaced(run.reason)) return unplaced(cronJob, run, evidence);
  const spec = run.templateHash === undefined ? undefined : await findTemplate(db, cronJobId, run.templateHash);
  const reason = waited?.reason ?? run.reason;
  const missing = missingIn(reason, textOf(evidence), onlyImageIn(spec));
  if (missing !== undefined && run.reason !== 'OOMKilled')
    return {
      cause: missing,
      step: openRunOf(cronJob, run.jobName, templateMend(reason, textOf(evidence)) ?? `Open the run: ${missing}`),
    };
  if (spec === undefined) return undefined;
  if (run.reason === 'OOMKilled') return killedStep(cronJob, run, spec, attempts);
  if (run.reason === 'Evicted') return evictedStep(cronJob, run, spec, attempts);
  if (run.reason !== 'DeadlineExceeded' && run.jobReason !== 'DeadlineExceeded') return undefined;
  const p99Ms = (await measureLastDurations(db, [cronJobId], usualRuns)).get(cronJobId)?.p99Ms;
  const found = deadlineStep(cronJob, run, spec, p99Ms);
  // A run that may never have started needs something else than more time.
  const mayHaveRun =
    p99Ms !== undefined || containers.some(({ exitCode, reason }) => exitCode !== undefined || reason === undefined);
  return found && !mayHaveRun ? { ...found, step: openRunOf(cronJob, run.jobName) } : found;
}

/** Of a run whose pod no node took until it was ended: more time, or a run by hand, would wait as well. */
function unplaced(cronJob: Ref, { reason, jobName }: StoredExecution, evidence: readonly Evidence[]): FoundOut {
  const message = eventsIn(evidence).findLast((event) => event.reason === 'FailedScheduling')?.message ?? '';
  const mend = placementMend(message) ?? 'Compare its requests, node selector, affinity and tolerations with the nodes';
  return {
    cause: waitingCause({ reason, message }) ?? 'No node took its pod',
    step: openRunOf(cronJob, jobName, mend),
  };
}

/** The text of events and of what containers waited for. */
function textOf(evidence: readonly Evidence[]): string {
  const messages = eventsIn(evidence).map(({ message }) => message);
  const waits = attemptsIn(evidence).flatMap(({ containers }) => containers.map(({ message }) => message ?? ''));
  return [...messages, ...waits].join('\n');
}

function suggest(
  run: StoredExecution,
  evidence: readonly Evidence[],
  patterns: readonly FixPattern[],
  container: string | undefined,
): string | undefined {
  const attempts = attemptsIn(evidence);
  const reasons = [
    run.reason,
    run.jobReason,
    ...attempts.flatMap(({ containers }) => containers.map((one) => one.reason)),
  ];
  const known = [...new Set(reasons.filter((reason) => reason !== undefined))];
  const bad = attempts.flatMap((attempt) => attempt.containers.map((one) => ({ ...one, attempt })));
  const place = bad.find(({ exitCode }) => exitCode !== undefined && exitCode !== 0) ?? bad[0];
  return matcher({
    key: JSON.stringify(patterns),
    patterns,
    facts: {
      exitCode: run.exitCode,
      cause: run.fault?.cause,
      reasons: known,
      log: evidence.find(({ kind, body }) => kind === 'logs' && body !== undefined)?.body,
      events: eventsIn(evidence).map(({ reason, message }) => `${reason}: ${message}`),
    },
    values: {
      'CronJob.Name': run.cronJobName,
      'CronJob.Namespace': run.namespace,
      Namespace: run.namespace,
      Name: run.cronJobName,
      JobName: run.jobName,
      ExitCode: run.exitCode?.toString(),
      Reason: known[0],
      Pod: place?.attempt.pod,
      Container: container ?? place?.name,
      Node: place?.attempt.node,
    },
  })?.text;
}

/** The patterns in force for a CronJob that need no search of a text: searches run in a thread as the run is recorded. */
async function listPatterns(db: Db, cronJobId: number): Promise<readonly FixPattern[]> {
  const [monitors, selecting] = await Promise.all([listMonitors(db), listMonitorsOf(db, [cronJobId])]);
  const ids = new Set(selecting.map(({ monitorId }) => monitorId));
  return monitors
    .filter(({ id }) => ids.has(id))
    .flatMap(({ spec }) => {
      const alerting = isObject(spec) ? spec['alerting'] : undefined;
      const listed = isObject(alerting) ? alerting['suggestedFixPatterns'] : undefined;
      return Array.isArray(listed) ? (listed as readonly FixPattern[]) : []; // as the reconciler decoded it
    })
    .filter(({ match }) => !match.logPattern && !match.eventPattern && !match.reasonPattern);
}
