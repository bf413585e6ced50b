import type {
  AdviceLevel,
  AlertState,
  DeliveryState,
  HealthState,
  MonitorPhase,
  Severity,
  SilenceState,
  SlaTarget,
  SlaTargetVerdict,
} from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';

/** Of a finding about settings. */
export const levelMarks: Readonly<Record<AdviceLevel, Mark>> = {
  error: { word: 'Error', shape: 'cross', tone: 'crit' },
  warning: { word: 'Warning', shape: 'exclamation', tone: 'warn' },
  note: { word: 'Note', shape: 'dot', tone: 'off' },
};

/** Word, shape and tone of a state. The check is for what is healthy and for nothing else. */
export const stateMarks: Readonly<Record<HealthState, Mark>> = {
  critical: { word: 'Critical', shape: 'cross', tone: 'crit' },
  warning: { word: 'Warning', shape: 'exclamation', tone: 'warn' },
  failing: { word: 'Failing', shape: 'hollow', tone: 'warn' },
  unknown: { word: 'Not known yet', shape: 'question', tone: 'off' },
  suspended: { word: 'Suspended', shape: 'bars', tone: 'off' },
  healthy: { word: 'Healthy', shape: 'check', tone: 'ok' },
};

/** Stands beside the health of a CronJob with unfinished Jobs. */
export const runningMark: Mark = { word: 'Running', shape: 'triangle', tone: 'run' };

export const severityMarks: Readonly<Record<Severity, Mark>> = {
  critical: stateMarks.critical,
  warning: stateMarks.warning,
};

const openMarks = {
  pending: { word: 'Waiting', shape: 'hourglass', tone: 'off' },
  resolved: { word: 'Resolved', shape: 'check', tone: 'ok' },
  expired: { word: 'Expired', shape: 'dash', tone: 'off' },
  cancelled: { word: 'Never sent', shape: 'dash', tone: 'off' },
} as const satisfies Partial<Record<AlertState, Mark>>;

/** The state of an alert: an active one has the shape and tone of its severity, a suppressed one says what holds it. */
export function alertMark(alert: { state: AlertState; severity: Severity; suppressedBy: string | null }): Mark {
  if (alert.state === 'active') return { ...severityMarks[alert.severity], word: 'Active' };
  if (alert.state === 'suppressed') {
    const reason = alert.suppressedBy === null ? '' : `: ${alert.suppressedBy}`;
    return { word: `Held back${reason}`, shape: 'bar', tone: 'held' };
  }
  return openMarks[alert.state];
}

/** The phase of a monitor. */
export const phaseMarks: Readonly<Record<MonitorPhase, Mark>> = {
  Pending: { word: 'Pending', shape: 'question', tone: 'off' },
  Active: { word: 'Active', shape: 'check', tone: 'ok' },
  Degraded: { word: 'Degraded', shape: 'exclamation', tone: 'warn' },
  Error: { word: 'Error', shape: 'cross', tone: 'crit' },
};

export const deliveryMarks: Readonly<Record<DeliveryState, Mark>> = {
  ready: { word: 'Queued', shape: 'hourglass', tone: 'off' },
  claimed: { word: 'Queued', shape: 'hourglass', tone: 'off' },
  parked: { word: 'Parked', shape: 'bar', tone: 'held' },
  sent: { word: 'Sent', shape: 'check', tone: 'ok' },
  dead: { word: 'Given up', shape: 'cross', tone: 'crit' },
  cancelled: { word: 'Not needed', shape: 'dash', tone: 'off' },
  collapsed: { word: 'Joined', shape: 'merge', tone: 'off' },
  digested: { word: 'In a digest', shape: 'list', tone: 'off' },
};

export const silenceMarks: Readonly<Record<SilenceState, Mark>> = {
  scheduled: { word: 'Scheduled', shape: 'hourglass', tone: 'off' },
  active: { word: 'Active', shape: 'bar', tone: 'held' },
  expired: { word: 'Expired', shape: 'dash', tone: 'off' },
};

export const targetMarks: Readonly<Record<SlaTargetVerdict, Mark>> = {
  breached: { word: 'Breached', shape: 'cross', tone: 'crit' },
  pending: { word: 'Not judged yet', shape: 'hourglass', tone: 'warn' },
  atRisk: { word: 'At risk', shape: 'hollow', tone: 'warn' },
  noData: { word: 'No data', shape: 'question', tone: 'off' },
  met: { word: 'Met', shape: 'check', tone: 'ok' },
};

/** How a target stands. One that is breached has the shape of its rule's severity. */
export function targetMark({ verdict, judged }: Pick<SlaTarget, 'verdict' | 'judged'>): Mark {
  const mark = targetMarks[verdict];
  return verdict === 'breached' && judged && judged.state !== 'critical'
    ? { ...stateMarks.warning, word: mark.word }
    : mark;
}

/** Whether a channel can be used. */
export function readyMark(isReady: boolean): Mark {
  return isReady
    ? { word: 'Ready', shape: 'check', tone: 'ok' }
    : { word: 'Not ready', shape: 'exclamation', tone: 'warn' };
}
