import { keepKnown, toAlertFacts } from '../delivery/alert-context.ts';
import type { Instant } from '../instant.ts';
import type { AlertRecord, AlertRules, HoldingFinding, NoStep } from './alert.ts';
import { isEdge } from '../alert-types/traits.ts';
import { addFlip, flappingUntil } from './flapping.ts';
import { messageHold, type MessageHold } from './holds.ts';
import { routesOf } from './routes.ts';
import { isRise } from './severity.ts';
import {
  faultNow,
  happenedAt,
  holdMessage,
  muteNow,
  notify,
  severityNow,
  type StepDraft,
  waitForParents,
  withToldTo,
} from './step.ts';

/** `last_seen_at` of what only goes on is written this often at most. */
const seenEveryMs = 300_000;
const changedErrorEveryMs = 600_000;

/** What happened to an active alert that still holds. */
interface News {
  readonly rose: boolean;
  readonly errorChanged: boolean;
  readonly occurred: number;
  /** A message was held back, flapping ended, or there is a channel for it at last, or again: it is told as soon as it may be. */
  readonly isOwed: boolean;
}

/** An active alert whose condition goes on: counted, told again where that is due, reminded of. */
export function goOn(draft: StepDraft<HoldingFinding>, before: AlertRecord): AlertRecord | NoStep {
  const { verdict, world, decisions, messages } = draft;
  const occurred = isEdge(before.type) ? verdict.occurred : 0;
  const flapping = flappingAfter(before, happenedAt(draft));
  const alert: AlertRecord = {
    ...before,
    ...flapping.moved,
    ...severityNow(draft),
    count: before.count + occurred,
    lastSeenAt: world.now,
    quietCount: 0,
    signature: verdict.signature ?? before.signature,
    message: verdict.message,
    figures: verdict.figures,
    context: keepKnown(before.context, verdict.context),
    fault: faultNow(draft, before),
  };
  const news: News = {
    rose: isRise(before.severity, alert.severity),
    errorChanged: before.signature !== undefined && alert.signature !== before.signature,
    occurred,
    isOwed: before.dueAt !== undefined || flapping.ended || becameTellable(draft, alert),
  };
  if (alert.severity !== before.severity) {
    decisions.push({ action: 'severityChanged', reason: news.rose ? 'rise' : alert.severitySource });
  }
  const isNoted = keepsNote(draft, news);
  const wanted = wantedMessage(draft, alert, news, isNoted);
  // A person who took note of it knows of the failures that follow.
  if (wanted === undefined && occurred > 0) decisions.push({ action: 'occurrence', reason: 'counted' });
  const after = wanted === undefined ? tellNewChannels(draft, alert, isNoted) : tellAgain(draft, alert, news, wanted);
  if (after === 'asksWhatWasTold') return after;
  const isChanged =
    occurred > 0 ||
    decisions.length > 0 ||
    messages.length > 0 ||
    before.quietCount > 0 ||
    after.severity !== before.severity ||
    after.dueAt !== before.dueAt ||
    after.fault?.cause !== before.fault?.cause ||
    after.fault?.scope !== before.fault?.scope ||
    flapping.ended ||
    world.now - before.lastSeenAt >= seenEveryMs;
  return isChanged ? after : 'unchanged';
}

/** It was never told, for its monitor named no channel for it, or what was made was taken back with its channel; now it can be. */
function becameTellable({ finding: { rules }, world }: StepDraft, alert: AlertRecord): boolean {
  if (alert.dueAt !== undefined || alert.lastNotifiedAt !== undefined) return false;
  // An acknowledgement takes messages back too.
  if (alert.notifyNo > 0 && (world.note !== undefined || world.told?.isTakenBack === false)) return false;
  return 'told' in routesOf(rules.alerting, alert, world.channelOf);
}

/** While it flaps each change of the verdict makes it last; an hour without one ends it. */
function flappingAfter(
  before: AlertRecord,
  now: Instant,
): { readonly moved: Partial<AlertRecord>; readonly ended: boolean } {
  if (before.flappingUntil === undefined) return { moved: {}, ended: false };
  if (now >= before.flappingUntil) return { moved: { flips: [], flappingUntil: undefined }, ended: true };
  if (before.quietCount === 0) return { moved: {}, ended: false };
  const flips = addFlip(before.flips, now);
  return { moved: { flips, flappingUntil: flappingUntil(flips) }, ended: false };
}

/** A note ends when the severity rises, the error changes, or its own time is over. Whether one is still there. */
function keepsNote(draft: StepDraft, { rose, errorChanged }: News): boolean {
  const { note, now } = draft.world;
  if (!note) return false;
  const isOver = note.expiresAt !== undefined && note.expiresAt <= now;
  const reason = rose ? 'severityRise' : errorChanged ? 'changedError' : isOver ? 'expired' : undefined;
  if (reason === undefined) return true;
  draft.endsNote = true;
  draft.decisions.push({ action: 'unacknowledged', reason, byWhom: note.byWhom });
  return false;
}

/** How long after a message an alert that goes on is told again; Infinity: it is not. */
export function remindAfterMs({ suppressDuplicatesForMs, remindEveryMs }: AlertRules): number {
  return remindEveryMs === 0 ? Infinity : Math.max(suppressDuplicatesForMs, remindEveryMs);
}

interface Wanted {
  readonly kind: 'firing' | 'reminder';
  readonly reason?: 'changedError';
  /** Whatever was told before. */
  readonly passes: boolean;
}

function wantedMessage(
  { finding: { rules }, world: { now } }: StepDraft,
  { lastNotifiedAt: toldAt }: AlertRecord,
  news: News,
  isNoted: boolean,
): Wanted | undefined {
  if (news.rose) return { kind: 'firing', passes: true };
  const tellsErrors = rules.renotifyOnChangedError && (toldAt === undefined || now - toldAt >= changedErrorEveryMs);
  if (news.errorChanged && tellsErrors) return { kind: 'firing', passes: true, reason: 'changedError' };
  if (news.isOwed || (news.occurred > 0 && !isNoted)) return { kind: 'firing', passes: false };
  const isRemindedOf = toldAt !== undefined && now >= toldAt + remindAfterMs(rules) && !isNoted;
  return isRemindedOf ? { kind: 'reminder', passes: false } : undefined;
}

function tellAgain(
  draft: StepDraft<HoldingFinding>,
  alert: AlertRecord,
  news: News,
  wanted: Wanted,
): AlertRecord | 'asksWhatWasTold' {
  const { finding, verdict, world, decisions } = draft;
  if (world.told === undefined) return 'asksWhatWasTold';
  const hold = messageHold(
    {
      imposed: verdict.hold ?? waitForParents(draft, alert),
      mute: muteNow(draft, alert),
      passesDuplicates: wanted.passes,
      flappingUntil: alert.flappingUntil,
      lastNotifiedAt: alert.lastNotifiedAt,
      isUnderway: world.told.isUnderway,
      windowMs: wanted.kind === 'reminder' ? remindAfterMs(finding.rules) : finding.rules.suppressDuplicatesForMs,
    },
    world.now,
  );
  const isDuplicate = hold?.reason === 'duplicate';
  if (news.occurred > 0) decisions.push({ action: 'occurrence', reason: isDuplicate ? 'duplicate' : 'counted' });
  if (hold) return isOwed(wanted, news, hold) ? holdMessage(draft, alert, hold) : alert;
  const held = news.isOwed ? world.told.lastHold : undefined;
  const delayed = news.occurred > 0 ? verdict.delayed : alert.delayed;
  return notify(draft, { ...alert, delayed }, { kind: wanted.kind, reason: wanted.reason, held });
}

/**
 * A channel that is named for an alert that others were told of hears of it once, as soon as nothing holds messages about it back and no
 * person has taken note of it. It is the same message as they had.
 */
function tellNewChannels(
  draft: StepDraft<HoldingFinding>,
  alert: AlertRecord,
  isNoted: boolean,
): AlertRecord | 'asksWhatWasTold' {
  const { finding, verdict, world, messages } = draft;
  if (alert.notifyNo === 0 && alert.lastNotifiedAt === undefined) return alert;
  const routes = routesOf(finding.rules.alerting, alert, world.channelOf);
  if (!('told' in routes)) return alert;
  const { toldTo } = toAlertFacts(alert.context);
  // Of what was told in a digest, or before this was noted, those that are named now have heard.
  if (toldTo === undefined) return withToldTo(alert, routes.told);
  const channels = routes.told.filter(({ name }) => !toldTo.includes(name));
  if (channels.length === 0 || isNoted) return alert;
  if (world.told === undefined) return 'asksWhatWasTold';
  if (verdict.hold ?? waitForParents(draft, alert) ?? muteNow(draft, alert)) return alert;
  messages.push({ kind: 'firing', channels, reason: 'newChannel', held: undefined, awaited: undefined });
  return { ...withToldTo(alert, channels), notifyNo: Math.max(1, alert.notifyNo) };
}

/**
 * A further occurrence within the duplicate window is only counted, and a reminder that may not go out is none. All else that is
 * held back is told when the hold ends.
 */
function isOwed(wanted: Wanted, news: News, hold: MessageHold): boolean {
  if (news.isOwed || wanted.passes) return true;
  return wanted.kind === 'firing' && hold.reason !== 'duplicate' && hold.reason !== 'flapping';
}
