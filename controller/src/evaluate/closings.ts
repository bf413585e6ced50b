import {
  isGroupName,
  madeAnewWithinMs,
  type AlertFinding,
  type AlertRules,
  type CloseCause,
  type CronJobFacts,
  type Instant,
} from '@cronjob-monitor/shared/domain';
import type { AlertRecord, JudgingMonitor } from '@cronjob-monitor/shared/store';
import { findingOf } from './findings.ts';
import { forgetAt, type Subject } from './subject.ts';

/** Rules of a finding that closes an alert: no setting of the monitor decides anything there. */
export const noRules: AlertRules = {
  severityOverrides: undefined,
  alertDelayMs: 0,
  suppressDuplicatesForMs: 0,
  remindEveryMs: 0,
  renotifyOnChangedError: false,
  alerting: undefined,
  windows: [],
  recoveryMs: 0,
};

/** What the cluster says about the CronJob and its monitors. */
export interface ClosingFacts {
  readonly now: Instant;
  /** Whether another object of the CronJob's name is there. */
  readonly isRecreated: boolean;
  /**
   * Whether the monitor of this name, as the cluster has it now, does not select the CronJob. False for an unreadable monitor, whose alerts wait
   * for its repair, and for an absent one, whose alerts wait until its row is marked deleted.
   */
  readonly isDeselected: (
    monitor: { readonly namespace: string; readonly name: string },
    cronJob: CronJobFacts,
  ) => boolean;
}

/** Closes alerts whose CronJob or monitor was deleted, or whose monitor no longer selects the CronJob. */
export function closingsOf(subject: Subject, of: ClosingFacts): AlertFinding[] {
  return subject.alerts.flatMap((alert) => {
    // An alert about a missing name is closed by the expectations of its monitor.
    if (alert.subject === 'disappeared') return [];
    const cause = causeOf(subject, alert, of);
    const monitor = subject.row.monitors.find(({ id }) => id === alert.monitorId);
    if (cause === undefined || monitor === undefined) return [];
    const { id, id16: uid, namespace, name } = monitor;
    const from = { monitor: { id, uid, namespace, name }, rules: noRules };
    return [findingOf(subject, from, alert, { kind: 'gone', cause, endedAt: endOf(cause, subject, monitor) })];
  });
}

/** The instant since which the alert cannot be judged. */
function endOf(cause: CloseCause, { row }: Subject, { deletedAt, removedAt }: JudgingMonitor): Instant | undefined {
  if (row.deletedAt !== undefined || cause === 'forgotten') return row.deletedAt;
  return deletedAt === undefined ? removedAt : deletedAt + madeAnewWithinMs;
}

function causeOf(subject: Subject, alert: AlertRecord, of: ClosingFacts): CloseCause | undefined {
  const { row, facts, watches } = subject;
  const watch = watches.find(({ monitor }) => monitor.id === alert.monitorId);
  if (watch && (forgetAt(subject, watch) ?? Infinity) <= of.now) return 'forgotten';
  if (row.deletedAt !== undefined && isGroupName(row.name)) return 'forgotten';
  if (row.deletedAt !== undefined) return of.isRecreated ? 'cronJobRecreated' : 'cronJobDeleted';
  // The cache lacks the CronJob: its row is about to be marked deleted, or the cache is behind.
  if (facts === undefined || watch) return undefined;
  const monitor = row.monitors.find(({ id }) => id === alert.monitorId);
  if (monitor === undefined) return undefined;
  if (monitor.deletedAt !== undefined)
    return of.now < monitor.deletedAt + madeAnewWithinMs ? undefined : 'monitorDeleted';
  // Where the row and the cluster disagree, the row is about to be written: it decides then.
  return !monitor.selects && of.isDeselected(monitor, facts) ? 'deselected' : undefined;
}
