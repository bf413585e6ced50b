import type { AdviceLevel } from '@cronjob-monitor/shared/contract';
import { lintLevels, type LintCode } from '@cronjob-monitor/shared/domain';

/** What the check of settings finds, and what the history of CronJobs and their channels say besides. */
export type AdviceCode = LintCode | 'NotHeard' | 'NeverSucceeded' | 'OutOfMemory' | 'SuspendedLong';

/** What each kind comes to, in the order in which kinds of one level are told. */
const words: Readonly<Record<AdviceCode, string>> = {
  ScheduleInvalid: 'The schedule cannot be read: no run is expected, and none is missed',
  ZoneUnknown: 'The time zone is not known: no run is expected, and none is missed',
  ScheduleNeverFires: 'The schedule names no day that comes',
  EveryNeverRuns: 'The starting deadline is over before the interval is: no run ever starts',
  NotHeard: 'If it fails, no channel is told',
  OutOfMemory: 'The memory limit is too small for its last run',
  NeverSucceeded: 'No run has succeeded yet',
  DeadManShorterThanPeriod: 'The limit is no longer than the schedule: its alert comes although all is well',
  MaxDurationUnreachable: 'A longest duration that runs cannot keep, or never reach',
  RunsLongerThanPeriod: 'Runs take longer than the time to the next one: starts are late or skipped',
  StartingDeadlineTight: 'The starting deadline is shorter than starts in this cluster may take: runs are skipped',
  ForbidWithoutDeadline: 'One run that hangs stops all later ones: Forbid without a deadline',
  HistoryTooShort: 'Jobs go before they can be looked at: what ended while the service was away is lost',
  OutputLogsGone:
    'Output is read from logs that may be gone before they are read: what it says is not known, and is not judged',
  EveryBelowMinute: 'An interval below a minute, which no cluster keeps',
  ZoneInSchedule: 'Kubernetes refuses a zone in the schedule',
  SlaWindowTooSmall: 'Too few runs come in the window for a rate to be judged',
  SlaWindowBeyondRetention: 'The window reaches back further than runs are kept',
  WindowStaysOpen: 'A maintenance window that stays open: what goes wrong is told to no channel',
  SeverityNotRouted: 'Alerts of a severity that no channel takes',
  ChannelUnknown: 'Channels that are named and cannot be sent to',
  DependencyUnknown: 'What it waits for is not known, so it does not wait',
  DependencyCycle: 'CronJobs that wait for each other: none of them waits',
  AnnotationInvalid: 'Annotations that cannot be used',
  SuspendedLong: 'Suspended for more than a week, and no rule says when that is too long',
  SelectorEmpty: 'A monitor that selects no CronJob',
  MaxDurationFarAbove: 'A longest duration far above what runs take: one that hangs is told late',
  SlotInDstChange: 'A run falls into a change of the clocks: that day it comes twice, or not at its time',
  ZoneNotDeclared: 'No time zone is declared: the cluster decides when they run',
  LastLogLost: 'The last log is lost with the pod at the last retry',
  RetriesOutlastPeriod: 'A run with all its retries takes longer than the time to the next run',
  CrowdedMinute: 'Many CronJobs start in one minute',
};

const order = Object.keys(words);

/** Its place among the kinds. */
export function rankOf(code: AdviceCode): number {
  return order.indexOf(code);
}

export function levelOf(code: AdviceCode): AdviceLevel {
  if (code === 'SuspendedLong') return 'note';
  return code in lintLevels ? lintLevels[code as LintCode] : 'warning';
}

export function kindWords(code: AdviceCode): string {
  return words[code];
}
