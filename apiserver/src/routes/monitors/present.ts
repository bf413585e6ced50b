import {
  severities,
  type Condition,
  type Monitor,
  type MonitorChannel,
  type MonitorCronJob,
  type MonitorDetail,
  type Severity,
} from '@cronjob-monitor/shared/contract';
import type { CatalogChannel, CatalogMonitor, MonitorCounts } from '@cronjob-monitor/shared/store';
import { channelRefsOf, deadManLimitOf, isObject, maxDurationOf, slaOf } from '../../monitor-spec.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';

/** Conditions that a list shows at once. */
const shownProblems = 3;

export interface MonitorFacts {
  readonly monitor: CatalogMonitor;
  /** Undefined: it selects nothing. */
  readonly counts: MonitorCounts | undefined;
  readonly activeAlerts: number;
}

const emptyStates = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 };
const emptySummary = { healthy: 0, warning: 0, critical: 0, suspended: 0, running: 0, unknown: 0 };

export function presentMonitor(facts: MonitorFacts): Monitor {
  return { ...presentBase(facts), channels: channelRefsOf(facts.monitor.spec).map(({ name }) => name) };
}

function presentBase({ monitor, counts, activeAlerts }: MonitorFacts): Omit<Monitor, 'channels'> {
  const sla = slaOf(monitor.spec);
  return {
    namespace: monitor.namespace,
    name: monitor.name,
    uid: monitor.uid,
    phase: monitor.phase,
    cronJobCount: counts?.cronJobs ?? 0,
    summary: counts?.summary ?? emptySummary,
    states: counts?.states ?? emptyStates,
    activeAlerts,
    rules: {
      maxTimeSinceLastSuccess: orNull(deadManLimitOf(monitor.spec)),
      minSuccessRate: orNull(sla.minSuccessRate),
      windowDays: sla.enabled ? sla.windowDays : null,
      maxDuration: orNull(maxDurationOf(monitor.spec)),
    },
    problems: presentConditions(monitor)
      .filter(({ status }) => status !== 'True')
      .slice(0, shownProblems)
      .map(({ type, message }) => `${type}: ${message}`),
    lastReconcile: toWireInstantOrNull(monitor.evaluatedAt),
  };
}

export function presentMonitorDetail(
  facts: MonitorFacts,
  more: {
    readonly channels: readonly CatalogChannel[];
    readonly cronJobs: readonly MonitorCronJob[];
    readonly cronJobsOmitted: number;
  },
): MonitorDetail {
  const { monitor } = facts;
  const base = presentBase(facts);
  return {
    ...base,
    channels: presentChannels(monitor, more.channels),
    createdAt: toWireInstant(monitor.createdAt),
    generation: monitor.generation,
    observedGeneration: monitor.evaluatedAt === undefined ? null : monitor.generation,
    totalCronJobs: base.cronJobCount,
    spec: isObject(monitor.spec) ? monitor.spec : {},
    conditions: presentConditions(monitor),
    cronJobs: more.cronJobs,
    cronJobsOmitted: more.cronJobsOmitted,
  };
}

/** An empty list of severities means all. */
function presentChannels({ spec }: CatalogMonitor, known: readonly CatalogChannel[]): MonitorChannel[] {
  return channelRefsOf(spec).map((ref) => {
    const channel = known.find(({ name }) => name === ref.name);
    const named = severities.filter((severity: Severity) => ref.severities.includes(severity));
    return {
      name: ref.name,
      severities: ref.severities.length === 0 ? severities : named,
      exists: channel !== undefined,
      type: channel?.type ?? null,
      ready: channel?.ready ?? null,
    };
  });
}

/** Conditions as the reconciler wrote them; what has another form is left out. */
function presentConditions({ conditions }: CatalogMonitor): Condition[] {
  return conditions.flatMap((condition) => {
    if (!isObject(condition) || typeof condition['type'] !== 'string') return [];
    const text = (key: string): string => (typeof condition[key] === 'string' ? condition[key] : '');
    const { observedGeneration } = condition;
    return [
      {
        type: condition['type'],
        status: text('status'),
        reason: text('reason'),
        message: text('message'),
        lastTransitionTime: toInstantText(condition['lastTransitionTime']),
        observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : null,
      },
    ];
  });
}

/** Kubernetes writes whole seconds; the API always has milliseconds. */
function toInstantText(value: unknown): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  return Number.isFinite(at) ? toWireInstant(at) : null;
}
