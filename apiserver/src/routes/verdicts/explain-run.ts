import type { VerdictStep } from '@cronjob-monitor/shared/contract';
import {
  createFixMatcher,
  exitInWords,
  type Attempt,
  type FixMatcher,
  type FixPattern,
  type VerdictAddition,
} from '@cronjob-monitor/shared/domain';
import {
  findExecution,
  findTemplate,
  listEvidence,
  listMonitors,
  listMonitorsOf,
  type CatalogCronJob,
  type Db,
  type Evidence,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { fixPatternsOf, isObject } from '../../monitor-spec.ts';

/** What is known of why a run failed, computed when it is read: a run that was recorded after the service was away has it too. */
export interface ExplainedRun extends Pick<VerdictAddition, 'cause' | 'step'> {
  readonly suggestedFix: string | undefined;
}

/** Of the built-in patterns, and of those of monitors that look into no text. */
const matcher: FixMatcher = createFixMatcher();

/** Of so many failed runs of one answer what was captured is read; the others say what their rows say. */
const mostRead = 50;

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
  for (const run of failed.slice(0, mostRead)) explained.set(run.jobUid, await explain(db, cronJobId, run, patterns));
  return explained;
}

/** The same of the last failed run of each of these CronJobs that was killed for lack of memory: only its spec tells the limit. By id. */
export async function explainKilled(
  db: Db,
  cronJobs: readonly CatalogCronJob[],
): Promise<ReadonlyMap<number, ExplainedRun>> {
  const explained = new Map<number, ExplainedRun>();
  const killed = cronJobs.filter(({ failedRun }) => failedRun?.reason === 'OOMKilled').slice(0, mostRead);
  for (const { id, failedRun } of killed) {
    const run = failedRun && (await findExecution(db, { cronJobIds: [id], jobName: failedRun.jobName }));
    if (run) explained.set(id, await explain(db, id, { ...run, fix: run.fix ?? '' }, []));
  }
  return explained;
}

async function explain(
  db: Db,
  cronJobId: number,
  run: StoredExecution,
  patterns: readonly FixPattern[],
): Promise<ExplainedRun> {
  const isKilled = run.reason === 'OOMKilled';
  const evidence = run.fix === undefined || isKilled ? await listEvidence(db, run.jobUid) : [];
  const killed = isKilled ? await memoryOf(db, cronJobId, run, evidence) : undefined;
  return {
    cause: killed?.cause ?? (exitInWords(run) || undefined),
    step: killed?.step ?? openRun(run),
    suggestedFix: run.fix ?? suggest(run, evidence, patterns, killed?.container),
  };
}

/** The run itself is the next thing to look at. */
export function openRun({
  namespace,
  cronJobName,
  jobName,
}: Pick<StoredExecution, 'namespace' | 'cronJobName' | 'jobName'>): VerdictStep {
  const href = `/cronjobs/${namespace}/${cronJobName}/runs/${jobName}`;
  return { action: 'openRun', words: 'Open the run', command: null, href };
}

function suggest(
  run: StoredExecution,
  evidence: readonly Evidence[],
  patterns: readonly FixPattern[],
  container: string | undefined,
): string | undefined {
  const body = (kind: Evidence['kind']): string | undefined =>
    evidence.find((one) => one.kind === kind && one.body !== undefined)?.body;
  const events = JSON.parse(body('events') ?? '[]') as readonly { reason: string; message: string }[]; // as capture wrote it
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
      reasons: known,
      log: body('logs'),
      events: events.map(({ reason, message }) => `${reason}: ${message}`),
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

function attemptsIn(evidence: readonly Evidence[]): readonly Attempt[] {
  const captured = evidence.find(({ kind, body }) => kind === 'attempts' && body !== undefined);
  return captured?.body === undefined ? [] : (JSON.parse(captured.body) as readonly Attempt[]); // as capture wrote it
}

/** The container that was killed, with its limit; undefined when the spec of the run is not kept. */
async function memoryOf(
  db: Db,
  cronJobId: number,
  run: StoredExecution,
  evidence: readonly Evidence[],
): Promise<{ readonly container: string; readonly cause: string; readonly step: VerdictStep } | undefined> {
  if (run.templateHash === undefined) return undefined;
  const containers = containersOf(await findTemplate(db, cronJobId, run.templateHash));
  const killed = attemptsIn(evidence)
    .flatMap((attempt) => attempt.containers)
    .find(({ reason }) => reason === 'OOMKilled')?.name;
  const container =
    containers.find(({ name }) => name === killed) ?? (containers.length === 1 ? containers[0] : undefined);
  if (!container) return undefined;
  const { name, limit } = container;
  const times = run.attempts > 1 ? ` in ${run.attempts} attempts` : '';
  if (limit === undefined) {
    const step = {
      ...openRun(run),
      words: `Container ${name} has no memory limit of its own: its node or pod ran out of memory`,
    };
    return { container: name, cause: `Container ${name} was killed for lack of memory${times}`, step };
  }
  const doubled = doubledMemory(limit);
  const { namespace, cronJobName } = run;
  const patch = {
    spec: {
      jobTemplate: {
        spec: { template: { spec: { containers: [{ name, resources: { limits: { memory: doubled } } }] } } },
      },
    },
  };
  return {
    container: name,
    cause: `Container ${name} was killed at its memory limit of ${limit}${times}`,
    step: {
      action: 'copyPatch',
      words: `Raise the memory limit of container ${name} from ${limit} to ${doubled}, or make it use less`,
      command: `kubectl -n ${namespace} patch cronjob ${cronJobName} --patch '${JSON.stringify(patch)}'`,
      href: null,
    },
  };
}

function containersOf(spec: unknown): readonly { readonly name: string; readonly limit: string | undefined }[] {
  const inside = (value: unknown, ...keys: readonly string[]): unknown =>
    keys.reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), value);
  const listed = inside(spec, 'template', 'spec', 'containers');
  return (Array.isArray(listed) ? (listed as readonly unknown[]) : []).flatMap((container) => {
    const name = inside(container, 'name');
    const limit = inside(container, 'resources', 'limits', 'memory');
    return typeof name === 'string' ? [{ name, limit: typeof limit === 'string' ? limit : undefined }] : [];
  });
}

/** `512Mi` doubled is `1Gi`; a quantity of another form is doubled as it stands. */
function doubledMemory(limit: string): string {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(limit) ?? [];
  if (digits === '') return limit;
  const twice = 2 * Number(digits);
  const larger: Readonly<Record<string, string>> = { Ki: 'Mi', Mi: 'Gi', Gi: 'Ti' };
  const next = larger[unit];
  return next !== undefined && twice >= 1_024 && twice % 1_024 === 0 ? `${twice / 1_024}${next}` : `${twice}${unit}`;
}

/** The patterns in force for a CronJob that need no search of a text: searches run in a thread as the run is recorded. */
async function listPatterns(db: Db, cronJobId: number): Promise<readonly FixPattern[]> {
  const [monitors, selecting] = await Promise.all([listMonitors(db), listMonitorsOf(db, [cronJobId])]);
  const ids = new Set(selecting.map(({ monitorId }) => monitorId));
  return monitors
    .filter(({ id }) => ids.has(id))
    .flatMap(({ spec }) => fixPatternsOf(spec))
    .filter(({ match }) => !match.logPattern && !match.eventPattern && !match.reasonPattern);
}
