import {
  addFlip,
  alertSeverity,
  flappingUntil,
  isEdge,
  isRise,
  keepEvidence,
  messageHold,
  routesOf,
  type MessageHold,
} from '@cronjob-monitor/shared/domain';
import {
  findLastHold,
  listDeliveriesOfAlert,
  updateAcknowledgementEnd,
  type AlertDelivery,
  type AlertRecord,
} from '@cronjob-monitor/shared/store';
import type { HeldBefore, HoldingFinding } from './finding.ts';
import type { Followed } from './raise.ts';
import { owe, tell, type Telling } from './tell.ts';
import { decide, muteNow, type Turn } from './turn.ts';

/** `last_seen_at` of what only goes on is written this often at most. */
const seenEveryMs = 300_000;
const changedErrorEveryMs = 600_000;

/** What happened to an active alert that still holds. */
interface News {
  readonly rose: boolean;
  readonly errorChanged: boolean;
  readonly occurred: number;
  /** A message was held back, flapping ended, or there is a channel for it at last: it is told as soon as it may be. */
  readonly isOwed: boolean;
}

/** An active alert whose condition goes on: counted, told again where that is due, reminded of. */
export async function followActive(turn: Turn<HoldingFinding>, before: AlertRecord): Promise<Followed | undefined> {
  const { now, verdict } = turn;
  const { severity, source } = alertSeverity(before.type, turn.finding.rules.severityOverrides);
  const occurred = isEdge(before.type) ? verdict.occurred : 0;
  const flapping = followFlapping(before, now);
  const alert: AlertRecord = {
    ...before,
    ...flapping.moved,
    fingerprint: turn.fingerprint,
    severity,
    severitySource: source,
    count: before.count + occurred,
    lastSeenAt: now,
    quietCount: 0,
    signature: verdict.signature ?? before.signature,
    message: verdict.message,
    figures: verdict.figures,
    context: keepEvidence(before.context, verdict.context),
  };
  const news: News = {
    rose: isRise(before.severity, severity),
    errorChanged: before.signature !== undefined && alert.signature !== before.signature,
    occurred,
    isOwed: before.dueAt !== undefined || flapping.ended || becameTellable(turn, alert),
  };
  if (severity !== before.severity) {
    decide(turn, alert, { action: 'severityChanged', reason: news.rose ? 'rise' : source });
  }
  const isNoted = await followAcknowledgement(turn, alert, news);
  const after = await followMessage(turn, alert, news, isNoted);
  const isChanged =
    occurred > 0 ||
    turn.decisions.length > 0 ||
    before.quietCount > 0 ||
    after.severity !== before.severity ||
    after.dueAt !== before.dueAt ||
    flapping.ended ||
    now - before.lastSeenAt >= seenEveryMs;
  return isChanged ? { stored: before, alert: after } : undefined;
}

/** It was never told, for its monitor named no channel for it; now it does. */
function becameTellable({ finding: { rules }, channels }: Turn, { notifyNo, dueAt, severity }: AlertRecord): boolean {
  if (notifyNo > 0 || dueAt !== undefined) return false;
  return 'told' in routesOf(rules.alerting, severity, (name) => channels.has(name));
}

/** While it flaps each change of the verdict makes it last; an hour without one ends it. */
function followFlapping(
  before: AlertRecord,
  now: number,
): { readonly moved: Partial<AlertRecord>; readonly ended: boolean } {
  if (before.flappingUntil === undefined) return { moved: {}, ended: false };
  if (before.quietCount > 0 && now < before.flappingUntil) {
    const flips = addFlip(before.flips, now);
    return { moved: { flips, flappingUntil: flappingUntil(flips) }, ended: false };
  }
  if (now < before.flappingUntil) return { moved: {}, ended: false };
  return { moved: { flips: [], flappingUntil: undefined }, ended: true };
}

/** A note ends when the severity rises, the error changes, or its own time is over. Whether one is still there. */
async function followAcknowledgement(turn: Turn, alert: AlertRecord, news: News): Promise<boolean> {
  const note = turn.notes.get(alert.id);
  if (!note) return false;
  const isOver = note.expiresAt !== undefined && note.expiresAt <= turn.now;
  const reason = news.rose ? 'severityRise' : news.errorChanged ? 'changedError' : isOver ? 'expired' : undefined;
  if (reason === undefined) return true;
  await updateAcknowledgementEnd(turn.tx, alert.id, turn.now);
  decide(turn, alert, { action: 'unacknowledged', reason, byWhom: note.byWhom });
  return false;
}

async function followMessage(
  turn: Turn<HoldingFinding>,
  alert: AlertRecord,
  news: News,
  isNoted: boolean,
): Promise<AlertRecord> {
  const wanted = wantedMessage(turn, alert, news, isNoted);
  if (wanted === undefined) return alert;
  const deliveries = await listDeliveriesOfAlert(turn.tx, alert.id);
  const hold = messageHold(
    {
      imposed: turn.verdict.hold,
      mute: muteNow(turn, alert),
      passesDuplicates: wanted.passes,
      flappingUntil: alert.flappingUntil,
      lastNotifiedAt: alert.lastNotifiedAt,
      isUnderway: deliveries.some(isUnderway),
      windowMs: turn.finding.rules.suppressDuplicatesForMs,
    },
    turn.now,
  );
  const isDuplicate = hold?.reason === 'duplicate';
  if (news.occurred > 0) decide(turn, alert, { action: 'occurrence', reason: isDuplicate ? 'duplicate' : 'counted' });
  if (hold) return isOwed(wanted, news, hold) ? owe(turn, alert, hold) : alert;
  const held = news.isOwed ? await heldBefore(turn, alert) : undefined;
  const { kind, reason } = wanted;
  return tell(turn, alert, { kind, reason, held, deliveries, awaited: turn.verdict.awaited });
}

interface Wanted extends Pick<Telling, 'kind' | 'reason'> {
  readonly passes: boolean;
}

function wantedMessage(
  turn: Turn<HoldingFinding>,
  alert: AlertRecord,
  news: News,
  isNoted: boolean,
): Wanted | undefined {
  const { now } = turn;
  const { rules } = turn.finding;
  const toldAt = alert.lastNotifiedAt;
  if (news.rose) return { kind: 'firing', passes: true };
  const tellsErrors = rules.renotifyOnChangedError && (toldAt === undefined || now - toldAt >= changedErrorEveryMs);
  if (news.errorChanged && tellsErrors) return { kind: 'firing', passes: true, reason: 'changedError' };
  if (news.occurred > 0 || news.isOwed) return { kind: 'firing', passes: false };
  const remindMs = Math.max(rules.suppressDuplicatesForMs, rules.remindEveryMs);
  const isRemindedOf = toldAt !== undefined && now >= toldAt + remindMs && !isNoted;
  return isRemindedOf ? { kind: 'reminder', passes: false } : undefined;
}

/**
 * A further occurrence within the duplicate window is only counted, and a reminder that may not go out is none. All else that is
 * held back is told when the hold ends.
 */
function isOwed(wanted: Wanted, news: News, hold: MessageHold): boolean {
  if (news.isOwed || wanted.passes) return true;
  return wanted.kind === 'firing' && hold.reason !== 'duplicate' && hold.reason !== 'flapping';
}

async function heldBefore(turn: Turn, alert: AlertRecord): Promise<HeldBefore | undefined> {
  const hold = await findLastHold(turn.tx, alert.id);
  // The ledger holds the reasons of messageHold.
  return hold?.reason === undefined ? undefined : { by: hold.reason as HeldBefore['by'], sinceAt: hold.at };
}

function isUnderway({ kind, fate }: AlertDelivery): boolean {
  return kind !== 'closing' && (fate === 'ready' || fate === 'claimed' || fate === 'parked');
}
