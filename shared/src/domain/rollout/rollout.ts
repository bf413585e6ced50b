import { alertTypes, alertTypeTable, severities, undoneWorkTypes } from '../../contract/vocabulary.ts';
import type { AlertType, RolloutState, ScheduleProblem, Severity } from '../../contract/index.ts';
import type { Execution } from '../execution/execution.ts';
import type { Instant } from '../instant.ts';
import { exitInWords } from '../execution/fault.ts';

/** A run of a job template that ended by itself. */
export interface TemplateRun {
  readonly jobUid: string;
  readonly jobName: string;
  readonly status: 'success' | 'failed';
  readonly createdAt: Instant;
  readonly finishedAt: Instant | undefined;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  readonly jobReason?: string | undefined;
}

/** What is known of the runs of the present job template. */
export interface TemplateRuns {
  /** The first that was created after the template was written; a template that came back may have older ones. */
  readonly first?: TemplateRun | undefined;
  /** The newest of all. */
  readonly last?: TemplateRun | undefined;
}

/** The job template that a CronJob has now. */
export interface JobTemplate {
  /** Equal for equal templates. */
  readonly hash: string;
  /** It was written then, in whole seconds where Kubernetes tells it. */
  readonly at: Instant;
}

/** An alert in state active or suppressed. */
export interface RolloutAlert {
  readonly type: AlertType;
  readonly severity: Severity;
  readonly sinceAt: Instant;
  /** When the run it speaks of was started; undefined: it speaks of none, or that is not known. */
  readonly runStartedAt?: Instant | undefined;
}

/** All that the rollout of a CronJob follows from. */
export interface RolloutFacts {
  readonly deletedAt: Instant | undefined;
  readonly isMonitored: boolean;
  readonly suspended: boolean;
  readonly problem: ScheduleProblem | undefined;
  /** Undefined: it was not read yet. */
  readonly template: JobTemplate | undefined;
  readonly templateRuns: TemplateRuns;
  readonly lastScheduleAt: Instant | undefined;
  readonly lastSuccessAt: Instant | undefined;
  /** Unfinished Jobs. */
  readonly running: number;
  readonly nextRunAt: Instant | undefined;
  readonly alerts: readonly RolloutAlert[];
}

export interface RolloutVerdict {
  readonly state: RolloutState;
  /** One sentence, the same as long as nothing happens. */
  readonly message: string;
  /** Of the condition Healthy, while Degraded: the label of the worst alert, LastRunFailed or ScheduleProblem. */
  readonly reason: string | undefined;
  readonly jobReason?: string | undefined;
}

/**
 * How the present job template of a CronJob fares, for those who roll it out. It forgets what earlier templates did: a fix of a failed one
 * is Progressing until it has run. The first that holds decides.
 */
export function rolloutOf(facts: RolloutFacts): RolloutVerdict {
  const { template } = facts;
  if (facts.deletedAt !== undefined) return verdict('Unknown', 'It was deleted.');
  if (!facts.isMonitored) return verdict('Unknown', 'No monitor selects it.');
  if (template === undefined) return verdict('Unknown', 'Its job template was not read yet.');
  if (facts.suspended) return verdict('Suspended', 'It is suspended.');
  const troubles = troublesOf(facts, template);
  if (troubles) return { state: 'Degraded', ...troubles };
  if (hasSucceeded(facts, template)) return verdict('Healthy', 'Its last run with this job template succeeded.');
  return verdict('Progressing', progressOf(facts));
}

/**
 * Whether a run is one of the present template: it was made from it, or after it was written, for a webhook may change what is made. A Job
 * of the second in which the template was written may be of the one before.
 */
function isOfTemplate(run: Pick<Execution, 'templateHash' | 'createdAt'>, { hash, at }: JobTemplate): boolean {
  return run.templateHash === hash || run.createdAt > at;
}

/** What is known of the runs of a template after one more ended, in whatever order they are told. */
export function withRun(runs: TemplateRuns, run: Execution, template: JobTemplate): TemplateRuns {
  const { jobUid, jobName, status, createdAt, finishedAt, exitCode, reason, jobReason } = run;
  // A Job that was deleted or replaced, or whose end was not seen, says nothing about what it ran.
  if (!(status === 'success' || status === 'failed') || !isOfTemplate(run, template)) return runs;
  const told: TemplateRun = { jobUid, jobName, status, createdAt, finishedAt, exitCode, reason, jobReason };
  const { first, last } = runs;
  const isFirst = createdAt >= template.at && (first === undefined || createdAt < first.createdAt);
  const isLast = last === undefined || createdAt >= last.createdAt;
  return { first: isFirst ? told : first, last: isLast ? told : last };
}

function verdict(state: RolloutState, message: string): RolloutVerdict {
  return { state, message, reason: undefined };
}

/** What is wrong with the present template, in one sentence; undefined: nothing is. */
function troublesOf(
  { problem, templateRuns: { last }, alerts }: RolloutFacts,
  template: JobTemplate,
): Pick<RolloutVerdict, 'message' | 'reason'> | undefined {
  const begun = alerts.filter((alert) => isAboutTemplate(alert, template)).toSorted(byWeight);
  const hasFailed = last?.status === 'failed';
  const exit = last ? exitInWords(last) : '';
  const parts = [
    ...(problem === undefined ? [] : [problemWords[problem]]),
    ...(hasFailed ? [`Its last run failed${exit === '' ? '' : ` (${exit})`}`] : []),
    // Of several monitors or subjects that tell the same the earliest stands for all.
    ...Map.groupBy(begun, ({ type }) => type)
      .values()
      .filter(([first]) => !(hasFailed && first?.type === 'jobFailed'))
      .map(sinceWhen),
  ];
  if (parts.length === 0) return undefined;
  const [worst] = begun;
  const own = hasFailed ? 'LastRunFailed' : 'ScheduleProblem';
  return { message: `${parts.join('; ')}.`, reason: worst ? alertTypeTable[worst.type].label : own };
}

function sinceWhen(alerts: readonly RolloutAlert[]): string {
  const label = alerts[0] && alertTypeTable[alerts[0].type].label;
  return `${label} since ${timeText(Math.min(...alerts.map(({ sinceAt }) => sinceAt)))}`;
}

const problemWords: Readonly<Record<ScheduleProblem, string>> = {
  unparsable: 'Its schedule cannot be read',
  unknownZone: 'Its time zone is not known',
  zoneMismatch: 'Its schedule is read in another time zone than the cluster uses',
  neverRuns: 'Its schedule never comes',
};

/** An alert of before, or of a run that was started before, is about an earlier template. */
function isAboutTemplate({ type, sinceAt, runStartedAt }: RolloutAlert, { at }: JobTemplate): boolean {
  return undoneWorkTypes.includes(type) && sinceAt > at && (runStartedAt === undefined || runStartedAt >= at);
}

function byWeight(a: RolloutAlert, b: RolloutAlert): number {
  return (
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    alertTypes.indexOf(a.type) - alertTypes.indexOf(b.type)
  );
}

/** As recorded; where no run is kept, as the cluster tells: of a run that was due and succeeded since the template was written. */
function hasSucceeded(
  { templateRuns: { last }, lastScheduleAt = -Infinity, lastSuccessAt = -Infinity }: RolloutFacts,
  { at }: JobTemplate,
): boolean {
  return last ? last.status === 'success' : lastScheduleAt > at && lastSuccessAt > at;
}

function progressOf({ running, nextRunAt }: RolloutFacts): string {
  if (running > 0) return 'No run with this job template has ended; one goes on.';
  const next = nextRunAt === undefined ? '' : `; the next is due ${timeText(nextRunAt)}`;
  return `No run with this job template has ended${next}.`;
}

/** Whole seconds, UTC. */
function timeText(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
