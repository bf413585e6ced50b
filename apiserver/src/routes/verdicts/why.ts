import type { Told, VerdictKind } from '@cronjob-monitor/shared/contract';
import {
  alertWords,
  changeWords,
  compareRuns,
  exitInWords,
  failureOf,
  instantIn,
  lacksSuccess,
  missedCause,
  openRunOf,
  stepOf,
  type Suspended,
  suspendedCause,
  toAbsence,
  type VerdictAddition,
  waitingCause,
} from '@cronjob-monitor/shared/domain';
import {
  type ActiveJob,
  type CatalogCronJob,
  findComparedJob,
  listActiveJobs,
  listCronJobsById,
  listLastFailures,
  listOpenAlerts,
  listSuspensions,
  type NamedRun,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import { explainNamed } from './explain-run.ts';
import { gatherFindings, gatherScheduleFindings } from './findings.ts';
import { toWordedAlert } from './of-alert.ts';
import type { Surroundings } from './surroundings.ts';

/** What explains a judgement, and what to do next about it. */
type Explanation = Pick<VerdictAddition, 'cause' | 'change' | 'logLine' | 'step' | 'findings'>;

/** Of so many Jobs that have not started it is looked for what changed. */
const mostCompared = 50;

/** Explains alerts, and CronJobs that have none: the same alert in the same way wherever it is shown. */
export interface Why {
  readonly ofAlert: (alert: StoredAlert, told: Told) => Explanation;
  /** Of a CronJob without an open alert. */
  readonly ofCronJob: (cronJob: CatalogCronJob, kind: VerdictKind) => Explanation;
  /** Undefined: it is not suspended. */
  readonly suspensionOf: (cronJobId: number) => Suspended | undefined;
}

/** Reads what explains them, with a handful of questions however many they are. */
export async function gatherWhy(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  { alerts, cronJobs = [] }: { readonly alerts: readonly StoredAlert[]; readonly cronJobs?: readonly CatalogCronJob[] },
  surroundings: Pick<Surroundings, 'now'>,
): Promise<Why> {
  const { store } = deps;
  const known = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const unknown = [...new Set(alerts.map(idOf).filter((id) => !known.has(id)))];
  for (const cronJob of await listCronJobsById(store, unknown)) known.set(cronJob.id, cronJob);
  const lacking = alerts.filter((alert) => isLacking(alert, known));
  const open = lacking.length === 0 ? [] : await listOpenAlerts(store, [...new Set(lacking.map(idOf))]);
  const missedOf = new Map(open.flatMap((one) => (one.type === 'missedSchedule' ? [[one.cronJobId, one]] : [])));
  const findings = await gatherFindings(deps, [...alerts, ...missedOf.values()], surroundings);
  const ofRate = [...alerts.filter(isOfRate).map(idOf), ...cronJobs.filter(hasLowRate).map(({ id }) => id)];
  const lastFailures = await listLastFailures(
    store,
    [...new Set(ofRate)].flatMap((id) => known.get(id) ?? []),
  );
  const runs = [
    ...alerts.flatMap((alert) => runOf(alert, { known, lastFailures }) ?? []),
    ...cronJobs.flatMap(({ id, failedRun }): NamedRun[] =>
      [failedRun?.jobName, lastFailures.get(id)].flatMap((jobName) => (jobName ? { cronJobId: id, jobName } : [])),
    ),
  ];
  const explained = await explainNamed(store, runs);
  const suspensions = await listSuspensions(
    store,
    [...known.values()].flatMap(({ id, suspended }) => (suspended ? id : [])),
  );
  const suspendedBy = (id: number): string | undefined => {
    const suspension = suspensions.get(id);
    return suspension && suspendedCause(suspension);
  };
  const waits = await gatherWaits(store, {
    stuck: [...alerts.filter((alert) => isStuck(alert) || isBlocked(alert, known)), ...lacking],
    cronJobs,
    known,
  });
  const scheduleFindings = await gatherScheduleFindings(store, [...known.values()]);
  const gathered: Gathered = {
    known,
    lastFailures,
    explained,
    findings,
    scheduleFindings,
    suspendedBy,
    waits,
    missedOf,
  };
  return {
    suspensionOf: (id) => suspensions.get(id),
    ofAlert: (alert, told) => explainAlert(gathered, alert, told),
    ofCronJob: (cronJob, kind) => explainCronJob(gathered, cronJob, kind),
  };
}

interface Gathered {
  readonly known: ReadonlyMap<number, CatalogCronJob>;
  /** Of CronJobs whose success rate is too low: the run that failed last, also when one has succeeded since. */
  readonly lastFailures: ReadonlyMap<number, string>;
  readonly explained: Awaited<ReturnType<typeof explainNamed>>;
  readonly findings: Awaited<ReturnType<typeof gatherFindings>>;
  readonly scheduleFindings: Awaited<ReturnType<typeof gatherScheduleFindings>>;
  readonly suspendedBy: (cronJobId: number) => string | undefined;
  readonly waits: Waits;
  /** Of CronJobs that lack a success and whose runs did not start: the alert that says so. */
  readonly missedOf: ReadonlyMap<number, StoredAlert>;
}

function explainAlert(
  { known, lastFailures, explained, findings, scheduleFindings, suspendedBy, waits, missedOf }: Gathered,
  alert: StoredAlert,
  told: Told,
): Explanation {
  const cronJob = known.get(alert.cronJobId);
  const run = runOf(alert, { known, lastFailures });
  const why = run && explained(run);
  const named = cronJob && alert.endedAt === undefined ? scheduleFindings(cronJob, alert.type) : [];
  const { facts } = toWordedAlert(alert);
  const stuckJob = alert.type === 'jobStuck' ? facts.jobName : undefined;
  // A Job that goes on for too long, or whose pods do not end, waits for nothing unless a reason says so.
  const isWaiting = alert.subject === 'notStarted' || (facts.reason ?? '') !== '';
  const looked = stuckJob === undefined ? slowJobOf(alert, cronJob) : isWaiting ? undefined : stuckJob;
  // Without a success for too long is how it looks: what keeps its runs from one is the cause.
  const lacks = isLacking(alert, known);
  const first = waits.jobOf(alert.cronJobId);
  const job = lacks || (isBlocked(alert, known) && first?.waitingReason !== undefined) ? first : undefined;
  const miss = alert.type === 'missedSchedule' ? alert : lacks && !job ? missedOf.get(alert.cronJobId) : undefined;
  const ofRules = [alert, ...(miss && miss !== alert ? [miss] : [])].flatMap(findings);
  const found = [...ofRules, ...named.filter(({ code }) => !ofRules.some((one) => one.code === code))];
  const missed = miss && missedCause(toWordedAlert(miss).facts.verdict?.detail);
  const step = stepOf({
    cronJob: alert.cronJob,
    kind: alert.type,
    findings: found,
    run: run
      ? (why?.step ?? openRunOf(alert.cronJob, run.jobName))
      : looked
        ? openRunOf(alert.cronJob, looked)
        : job && job.waitingReason === undefined
          ? openRunOf(alert.cronJob, job.jobName)
          : undefined,
    waiting:
      stuckJob && isWaiting
        ? { jobName: stuckJob, reason: facts.reason, message: waits.messageOf(alert.cronJobId) }
        : job && { jobName: job.jobName, reason: job.waitingReason, message: job.waitingMessage },
    runbook: runbookOf(cronJob),
    isSuspended: cronJob?.suspended ?? false,
    refusal: missed?.refusal,
    absence: toAbsence(facts.verdict?.detail)?.cause,
    told,
    monitor: alert.monitor,
  });
  const failed = run && (why?.cause ?? (exitInWords(failureOf(facts)) || undefined));
  return {
    cause:
      (isOfRate(alert) ? failed && lastFailureWords(failed) : failed) ??
      missed?.words ??
      (miss && miss !== alert ? alertWords(toWordedAlert(miss)) : undefined) ??
      (isStuck(alert) || job
        ? (waits.causeOf(alert.cronJobId) ??
          (job && `Job ${job.jobName} goes on for ${instantIn('age', job.createdAt)}`) ??
          (cronJob?.policy === 'Forbid' ? 'Until it ends no other run starts (Forbid)' : undefined))
        : alert.endedAt === undefined && isOfSuspension(alert.type)
          ? suspendedBy(alert.cronJobId)
          : undefined),
    // What changed before one of the runs that failed says little of how many did.
    change:
      (isOfRate(alert) ? undefined : why?.change) ??
      (isStuck(alert) || job ? waits.changeOf(alert.cronJobId, job?.jobName ?? facts.jobName) : undefined),
    logLine: why?.logLine,
    step: alert.endedAt === undefined ? step : run && why?.step,
    findings: found,
  };
}

function explainCronJob(
  { lastFailures, explained, scheduleFindings, suspendedBy, waits }: Gathered,
  cronJob: CatalogCronJob,
  kind: VerdictKind,
): Explanation {
  const { id, namespace, name, failedRun, waiting } = cronJob;
  const isLow = kind === 'targetMissed' && hasLowRate(cronJob);
  const jobName = isLow ? lastFailures.get(id) : kind === 'lastRunFailed' ? failedRun?.jobName : undefined;
  const run = jobName === undefined ? undefined : { cronJobId: id, jobName };
  const why = run && explained(run);
  const findings = scheduleFindings(cronJob, kind);
  const step = stepOf({
    cronJob: { namespace, name },
    kind,
    findings: kind === 'notEvaluated' ? findings : [],
    run: run && (why?.step ?? openRunOf({ namespace, name }, run.jobName)),
    waiting: kind === 'waiting' ? waiting : undefined,
    runbook: runbookOf(cronJob),
    isSuspended: cronJob.suspended,
    refusal: undefined,
    absence: undefined,
    told: undefined,
    monitor: undefined,
  });
  const failed = run && (why?.cause ?? ((failedRun && exitInWords(failedRun)) || undefined));
  const cause =
    (isLow ? failed && lastFailureWords(failed) : failed) ??
    (kind === 'waiting' && waiting ? waitingCause(waiting) : isOfSuspension(kind) ? suspendedBy(id) : undefined);
  const change =
    (isLow ? undefined : why?.change) ?? (kind === 'waiting' ? waits.changeOf(id, waiting?.jobName) : undefined);
  return { cause, change, logLine: why?.logLine, step, findings };
}

/** What is so because it is suspended, or would be told so: who did it, and what it left out, is its cause. */
const isOfSuspension = (kind: VerdictKind): boolean =>
  ['suspended', 'jobSuspended', 'neverRan', 'deadManTriggered', 'absent'].includes(kind);

const idOf = ({ cronJobId }: StoredAlert): number => cronJobId;
const isStuck = ({ type, endedAt }: StoredAlert): boolean => type === 'jobStuck' && endedAt === undefined;

/** It has had no success for too long, and no run of it failed that would say why. */
function isLacking(alert: StoredAlert, known: ReadonlyMap<number, CatalogCronJob>): boolean {
  return alert.endedAt === undefined && lacksSuccess(alert) && !known.get(alert.cronJobId)?.failedRun;
}

/** Its runs are missed, and none starts while a Job of it goes on. */
function isBlocked({ type, endedAt, cronJobId }: StoredAlert, known: ReadonlyMap<number, CatalogCronJob>): boolean {
  return type === 'missedSchedule' && endedAt === undefined && known.get(cronJobId)?.policy === 'Forbid';
}

interface Waits {
  /** What keeps Jobs of a CronJob from starting. */
  readonly causeOf: (cronJobId: number) => string | undefined;
  /** What Kubernetes says of the first Job that has not started. */
  readonly messageOf: (cronJobId: number) => string | undefined;
  /** What a deploy changed between the last success and a Job that has not started: it is made from the present template. */
  readonly changeOf: (cronJobId: number, jobName: string | undefined) => string | undefined;
  /** The Job that has not ended, the oldest one; one that has not started before others. */
  readonly jobOf: (cronJobId: number) => ActiveJob | undefined;
}

/** What waits in vain is known of its CronJob; what else waits, and since which change, is asked of the Jobs themselves. Mostly none does. */
async function gatherWaits(
  store: RouteDeps['store'],
  {
    stuck,
    cronJobs,
    known,
  }: {
    readonly stuck: readonly StoredAlert[];
    readonly cronJobs: readonly CatalogCronJob[];
    readonly known: ReadonlyMap<number, CatalogCronJob>;
  },
): Promise<Waits> {
  const waiting = cronJobs.flatMap((cronJob) => (cronJob.waiting ? cronJob.id : []));
  const asked = [...new Set([...stuck.map(idOf), ...waiting])];
  const jobs = asked.length === 0 ? [] : await listActiveJobs(store, asked);
  const unstarted = jobs.filter(({ waitingReason }) => waitingReason !== undefined);
  const changes = new Map<string, string>();
  for (const { cronJobId, jobName, createdAt } of unstarted.slice(0, mostCompared)) {
    const template = known.get(cronJobId)?.template;
    // Kubernetes tells whole seconds: of one in which both were made it is not known which came first.
    if (!template || createdAt <= template.at) continue;
    const compared = await findComparedJob(store, { cronJobId, createdAt, templateHash: template.hash });
    const change = compared && changeWords(compareRuns(compared.before, compared.after));
    if (change !== undefined) changes.set(`${cronJobId} ${jobName}`, change);
  }
  return {
    causeOf(cronJobId) {
      const wait = known.get(cronJobId)?.waiting;
      if (wait) return waitingCause(wait);
      const job = unstarted.find((one) => one.cronJobId === cronJobId);
      return job && waitingCause({ reason: job.waitingReason, message: job.waitingMessage });
    },
    messageOf: (cronJobId) =>
      known.get(cronJobId)?.waiting?.message ?? unstarted.find((one) => one.cronJobId === cronJobId)?.waitingMessage,
    changeOf: (cronJobId, jobName) => changes.get(`${cronJobId} ${jobName}`),
    jobOf: (cronJobId) => [...unstarted, ...jobs].find((one) => one.cronJobId === cronJobId),
  };
}

const lastFailureWords = (cause: string): string => `the run that failed last: ${cause}`;

const hasLowRate = ({ broken }: CatalogCronJob): boolean => broken[0]?.subject === 'successRate';

const isOfRate = ({ type, subject, endedAt }: StoredAlert): boolean =>
  type === 'slaBreached' && subject === 'successRate' && endedAt === undefined;

/** The run that an alert is about; of a CronJob without a success, or with too few of them, the one that failed last. */
function runOf(
  alert: StoredAlert,
  { known, lastFailures }: Pick<Gathered, 'known' | 'lastFailures'>,
): NamedRun | undefined {
  const { cronJobId, type } = alert;
  const failed =
    lacksSuccess(alert) && alert.endedAt === undefined
      ? known.get(cronJobId)?.failedRun?.jobName
      : isOfRate(alert)
        ? lastFailures.get(cronJobId)
        : undefined;
  const jobName = type === 'jobFailed' ? toWordedAlert(alert).facts.jobName : failed;
  return jobName === undefined ? undefined : { cronJobId, jobName };
}

/** The run of which a figure or the output breaks a promise; of runs that became slower, the newest one. */
function slowJobOf(alert: StoredAlert, cronJob: CatalogCronJob | undefined): string | undefined {
  if (alert.type === 'durationRegression') return cronJob?.lastRun?.jobName;
  return alert.type === 'slaBreached' ? toWordedAlert(alert).facts.jobName : undefined;
}

/** Where an annotation is an address. */
function runbookOf(cronJob: CatalogCronJob | undefined): string | undefined {
  const text = cronJob?.notes.runbook;
  return text !== undefined && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined;
}
