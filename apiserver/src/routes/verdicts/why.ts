import type { Told, VerdictKind } from '@cronjob-monitor/shared/contract';
import {
  exitInWords,
  failureOf,
  isAboutRun,
  openRunOf,
  stepOf,
  toAbsence,
  waitingCause,
  type VerdictAddition,
} from '@cronjob-monitor/shared/domain';
import {
  listActiveJobs,
  listCronJobsById,
  type CatalogCronJob,
  type NamedRun,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import type { RouteDeps } from '../deps.ts';
import { explainNamed } from './explain-run.ts';
import { gatherFindings } from './findings.ts';
import { toWordedAlert } from './of-alert.ts';
import type { Surroundings } from './surroundings.ts';

/** What explains a judgement, and what to do next about it. */
type Explanation = Pick<VerdictAddition, 'cause' | 'change' | 'logLine' | 'step' | 'findings'>;

/** Explains alerts, and CronJobs that have none: the same alert in the same way wherever it is shown. */
export interface Why {
  readonly ofAlert: (alert: StoredAlert, told: Told) => Explanation;
  /** Of a CronJob without an open alert. */
  readonly ofCronJob: (cronJob: CatalogCronJob, kind: VerdictKind) => Explanation;
}

/** Reads what explains them, with a handful of questions however many they are. */
export async function gatherWhy(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  { alerts, cronJobs = [] }: { readonly alerts: readonly StoredAlert[]; readonly cronJobs?: readonly CatalogCronJob[] },
  surroundings: Pick<Surroundings, 'now'>,
): Promise<Why> {
  const { store } = deps;
  const known = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const unknown = [...new Set(alerts.map(({ cronJobId }) => cronJobId).filter((id) => !known.has(id)))];
  for (const cronJob of await listCronJobsById(store, unknown)) known.set(cronJob.id, cronJob);
  const findings = await gatherFindings(deps, alerts, surroundings);
  const runs = [
    ...alerts.flatMap((alert) => runOf(alert, known.get(alert.cronJobId)) ?? []),
    ...cronJobs.flatMap(({ id, failedRun }): NamedRun[] =>
      failedRun ? [{ cronJobId: id, jobName: failedRun.jobName }] : [],
    ),
  ];
  const explained = await explainNamed(store, runs);
  const waitingOf = await gatherWaits(store, alerts.filter(isStuck), known);
  return {
    ofAlert(alert, told) {
      const cronJob = known.get(alert.cronJobId);
      const run = runOf(alert, cronJob);
      const why = run && explained(run);
      const found = findings(alert);
      const { facts } = toWordedAlert(alert);
      const step = stepOf({
        cronJob: alert.cronJob,
        kind: alert.type,
        findings: found,
        run: run && (why?.step ?? openRunOf(alert.cronJob, run.jobName)),
        waiting:
          alert.type === 'jobStuck' && facts.jobName !== undefined
            ? { jobName: facts.jobName, reason: facts.reason }
            : undefined,
        runbook: runbookOf(cronJob),
        isSuspended: cronJob?.suspended ?? false,
        absence: toAbsence(facts.verdict?.detail)?.cause,
        told,
        monitor: alert.monitor,
      });
      const failed = run && (why?.cause ?? (exitInWords(failureOf(facts)) || undefined));
      return {
        cause: failed ?? (isStuck(alert) ? waitingOf(alert) : undefined),
        change: why?.change,
        logLine: why?.logLine,
        step: alert.endedAt === undefined ? step : run && why?.step,
        findings: found,
      };
    },

    ofCronJob(cronJob, kind) {
      const { id, namespace, name, failedRun, waiting } = cronJob;
      const run = failedRun && isAboutRun(kind) ? { cronJobId: id, jobName: failedRun.jobName } : undefined;
      const why = run && explained(run);
      const step = stepOf({
        cronJob: { namespace, name },
        kind,
        findings: [],
        run: run && (why?.step ?? openRunOf({ namespace, name }, run.jobName)),
        waiting: kind === 'waiting' ? waiting : undefined,
        runbook: runbookOf(cronJob),
        isSuspended: cronJob.suspended,
        absence: undefined,
        told: undefined,
        monitor: undefined,
      });
      const failed = run && (why?.cause ?? ((failedRun && exitInWords(failedRun)) || undefined));
      const cause = failed ?? (kind === 'waiting' && waiting ? waitingCause(waiting) : undefined);
      return { cause, change: why?.change, logLine: why?.logLine, step, findings: [] };
    },
  };
}

const isStuck = ({ type, endedAt }: StoredAlert): boolean => type === 'jobStuck' && endedAt === undefined;

/** What keeps Jobs from starting: what waits in vain is known of its CronJob, the rest is asked of the Jobs themselves. */
async function gatherWaits(
  store: RouteDeps['store'],
  stuck: readonly StoredAlert[],
  known: ReadonlyMap<number, CatalogCronJob>,
): Promise<(alert: StoredAlert) => string | undefined> {
  const asked = [...new Set(stuck.map(({ cronJobId }) => cronJobId).filter((id) => !known.get(id)?.waiting))];
  const jobs = asked.length === 0 ? [] : await listActiveJobs(store, asked);
  return ({ cronJobId }) => {
    const waiting = known.get(cronJobId)?.waiting;
    if (waiting) return waitingCause(waiting);
    const job = jobs.find((one) => one.cronJobId === cronJobId && one.waitingReason !== undefined);
    return job && waitingCause({ reason: job.waitingReason, message: job.waitingMessage });
  };
}

/** The run that an alert is about; of a CronJob without a success the one that failed last. */
function runOf(alert: StoredAlert, cronJob: CatalogCronJob | undefined): NamedRun | undefined {
  const { cronJobId, type, subject } = alert;
  const lacksSuccess = type === 'deadManTriggered' || subject === 'neverSucceeded';
  const failed = lacksSuccess && alert.endedAt === undefined ? cronJob?.failedRun?.jobName : undefined;
  const jobName = type === 'jobFailed' ? toWordedAlert(alert).facts.jobName : failed;
  return jobName === undefined ? undefined : { cronJobId, jobName };
}

/** Where an annotation is an address. */
function runbookOf(cronJob: CatalogCronJob | undefined): string | undefined {
  const text = cronJob?.notes.runbook;
  return text !== undefined && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined;
}
