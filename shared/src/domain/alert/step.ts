import { toAlertFacts } from '../delivery/alert-context.ts';
import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import type { MutableAlert } from '../mute/silence.ts';
import type {
  AlertFinding,
  AlertNotice,
  AlertRecord,
  AlertWorld,
  Decision,
  FindingVerdict,
  HoldingFinding,
} from './alert.ts';
import { dependencyHold } from './dependency.ts';
import { type MessageHold, type Mute, muteOf, muteThroughout } from './holds.ts';
import { routesOf, type ToldTo } from './routes.ts';
import { alertSeverity } from './severity.ts';

/** When a hold that names no end is looked at again. */
export const askAgainMs = 60_000;

/** One step of an alert in the making: what it follows from, and what was decided so far. */
export interface StepDraft<V extends FindingVerdict = FindingVerdict> {
  readonly finding: AlertFinding;
  readonly verdict: V;
  readonly world: AlertWorld;
  readonly decisions: Decision[];
  readonly messages: AlertNotice[];
  endsNote: boolean;
}

/** When what was found came to be: now, or at an instant that has passed where such a time is judged. */
export function happenedAt({ world: { now }, verdict }: StepDraft): Instant {
  const at = verdict.kind === 'holds' ? verdict.happenedAt : verdict.endedAt;
  return Math.min(now, at ?? now);
}

/** How bad the alert is by what was found and what the monitor says now. */
export function severityNow({
  finding: { type, rules },
  verdict,
}: StepDraft): Pick<AlertRecord, 'severity' | 'severitySource'> {
  const found = verdict.kind === 'holds' ? verdict.severity : undefined;
  const { severity, source: severitySource } = alertSeverity(type, rules.severityOverrides, found);
  return { severity, severitySource };
}

/** On whose side it is by what was found. What more was read of the same run told more, and stays. */
export function faultNow(
  { verdict }: StepDraft<HoldingFinding>,
  before: Pick<AlertRecord, 'fault' | 'context'>,
): Fault | undefined {
  const [{ jobName }, known] = [toAlertFacts(verdict.context), toAlertFacts(before.context)];
  return verdict.fault ?? (jobName !== undefined && jobName === known.jobName ? before.fault : undefined);
}

/** What a person muted of this alert now; of what has passed, as long as it would have been told. */
export function muteNow(
  { finding, verdict, world: { now, silences } }: StepDraft,
  alert: Pick<AlertRecord, 'id' | 'severity'>,
): Mute | undefined {
  const { windows, earlierWindows, mutedUntilAt, earlierMutes, alertDelayMs } = finding.rules;
  const isMutedByNone = windows.length === 0 && silences.length === 0 && mutedUntilAt === undefined;
  if (isMutedByNone && !earlierWindows && !earlierMutes) return undefined;
  const mutable = toMutable(finding, alert);
  if (verdict.kind !== 'holds' || verdict.happenedAt === undefined)
    return muteOf(mutable, finding.rules, silences, now);
  const span = { fromAt: verdict.happenedAt + alertDelayMs, toAt: Math.min(now, verdict.untilAt ?? now) };
  return muteThroughout(mutable, finding.rules, silences, span);
}

/** The alert as silences are asked about it. */
export function toMutable(
  { monitor, cronJob, type }: AlertFinding,
  { id, severity }: Pick<AlertRecord, 'id' | 'severity'>,
): MutableAlert {
  return {
    id,
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type,
    severity,
    monitor: { namespace: monitor.namespace, name: monitor.name },
  };
}

/** What a parent of its CronJob does to its message now. */
export function waitForParents(
  { finding: { dependent, rules }, world: { now, parents, told } }: StepDraft,
  alert: Pick<AlertRecord, 'type' | 'subject' | 'severity'>,
): MessageHold | undefined {
  if (dependent === undefined) return undefined;
  const { recoveryMs } = rules;
  return dependencyHold(alert, { parents, held: told?.forParents, recoveryMs, ranAt: dependent.ranAt }, now);
}

/** Its message is held back: `dueAt` of an active alert says that one is owed, and when it is looked at again. */
export function holdMessage(
  { world: { now }, decisions }: StepDraft,
  alert: AlertRecord,
  { reason, untilAt, ref }: MessageHold,
): AlertRecord {
  decisions.push({ action: 'held', reason, untilAt, detail: ref, once: true });
  return { ...alert, dueAt: untilAt ?? now + askAgainMs };
}

/** One decision to tell: a message for each channel that takes the severity. */
export function notify(
  { finding: { rules }, verdict, world, decisions, messages }: StepDraft,
  alert: AlertRecord,
  { kind, reason, held }: Omit<Extract<AlertNotice, { readonly held: unknown }>, 'channels' | 'awaited'>,
): AlertRecord {
  const routes = routesOf(rules.alerting, alert, world.channelOf);
  for (const { name, reason: why } of routes.refused)
    decisions.push({ action: 'notRouted', reason: why, detail: name });
  if ('notRouted' in routes) {
    if (routes.refused.length === 0) decisions.push({ action: 'notRouted', reason: routes.notRouted });
    return { ...alert, dueAt: undefined };
  }
  if (routes.isInstead)
    decisions.push({ action: 'notRouted', reason: 'instead', detail: routes.told.map(({ name }) => name).join(', ') });
  const awaited = verdict.kind === 'holds' ? verdict.awaited : undefined;
  messages.push({ kind, channels: routes.told, reason, held, awaited });
  return { ...withToldTo(alert, routes.told), dueAt: undefined, notifyNo: alert.notifyNo + 1 };
}

/** The alert, with these channels among those that it was told for. */
export function withToldTo(alert: AlertRecord, told: readonly ToldTo[]): AlertRecord {
  const facts = toAlertFacts(alert.context);
  const toldTo = [...new Set([...(facts.toldTo ?? []), ...told.map(({ name }) => name)])];
  return { ...alert, context: { ...facts, toldTo } };
}
