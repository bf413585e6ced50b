import type { Alert, AlertAbsence, AlertContext, AlertPodStatus } from '@cronjob-monitor/shared/contract';
import { nameFinding, toAbsence, toAlertFacts, type Absence, isObject } from '@cronjob-monitor/shared/domain';
import { listTold, type StoredAlert, type ToldFacts } from '@cronjob-monitor/shared/store';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { verdictOfAlert } from '../verdicts/of-alert.ts';
import type { RouteDeps } from '../deps.ts';
import { gatherWhy, type Why } from '../verdicts/why.ts';
import { presentTold } from './told.ts';
import { readSurroundings, type Surroundings } from '../verdicts/surroundings.ts';

/** Alerts with what was told of them, however many they are, in a handful of questions. */
export async function presentAlerts(
  deps: Pick<RouteDeps, 'store' | 'settings'>,
  alerts: readonly StoredAlert[],
): Promise<Alert[]> {
  const { store } = deps;
  const surroundings = await readSurroundings(deps);
  const why = await gatherWhy(deps, { alerts }, surroundings);
  const told = await listTold(
    store,
    alerts.map(({ id }) => id),
  );
  return alerts.map((alert) => presentAlert(alert, told.get(alert.id), surroundings, why));
}

export function presentAlert(
  alert: StoredAlert,
  facts: ToldFacts | undefined,
  surroundings: Surroundings,
  why: Pick<Why, 'ofAlert'>,
): Alert {
  const { namespace, name } = alert.cronJob;
  const told = presentTold(alert, facts, surroundings.now);
  const sent = (facts?.deliveries ?? []).filter(({ state }) => state === 'sent').map(({ channel }) => channel);
  const note = alert.acknowledgement;
  return {
    id: alert.id,
    type: alert.type,
    subject: orNull(alert.subject),
    severity: alert.severity,
    state: alert.state,
    closeCause: orNull(alert.closeCause),
    suppressedBy: alert.state === 'suppressed' ? orNull(alert.suppressedBy) : null,
    suppressedUntil: alert.state === 'suppressed' ? toWireInstantOrNull(alert.dueAt) : null,
    dueAt: alert.state === 'pending' ? toWireInstantOrNull(alert.dueAt) : null,
    title: `${namespace}/${name}: ${nameFinding(alert.type, alert.subject)}`,
    message: alert.message,
    verdict: verdictOfAlert(alert, told, surroundings, why.ofAlert(alert, told)),
    cronjob: alert.cronJob,
    monitor: alert.monitor,
    since: toWireInstant(alert.sinceAt),
    detectedAt: toWireInstant(alert.detectedAt),
    endedAt: toWireInstantOrNull(alert.endedAt),
    cause: alert.fault?.cause ?? null,
    scope: alert.fault?.scope ?? null,
    occurrences: alert.count,
    delayed: alert.delayed,
    lastNotified: toWireInstantOrNull(alert.lastNotifiedAt),
    channelsNotified: [...new Set(sent)],
    told,
    acknowledgement: note
      ? {
          by: note.by,
          at: toWireInstant(note.at),
          note: orNull(note.note),
          expiresAt: toWireInstantOrNull(note.expiresAt),
        }
      : null,
    context: presentContext(alert),
  };
}

/** Facts as the rule that raised it wrote them; what it did not write is null. */
export function presentContext({ context, figures }: Pick<StoredAlert, 'context' | 'figures'>): AlertContext {
  const facts = { ...(isObject(context) ? context : {}), ...(isObject(figures) ? figures : {}) };
  const text = (key: string): string | null => (typeof facts[key] === 'string' ? facts[key] : null);
  const number = (key: string): number | null => (typeof facts[key] === 'number' ? facts[key] : null);
  const flag = (key: string): boolean | null => (typeof facts[key] === 'boolean' ? facts[key] : null);
  const unit = text('unit');
  return {
    jobName: text('jobName'),
    exitCode: number('exitCode'),
    reason: text('reason'),
    suggestedFix: text('suggestedFix'),
    measured: number('measured'),
    limit: number('limit'),
    unit: unit === 'percent' || unit === 'seconds' || unit === 'runs' ? unit : null,
    podStatus: presentPod(facts['podStatus']),
    hasLogs: flag('hasLogs'),
    hasEvents: flag('hasEvents'),
    absence: presentAbsence(toAbsence(toAlertFacts(context).verdict?.detail)),
  };
}

function presentAbsence(absence: Absence | undefined): AlertAbsence | null {
  if (!absence) return null;
  const { cause, lastSeenAt, deletedFromAt, deletedUntilAt, lastWriter } = absence;
  return {
    cause,
    lastSeenAt: toWireInstantOrNull(lastSeenAt),
    deletedFrom: toWireInstantOrNull(deletedFromAt),
    deletedUntil: toWireInstantOrNull(deletedUntilAt),
    lastWriter: lastWriter
      ? {
          manager: lastWriter.manager,
          operation: lastWriter.operation,
          at: toWireInstant(lastWriter.at),
          managedBy: lastWriter.managedBy ?? null,
        }
      : null,
  };
}

function presentPod(pod: unknown): AlertPodStatus | null {
  if (!isObject(pod)) return null;
  const text = (key: string): string | null => (typeof pod[key] === 'string' ? pod[key] : null);
  const restarts = typeof pod['restarts'] === 'number' ? pod['restarts'] : null;
  return { phase: text('phase'), reason: text('reason'), node: text('node'), restarts, waiting: text('waiting') };
}
