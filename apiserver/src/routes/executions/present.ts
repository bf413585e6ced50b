import type {
  Alert,
  CapturedEvent,
  CapturedLog,
  DecisiveLine,
  Execution,
  ExecutionDetail,
  ExecutionPod,
  ExecutionStatus,
  HealthState,
  Verdict,
  VerdictKind,
} from '@cronjob-monitor/shared/contract';
import {
  changeWords,
  compareRuns,
  formatDuration,
  exitInWords,
  limitInWords,
  runWords,
  toVerdict,
  type VerdictAddition,
  attemptsIn,
  eventsIn,
} from '@cronjob-monitor/shared/domain';
import type { ComparedRuns, Evidence, StoredExecution } from '@cronjob-monitor/shared/store';
import type { ExplainedRun } from '../verdicts/explain-run.ts';
import { orNull, toSecondsOrNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { refText } from '@cronjob-monitor/shared/contract';

export function presentExecution(run: StoredExecution, addition: VerdictAddition, explained?: ExplainedRun): Execution {
  return {
    id: run.inferred ? `inferred-${run.jobUid}` : run.jobUid,
    namespace: run.namespace,
    cronJobName: run.cronJobName,
    cronJobUid: run.cronJobUid,
    jobName: run.jobName,
    status: run.status,
    verdict: verdictOfRun(run, { ...addition, ...whyOf(explained) }),
    trigger: run.trigger,
    scheduledTime: toWireInstantOrNull(run.scheduledAt),
    createdAt: toWireInstant(run.createdAt),
    startTime: toWireInstantOrNull(run.startedAt),
    completionTime: toWireInstantOrNull(run.finishedAt),
    duration: run.durationMs === undefined ? null : formatDuration(run.durationMs),
    durationSeconds: toSecondsOrNull(run.durationMs),
    exitCode: orNull(run.exitCode),
    reason: orNull(run.reason),
    jobReason: orNull(run.jobReason),
    cause: run.fault?.cause ?? null,
    scope: run.fault?.scope ?? null,
    attempts: run.attempts,
    failedIndexes: orNull(run.failedIndexes),
    isRetry: run.isRetry,
    retryOf: orNull(run.retryOf),
    delayed: run.delayed,
    inferred: run.inferred,
    inMaintenance: run.inMaintenance,
    hasLogs: run.hasLogs,
    hasEvents: run.hasEvents,
    suggestedFix: orNull(explained?.suggestedFix ?? run.fix),
    facts: Object.fromEntries([...run.facts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Empty for a run without an explanation: its exit code is all that is known. */
function whyOf(explained: ExplainedRun | undefined): Pick<VerdictAddition, 'cause' | 'change' | 'logLine' | 'step'> {
  if (!explained) return {};
  const { cause, change, logLine, step } = explained;
  return { cause, change, logLine, step };
}

/** The run with what was captured of it. `withheld`: the caller may not read logs and events. `compared`: with which success. */
export function presentExecutionDetail(
  run: StoredExecution,
  evidence: readonly Evidence[],
  options: {
    readonly withheld: boolean;
    readonly compared: ComparedRuns | undefined;
    readonly addition: VerdictAddition;
    readonly explained: ExplainedRun | undefined;
    readonly decisive: readonly DecisiveLine[];
    readonly alerts: readonly Alert[];
  },
): ExecutionDetail {
  const { withheld, compared, addition, explained, decisive, alerts } = options;
  return {
    ...presentExecution(run, addition, explained ?? explainSlow(run, alerts, compared)),
    withheld,
    pods: presentPods(evidence),
    logs: withheld ? null : presentLog(evidence),
    events: withheld ? null : presentEvents(evidence),
    decisive: withheld ? [] : decisive,
    alerts: alerts.map(({ id, type, severity, state, verdict }) => ({ id, type, severity, state, verdict })),
    changes: compared === undefined ? null : compareRuns(compared.before, compared.after),
  };
}

/** A run that succeeded and took too long: which alert says so, what changed with it, and what to do. Undefined: no alert does. */
function explainSlow(
  run: StoredExecution,
  alerts: readonly Alert[],
  compared?: ComparedRuns,
): ExplainedRun | undefined {
  const alert = alerts.find(({ type, subject }) => type === 'durationRegression' || subject === 'maxDuration');
  if (run.status !== 'success' || !alert) return undefined;
  const monitor = refText(alert.monitor);
  const limit = alert.context.limit === null ? 'time' : limitInWords(alert.context.limit);
  const tooLong = `it took longer than the ${limit} that monitor ${monitor} allows`;
  const slower = `runs take longer than before: ${limit} is the limit of monitor ${monitor}`;
  const words = 'Look at what differs from the last success, or allow it more time in the rules';
  return {
    cause: alert.type === 'slaBreached' ? tooLong : slower,
    change: compared && changeWords(compareRuns(compared.before, compared.after)),
    logLine: undefined,
    step: { action: 'openRules', words, command: null, href: `/monitors/${monitor}?part=rules` },
    suggestedFix: undefined,
  };
}

function presentPods(evidence: readonly Evidence[]): ExecutionPod[] {
  return attemptsIn(evidence).map((attempt) => ({
    name: attempt.pod,
    node: orNull(attempt.node),
    phase: attempt.phase,
    index: orNull(attempt.index),
    startTime: toWireInstantOrNull(attempt.startedAt),
    endTime: toWireInstantOrNull(attempt.endedAt),
    containers: attempt.containers.map((container) => ({
      name: container.name,
      init: container.init,
      exitCode: orNull(container.exitCode),
      reason: orNull(container.reason),
      message: orNull(container.message),
      restarts: container.restarts,
    })),
  }));
}

/** One log of possibly several: the newest that has a text before one that only says why there is none. */
export function mainLog(evidence: readonly Evidence[]): Evidence | undefined {
  const logs = evidence.filter(({ kind }) => kind === 'logs').toSorted((a, b) => b.capturedAt - a.capturedAt);
  return logs.find(({ body }) => body !== undefined) ?? logs[0];
}

/** Null: none was captured. */
export function presentLog(evidence: readonly Evidence[]): CapturedLog | null {
  const log = mainLog(evidence);
  if (!log) return null;
  return {
    container: log.name.split('/').at(-1) ?? log.name, // kept under pod/container
    text: log.body ?? '',
    truncated: log.truncated,
    capturedAt: toWireInstant(log.capturedAt),
    unavailable: orNull(log.unavailable),
  };
}

/** Null: none were captured. */
export function presentEvents(evidence: readonly Evidence[]): CapturedEvent[] | null {
  if (!evidence.some(({ kind }) => kind === 'events')) return null;
  return eventsIn(evidence).map((event) => ({
    time: toWireInstantOrNull(event.at),
    type: event.type,
    reason: event.reason,
    object: event.object,
    message: event.message,
    count: event.count,
  }));
}

const standings: Readonly<Record<ExecutionStatus, { readonly state: HealthState; readonly kind: VerdictKind }>> = {
  success: { state: 'healthy', kind: 'succeeded' },
  failed: { state: 'failing', kind: 'jobFailed' },
  replaced: { state: 'unknown', kind: 'deleted' },
  deleted: { state: 'unknown', kind: 'deleted' },
  unobserved: { state: 'unknown', kind: 'notEvaluated' },
};

/** What is said of one ended run. */
function verdictOfRun(run: StoredExecution, addition: VerdictAddition): Verdict {
  const told = { words: runWords(run), sinceAt: run.finishedAt ?? run.createdAt };
  const cause = run.status === 'failed' ? exitInWords(run) || undefined : undefined;
  return toVerdict(standings[run.status], told, { cause, ...addition });
}
