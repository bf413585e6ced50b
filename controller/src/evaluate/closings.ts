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

/** They are not asked for any more: what an alert is closed by needs none of a monitor's wishes. */
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

/** What the cluster says besides. */
export interface ClosingFacts {
  readonly now: Instant;
  /** Whether another object of the CronJob's name is there. */
  readonly isRecreated: boolean;
  /**
   * Whether the monitor of this name, as it is in the cluster, says that it does not select the CronJob. One that cannot be read, and one that
   * is not there, says nothing: its alerts wait for its repair, or for its row to say that it is gone.
   */
  readonly isDeselected: (
    monitor: { readonly namespace: string; readonly name: string },
    cronJob: CronJobFacts,
  ) => boolean;
}

/** Alerts that can be judged no more: their CronJob or their monitor is gone, or the monitor selects it no longer. */
export function closingsOf(subject: Subject, of: ClosingFacts): AlertFinding[] {
  return subject.alerts.flatMap((alert) => {
    // Its row stands for the name: who expects it decides.
    if (alert.subject === 'disappeared') return [];
    const cause = causeOf(subject, alert, of);
    const monitor = subject.row.monitors.find(({ id }) => id === alert.monitorId);
    if (cause === undefined || monitor === undefined) return [];
    const { id, id16: uid, namespace, name } = monitor;
    const from = { monitor: { id, uid, namespace, name }, rules: noRules };
    return [findingOf(subject, from, alert, { kind: 'gone', cause, endedAt: endOf(cause, subject, monitor) })];
  });
}

/** When it could be judged no more. */
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
  // Not seen: its row is about to be marked, or is about to be written.
  if (facts === undefined || watch) return undefined;
  const monitor = row.monitors.find(({ id }) => id === alert.monitorId);
  if (monitor === undefined) return undefined;
  if (monitor.deletedAt !== undefined)
    return of.now < monitor.deletedAt + madeAnewWithinMs ? undefined : 'monitorDeleted';
  // A row that says otherwise than the cluster is about to be written.
  return !monitor.selects && of.isDeselected(monitor, facts) ? 'deselected' : undefined;
}
