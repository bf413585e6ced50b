import { alertSeverity, isEdge, keepEvidence, nextAlertState, type Mute } from '@cronjob-monitor/shared/domain';
import {
  firstNoticeCause,
  listDeliveriesOfAlert,
  newId,
  updateCancelled,
  type AlertRecord,
} from '@cronjob-monitor/shared/store';
import { activate } from './activate.ts';
import type { HoldingFinding } from './finding.ts';
import { followActive } from './follow-active.ts';
import type { Followed } from './raise.ts';
import { decide, happenedAt, muteNow, type Turn } from './turn.ts';

/** A verdict that holds: an alert is born, lives again, waits on, becomes active, or goes on. */
export async function followHolding(
  turn: Turn<HoldingFinding>,
  before: AlertRecord | undefined,
): Promise<Followed | undefined> {
  if (before === undefined) return beginLife(turn);
  if (before.state === 'active') return followActive(turn, before);
  return followWaiting(turn, before);
}

async function beginLife(turn: Turn<HoldingFinding>): Promise<Followed> {
  const { now, finding, verdict, last } = turn;
  const reopens = last !== undefined && mayLiveAgain(turn, last);
  const born = reopens ? await reopened(turn, last) : newborn(turn, last);
  const mute = muteNow(turn, born);
  const pendingUntilAt = Math.min(verdict.beganAt ?? now, now) + finding.rules.alertDelayMs;
  const delayed = finding.rules.alertDelayMs > 0 && (verdict.untilAt ?? now) < pendingUntilAt;
  const state = nextAlertState(reopens ? last.state : 'none', { kind: 'holds', delayed, muted: mute !== undefined });
  decide(turn, born, { action: 'detected', detail: verdict.message });
  const stored = reopens ? last : undefined;
  if (state === 'pending') {
    decide(turn, born, { action: 'pending', reason: 'alertDelay', untilAt: pendingUntilAt });
    return { stored, alert: { ...born, state, dueAt: pendingUntilAt } };
  }
  if (state === 'suppressed' && mute !== undefined) return { stored, alert: suppress(turn, born, mute) };
  decide(turn, born, { action: 'activated' });
  return { stored, alert: await activate(turn, born, undefined) };
}

/** Told less than a duplicate window ago, the same incident goes on. */
function mayLiveAgain(turn: Turn, last: AlertRecord): boolean {
  if (last.state === 'cancelled' || last.lastNotifiedAt === undefined) return false;
  // Of what was told late the window begins when it came to hold, as if it had been told then.
  const toldAt = last.delayed ? Math.min(last.lastNotifiedAt, last.sinceAt) : last.lastNotifiedAt;
  const isPast = turn.verdict.kind === 'holds' && turn.verdict.happenedAt !== undefined;
  return happenedAt(turn) < (isPast ? toldAt : last.lastNotifiedAt) + turn.finding.rules.suppressDuplicatesForMs;
}

function newborn(turn: Turn<HoldingFinding>, last: AlertRecord | undefined): AlertRecord {
  const { now, finding, verdict, fingerprint } = turn;
  const { monitor, cronJob, type, subject, rules } = finding;
  const { severity, source } = alertSeverity(type, rules.severityOverrides);
  return {
    id: newId(now),
    fingerprint,
    monitorId: monitor.id,
    cronJobId: cronJob.id,
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type,
    subject,
    severity,
    severitySource: source,
    state: 'pending',
    suppressedBy: undefined,
    suppressedRef: undefined,
    dueAt: undefined,
    sinceAt: verdict.sinceAt,
    detectedAt: now,
    activatedAt: undefined,
    endedAt: undefined,
    closeCause: undefined,
    lastSeenAt: now,
    lastNotifiedAt: undefined,
    notifyNo: 0,
    count: verdict.count,
    signature: verdict.signature,
    // Changes are counted by identity, over the rows it has had.
    flips: last?.flips ?? [],
    flappingUntil: undefined,
    quietCount: 0,
    reopened: 0,
    delayed: verdict.delayed,
    stormId: undefined,
    message: verdict.message,
    figures: verdict.figures,
    context: verdict.context,
  };
}

async function reopened(turn: Turn<HoldingFinding>, last: AlertRecord): Promise<AlertRecord> {
  const { now, verdict, fingerprint } = turn;
  await takeBackClosings(turn, last);
  const { severity, source } = alertSeverity(last.type, turn.finding.rules.severityOverrides);
  return {
    ...last,
    fingerprint,
    severity,
    severitySource: source,
    sinceAt: verdict.sinceAt,
    activatedAt: undefined,
    endedAt: undefined,
    closeCause: undefined,
    lastSeenAt: now,
    count: isEdge(last.type) ? last.count + verdict.count : last.count,
    signature: verdict.signature,
    flappingUntil: undefined,
    quietCount: 0,
    reopened: last.reopened + 1,
    delayed: verdict.delayed,
    message: verdict.message,
    figures: verdict.figures,
    context: verdict.context,
  };
}

/** What holds again is not told to be over. A message that tells both, a beginning and its end, is about what has passed: it stays. */
async function takeBackClosings(turn: Turn, last: AlertRecord): Promise<void> {
  const deliveries = await listDeliveriesOfAlert(turn.tx, last.id);
  for (const { id, kind, cause, channelUid, channelName } of deliveries) {
    if (kind !== 'closing' || cause === firstNoticeCause) continue;
    // One per channel.
    const { cancelled } = await updateCancelled(turn.tx, id, turn.now);
    if (!cancelled) continue;
    decide(turn, last, { action: 'cancelled', reason: 'reopened', deliveryId: id, channelUid });
    turn.unsent.push({ channel: channelName, kind, result: 'cancelled' });
  }
}

function suppress(turn: Turn, alert: AlertRecord, mute: Mute): AlertRecord {
  const { by, ref, untilAt } = mute;
  decide(turn, alert, { action: 'suppressed', reason: by, untilAt, detail: ref });
  return { ...alert, state: 'suppressed', suppressedBy: by, suppressedRef: ref, dueAt: untilAt };
}

/** Pending or suppressed, and it still holds. */
async function followWaiting(turn: Turn<HoldingFinding>, before: AlertRecord): Promise<Followed | undefined> {
  const { now, verdict, fingerprint } = turn;
  const { severity, source } = alertSeverity(before.type, turn.finding.rules.severityOverrides);
  const alert: AlertRecord = {
    ...before,
    fingerprint,
    severity,
    severitySource: source,
    count: before.count + (isEdge(before.type) ? verdict.occurred : 0),
    lastSeenAt: now,
    signature: verdict.signature,
    message: verdict.message,
    figures: verdict.figures,
    context: keepEvidence(before.context, verdict.context),
  };
  if (alert.count > before.count) decide(turn, alert, { action: 'occurrence', reason: 'counted' });
  const mute = muteNow(turn, alert);
  const delayed = before.state === 'pending' && before.dueAt !== undefined && (verdict.untilAt ?? now) < before.dueAt;
  const state = nextAlertState(before.state, { kind: 'holds', delayed, muted: mute !== undefined });
  if (state === 'suppressed' && mute !== undefined) return followMute(turn, { stored: before, alert }, mute);
  if (state === 'pending') {
    const changes = alert.count > before.count || alert.severity !== before.severity;
    return changes ? { stored: before, alert } : undefined;
  }
  const held = {
    by: before.state === 'pending' ? ('alertDelay' as const) : (before.suppressedBy ?? ('maintenance' as const)),
    sinceAt: Math.max(before.detectedAt, before.endedAt ?? 0, before.reopened > 0 ? before.sinceAt : 0),
  };
  decide(turn, alert, { action: before.state === 'pending' ? 'activated' : 'released', reason: held.by });
  return { stored: before, alert: await activate(turn, alert, held) };
}

function followMute(turn: Turn, { stored, alert }: Followed, mute: Mute): Followed | undefined {
  const isSame =
    stored?.state === 'suppressed' &&
    stored.suppressedBy === mute.by &&
    stored.suppressedRef === mute.ref &&
    stored.dueAt === mute.untilAt;
  if (!isSame) return { stored, alert: suppress(turn, alert, mute) };
  return alert.count > stored.count || alert.severity !== stored.severity ? { stored, alert } : undefined;
}
