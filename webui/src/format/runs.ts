import {
  suspendedJob,
  type ActiveJob,
  type DecisiveLine,
  type DecisiveReason,
  type Execution,
  type FailureCause,
  type ExecutionStatus,
  type ExecutionTrigger,
  type SlotOutcome,
} from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { safeText } from './safe-text.ts';
import { shortDayText } from './time.ts';

/** How a run or an expected run is drawn in a strip, a grid or a legend. */
export type BarShape =
  | 'full'
  | 'crossed'
  | 'running'
  | 'half'
  | 'open'
  | 'hatched'
  | 'clock'
  | 'dashed'
  | 'one'
  | 'two'
  | 'three'
  | 'unsure'
  | 'dot';

/** What became of a run or an expected run: the word, the bar of a strip, and the shape where there is room for an icon. */
export interface RunMark extends Mark {
  readonly bar: BarShape;
}

export const executionMarks: Readonly<Record<ExecutionStatus, RunMark>> = {
  success: { word: 'Succeeded', bar: 'full', shape: 'check', tone: 'ok' },
  failed: { word: 'Failed', bar: 'crossed', shape: 'cross', tone: 'crit' },
  replaced: { word: 'Replaced', bar: 'half', shape: 'merge', tone: 'off' },
  deleted: { word: 'Deleted', bar: 'open', shape: 'dash', tone: 'off' },
  unobserved: { word: 'Not seen', bar: 'hatched', shape: 'question', tone: 'off' },
};

type Unmatched = Exclude<SlotOutcome, 'matched'>;

/** What became of an expected run that no ordinary run answered. */
export const slotMarks: Readonly<Record<Unmatched, RunMark>> = {
  late: { word: 'Late', bar: 'clock', shape: 'hourglass', tone: 'warn' },
  missed: { word: 'Missed', bar: 'dashed', shape: 'cross', tone: 'crit' },
  skippedForbid: { word: 'Skipped', bar: 'one', shape: 'bar', tone: 'off' },
  skippedDeadline: { word: 'Too late', bar: 'two', shape: 'bar', tone: 'off' },
  suspended: { word: 'Suspended', bar: 'three', shape: 'bars', tone: 'off' },
  unobserved: { word: 'Not seen', bar: 'hatched', shape: 'question', tone: 'off' },
  indeterminate: { word: 'Cannot be told', bar: 'unsure', shape: 'question', tone: 'off' },
};

/** Due, and not judged yet. */
const dueMark: RunMark = { word: 'Due', bar: 'dot', shape: 'dot', tone: 'off' };
const goesOnMark: RunMark = { word: 'Running', bar: 'running', shape: 'triangle', tone: 'run' };

const faultWords: Readonly<Record<FailureCause, string>> = {
  platform: 'Platform: what runs the cluster',
  capacity: 'Capacity: there was not enough room',
  configuration: 'Configuration: the run cannot work as it is set up',
  application: 'Application: the program itself failed',
};

/** `Platform: what runs the cluster (node node-3)`; undefined: nothing tells. */
export function faultText({ cause, scope }: Pick<Execution, 'cause' | 'scope'>): string | undefined {
  if (cause === null) return undefined;
  return scope === null ? faultWords[cause] : `${faultWords[cause]} (${safeText(scope)})`;
}

const decisiveWords: Readonly<Record<DecisiveReason, string>> = {
  pattern: 'A fix pattern was found here',
  word: 'Last line that speaks of an error',
  lastLine: 'Last line of the log',
};

/** Why a line is decisive, and since when failures have one that says the same: `Last line of the log, seen first on 20 Nov`. */
export function decisiveText(
  { by, firstSeenAt }: Pick<DecisiveLine, 'by' | 'firstSeenAt'>,
  run: Pick<Execution, 'completionTime'> | undefined,
  timeZone: string,
): string {
  if (firstSeenAt === null) return decisiveWords[by];
  const isFirst = firstSeenAt === run?.completionTime;
  return `${decisiveWords[by]}, ${isFirst ? 'first failure with this line' : `seen first on ${shortDayText(firstSeenAt, timeZone)}`}`;
}

/** One entry of a strip: how the run ended says more than that it was late, unless it succeeded. */
export function runMark(run: { outcome: SlotOutcome | null; status: ExecutionStatus | null }): RunMark {
  if (run.status === 'success' && run.outcome === 'late') return slotMarks.late;
  if (run.status !== null) return executionMarks[run.status];
  if (run.outcome === null) return dueMark;
  if (run.outcome === 'matched') return goesOnMark;
  return slotMarks[run.outcome];
}

/** What started a run. */
export const triggerWords: Readonly<Record<ExecutionTrigger, string>> = {
  scheduled: 'Scheduled',
  manual: 'Manual',
  rerun: 'Run again',
  unmatched: 'Not by its schedule',
};

/** No container of it has begun, and Kubernetes says why. */
export function isStartless({ podPhase, waitingReason }: Pick<ActiveJob, 'podPhase' | 'waitingReason'>): boolean {
  return waitingReason != null && waitingReason !== '' && (podPhase === null || podPhase === 'Pending');
}

/** Its Job is suspended: it runs when that resumes, and has no clock until then. */
export function isSuspended({ waitingReason }: Pick<ActiveJob, 'waitingReason'>): boolean {
  return waitingReason === suspendedJob;
}

/** How a run is that has not ended. */
export function activeRunMark(job: Pick<ActiveJob, 'podPhase' | 'waitingReason'>): RunMark {
  if (isSuspended(job)) return slotMarks.suspended;
  return isStartless(job) ? { word: 'Not started', bar: 'dot', shape: 'hourglass', tone: 'warn' } : goesOnMark;
}

/** What an active run waits for: `Waits: ImagePullBackOff, no such image`; undefined while it waits for nothing that is known. */
export function waitingText({
  waitingReason,
  waitingMessage,
}: Pick<ActiveJob, 'waitingReason' | 'waitingMessage'>): string | undefined {
  if (isSuspended({ waitingReason })) return waitingMessage ?? undefined;
  const parts = [waitingReason, waitingMessage].filter((part) => part != null && part !== '');
  return parts.length === 0 ? undefined : `Waits: ${parts.join(', ')}`;
}

/** `exit code 137, OOMKilled`; undefined when nothing is known. */
export function causeText(run: { exitCode: number | null; reason: string | null }): string | undefined {
  const parts = [run.exitCode === null ? null : `exit code ${run.exitCode}`, run.reason];
  return parts.filter((part) => part !== null).join(', ') || undefined;
}
