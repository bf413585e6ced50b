import type { AlertState, AlertSubject, AlertType } from '../../contract/index.ts';
import { keepKnown } from '../delivery/alert-context.ts';
import { goOn } from './active.ts';
import type {
  AlertFinding,
  AlertRecord,
  AlertStep,
  AlertWorld,
  Decision,
  FindingVerdict,
  HeldBefore,
  HoldingFinding,
  NoStep,
} from './alert.ts';
import { isEdge, isOverWindow } from '../alert-types/traits.ts';
import { addFlip, flappingUntil, isFlapping, type Flips } from './flapping.ts';
import { messageHold, type Mute } from './holds.ts';
import { routesOf } from './routes.ts';
import {
  faultNow,
  happenedAt,
  holdMessage,
  muteNow,
  notify,
  severityNow,
  waitForParents,
  type StepDraft,
} from './step.ts';

type EndVerdict = Exclude<FindingVerdict, HoldingFinding>;

/**
 * The next step of an alert after a finding about it. `alert`: the live row of the identity; undefined: there is none. Values alone decide:
 * the leader and a preview of the past ask the same question. `unchanged`: nothing is to be written. `asksWhatWasTold`: the answer depends
 * on `world.told`, which is to be read.
 *
 * | state | the verdict holds | the verdict is quiet | it cannot be judged any more |
 * |---|---|---|---|
 * | none | a new row, pending while alertDelay runs, else suppressed while a person mutes it, else active | none | none |
 * | pending | pending while alertDelay runs, else suppressed while muted, else active | cancelled | cancelled |
 * | suppressed | suppressed while muted, else active | cancelled | cancelled |
 * | active | active, whatever mutes it: a mute holds back messages | resolved; active while one quiet verdict more is needed or it flaps | expired |
 * | resolved, expired | soon after it was told the same row lives again, as from none; later it is a new row | | |
 * | cancelled | a new row: what was never told is over for good | | |
 *
 * Pending and suppressed are left by a fresh verdict, never by time alone. A row that lives again has been told of: what ends it while it
 * is pending or suppressed leaves it resolved.
 */
export function next(alert: AlertRecord | undefined, finding: AlertFinding, world: AlertWorld): AlertStep | NoStep {
  const { verdict } = finding;
  const decided = { decisions: [], messages: [], endsNote: false };
  if (verdict.kind === 'holds') {
    const draft: StepDraft<HoldingFinding> = { finding, verdict, world, ...decided };
    if (alert === undefined) return toStep(draft, begin(draft));
    return toStep(draft, alert.state === 'active' ? goOn(draft, alert) : waitOn(draft, alert));
  }
  if (alert === undefined) return 'unchanged';
  const draft: StepDraft<EndVerdict> = { finding, verdict, world, ...decided };
  const stays = verdict.kind === 'quiet' && alert.state === 'active' ? stayActive(draft, alert) : undefined;
  return toStep(draft, stays ?? end(draft, alert));
}

function toStep({ decisions, messages, endsNote }: StepDraft, alert: AlertRecord | NoStep): AlertStep | NoStep {
  if (typeof alert === 'string') return alert;
  const { state, dueAt, flappingUntil: untilAt } = alert;
  // That it flaps no more is a matter of time: it is looked at then, whether anything happens or not.
  const isAwaited = state === 'active' && dueAt === undefined && untilAt !== undefined;
  return { alert: isAwaited ? { ...alert, dueAt: untilAt } : alert, decisions, messages, endsNote };
}

/** The verdict holds, and no alert is live. */
function begin(draft: StepDraft<HoldingFinding>): AlertRecord {
  const { finding, verdict, world, decisions } = draft;
  const { now, last } = world;
  const { alertDelayMs } = finding.rules;
  const born = last !== undefined && mayLiveAgain(draft, last) ? reopened(draft, last) : newborn(draft);
  const mute = muteNow(draft, born);
  const dueAt = Math.min(verdict.beganAt ?? now, now) + alertDelayMs;
  decisions.push({ action: 'detected', detail: verdict.message });
  if (alertDelayMs > 0 && (verdict.untilAt ?? now) < dueAt) {
    decisions.push({ action: 'pending', reason: 'alertDelay', untilAt: dueAt });
    return { ...born, state: 'pending', dueAt };
  }
  if (mute) return suppress(draft, born, mute);
  decisions.push({ action: 'activated' });
  return activate(draft, born, undefined);
}

/** Told less than a duplicate window ago, the same incident goes on. */
function mayLiveAgain(draft: StepDraft<HoldingFinding>, last: AlertRecord): boolean {
  if (last.state === 'cancelled' || last.lastNotifiedAt === undefined) return false;
  // Of what was told late the window begins when it came to hold, as if it had been told then.
  const toldAt = last.delayed ? Math.min(last.lastNotifiedAt, last.sinceAt) : last.lastNotifiedAt;
  return happenedAt(draft) < toldAt + draft.finding.rules.suppressDuplicatesForMs;
}

function newborn(draft: StepDraft<HoldingFinding>): AlertRecord {
  const { finding, verdict, world } = draft;
  const { monitor, cronJob, type, subject } = finding;
  return {
    id: world.newId,
    fingerprint: world.fingerprint,
    monitorId: monitor.id,
    cronJobId: cronJob.id,
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type,
    subject,
    state: 'pending',
    suppressedBy: undefined,
    suppressedRef: undefined,
    dueAt: undefined,
    lastNotifiedAt: undefined,
    notifyNo: 0,
    count: verdict.count,
    // Changes are counted by identity, over the rows it has had.
    flips: world.last?.flips ?? [],
    reopened: 0,
    digestId: undefined,
    ...asItBegins(draft),
  };
}

function reopened(draft: StepDraft<HoldingFinding>, last: AlertRecord): AlertRecord {
  const { verdict, messages } = draft;
  messages.push({ kind: 'takenBack' });
  const count = isEdge(last.type) ? last.count + verdict.count : last.count;
  return { ...last, ...asItBegins(draft), count, reopened: last.reopened + 1 };
}

function asItBegins(draft: StepDraft<HoldingFinding>) {
  const { signature, delayed, message, figures, context, fault, sinceAt } = draft.verdict;
  const unknown = { activatedAt: undefined, endedAt: undefined, closeCause: undefined, flappingUntil: undefined };
  const seen = { detectedAt: draft.world.now, lastSeenAt: draft.world.now, quietCount: 0 };
  const said = { signature, delayed, message, figures, context, fault, sinceAt };
  return { ...severityNow(draft), ...unknown, ...seen, ...said };
}

function suppress({ decisions }: StepDraft, alert: AlertRecord, { by, ref, untilAt }: Mute): AlertRecord {
  decisions.push({ action: 'suppressed', reason: by, untilAt, detail: ref });
  return { ...alert, state: 'suppressed', suppressedBy: by, suppressedRef: ref, dueAt: untilAt };
}

/** Pending or suppressed, and it still holds. */
function waitOn(draft: StepDraft<HoldingFinding>, before: AlertRecord): AlertRecord | 'unchanged' {
  const { verdict, world, decisions } = draft;
  const alert: AlertRecord = {
    ...before,
    ...severityNow(draft),
    count: before.count + (isEdge(before.type) ? verdict.occurred : 0),
    lastSeenAt: world.now,
    signature: verdict.signature,
    message: verdict.message,
    figures: verdict.figures,
    context: keepKnown(before.context, verdict.context),
    fault: faultNow(draft, before),
  };
  if (alert.count > before.count) decisions.push({ action: 'occurrence', reason: 'counted' });
  const isTold = alert.count > before.count || alert.severity !== before.severity;
  const wasPending = before.state === 'pending';
  const { dueAt = -Infinity } = before;
  const { untilAt: knownUntilAt = world.now } = verdict;
  if (wasPending && knownUntilAt < dueAt) return isTold ? alert : 'unchanged';
  const mute = muteNow(draft, alert);
  // Whether it held as the mute ended is not known yet.
  const isBeyondSight = verdict.happenedAt === undefined && knownUntilAt < dueAt && dueAt <= world.now;
  if (!wasPending && !mute && isBeyondSight) return isTold ? alert : 'unchanged';
  if (mute) {
    const isSame =
      !wasPending &&
      before.suppressedBy === mute.by &&
      before.suppressedRef === mute.ref &&
      before.dueAt === mute.untilAt;
    if (!isSame) return suppress(draft, alert, mute);
    return isTold ? alert : 'unchanged';
  }
  const held: HeldBefore = {
    by: wasPending ? 'alertDelay' : (before.suppressedBy ?? 'maintenance'),
    sinceAt: before.detectedAt,
  };
  decisions.push({ action: wasPending ? 'activated' : 'released', reason: held.by });
  return activate(draft, alert, held);
}

/** The alert becomes active: it is told, or its message is held. The fourth change within an hour is told as flapping. */
function activate(draft: StepDraft<HoldingFinding>, waiting: AlertRecord, held: HeldBefore | undefined): AlertRecord {
  const { finding, verdict, world } = draft;
  const at = happenedAt(draft);
  const flips = addFlip(waiting.flips, at);
  const flaps = isFlapping(flips, at);
  const alert: AlertRecord = {
    ...waiting,
    state: 'active',
    activatedAt: world.now,
    dueAt: undefined,
    suppressedBy: undefined,
    suppressedRef: undefined,
    flips,
    flappingUntil: flaps ? flappingUntil(flips) : undefined,
    quietCount: 0,
  };
  const hold = messageHold(
    {
      imposed: verdict.hold ?? waitForParents(draft, alert),
      mute: muteNow(draft, alert),
      passesDuplicates: flaps,
      flappingUntil: undefined,
      lastNotifiedAt: alert.lastNotifiedAt,
      isUnderway: false,
      windowMs: finding.rules.suppressDuplicatesForMs,
    },
    world.now,
  );
  if (hold) return holdMessage(draft, alert, hold);
  return notify(draft, alert, { kind: flaps ? 'flapping' : 'firing', reason: undefined, held });
}

/** Why one quiet verdict does not end it: it flaps, or it takes two. Undefined: it ends. */
function stayActive(draft: StepDraft<EndVerdict>, alert: AlertRecord): AlertRecord | 'unchanged' | undefined {
  const at = happenedAt(draft);
  if (alert.flappingUntil !== undefined) {
    if (at >= alert.flappingUntil) return undefined;
    if (alert.quietCount > 0) return 'unchanged';
    const flips = addFlip(alert.flips, at);
    return { ...alert, flips, flappingUntil: flappingUntil(flips), dueAt: undefined, quietCount: 1 };
  }
  const quietCount = alert.quietCount + 1;
  // Of a time that has passed it is known when it ended.
  const needed = draft.verdict.endedAt === undefined ? quietVerdictsNeeded(alert.type, alert.subject) : 1;
  if (quietCount < needed) return { ...alert, quietCount };
  const flips = addFlip(alert.flips, at);
  return isFlapping(flips, at) ? beginFlapping(draft, alert, flips) : undefined;
}

/** Two in a row end what is computed over a window and may cross its limit to and fro; one ends all else. */
function quietVerdictsNeeded(type: AlertType, subject: AlertSubject | undefined): number {
  return isOverWindow({ type, subject }) ? 2 : 1;
}

/** The fourth change within an hour: from now on it stays active, and each change is told no more. */
function beginFlapping(draft: StepDraft<EndVerdict>, alert: AlertRecord, flips: Flips): AlertRecord {
  const flapping: AlertRecord = {
    ...alert,
    flips,
    flappingUntil: flappingUntil(flips),
    dueAt: undefined,
    quietCount: 1,
  };
  const mute = muteNow(draft, flapping);
  const hold = waitForParents(draft, flapping) ?? (mute && { ...mute, reason: mute.by });
  if (!hold) return notify(draft, flapping, { kind: 'flapping', reason: undefined, held: undefined });
  draft.decisions.push({ action: 'held', reason: hold.reason, untilAt: hold.untilAt, detail: hold.ref, once: true });
  return flapping;
}

function end(draft: StepDraft<EndVerdict>, before: AlertRecord): AlertRecord | 'asksWhatWasTold' {
  const { finding, verdict, world, decisions, messages } = draft;
  const wasActive = before.state === 'active';
  const owes = wasActive && before.notifyNo === 0 && before.dueAt !== undefined;
  if (owes && world.told === undefined) return 'asksWhatWasTold';
  const at = happenedAt(draft);
  // What was active when its monitor went is told to be over as that.
  const state = endOf(wasActive || before.suppressedBy === 'monitorGone', verdict, before.reopened > 0);
  const ended: AlertRecord = {
    ...before,
    state,
    endedAt: at,
    closeCause: state === 'expired' && verdict.kind === 'gone' ? verdict.cause : undefined,
    dueAt: undefined,
    suppressedBy: undefined,
    suppressedRef: undefined,
    lastSeenAt: world.now,
    flips: before.flappingUntil !== undefined ? [] : wasActive ? addFlip(before.flips, at) : before.flips,
    flappingUntil: undefined,
    quietCount: 0,
  };
  decisions.push(endDecision(state, verdict));
  draft.endsNote = world.note !== undefined;
  if (ended.notifyNo > 0) messages.push({ kind: 'closing', untold: undefined });
  const held = owes ? world.told?.lastHold : undefined;
  // The question whether a storm begins held back its only message. What a digest has gathered, it names itself.
  if (held?.by === 'storm' && before.digestId === undefined) {
    const routes = routesOf(finding.rules.alerting, ended, world.channelOf);
    const channels = 'told' in routes ? routes.told.flatMap(({ name, afterMs }) => (afterMs === 0 ? name : [])) : [];
    messages.push({ kind: 'closing', untold: { channels, held } });
  }
  return ended;
}

type EndState = Extract<AlertState, 'resolved' | 'expired' | 'cancelled'>;

function endOf(wasActive: boolean, verdict: EndVerdict, hadBeenTold: boolean): EndState {
  if (wasActive) return verdict.kind === 'gone' ? 'expired' : 'resolved';
  return hadBeenTold ? 'resolved' : 'cancelled';
}

function endDecision(action: EndState, verdict: EndVerdict): Decision {
  if (verdict.kind === 'gone') return { action, reason: verdict.cause };
  const { by: detail } = verdict;
  if (action === 'cancelled') return { action, reason: 'cleared', detail };
  // Names of Jobs are longer than a reason may be.
  return detail === undefined ? { action } : { action, reason: 'run', detail };
}
