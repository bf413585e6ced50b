import {
  addFlip,
  flappingUntil,
  isFlapping,
  nextAlertState,
  quietVerdictsNeeded,
  type Flips,
} from '@cronjob-monitor/shared/domain';
import { listDeliveriesOfAlert, updateAcknowledgementEnd, type AlertRecord } from '@cronjob-monitor/shared/store';
import type { AlertState } from '@cronjob-monitor/shared/contract';
import type { FindingVerdict, HoldingFinding } from './finding.ts';
import type { Followed } from './raise.ts';
import { tell } from './tell.ts';
import { tellEnd } from './tell-end.ts';
import { decide, happenedAt, muteNow, type Turn } from './turn.ts';

type EndVerdict = Exclude<FindingVerdict, HoldingFinding>;

/** A live alert whose condition is quiet, or that cannot be judged any more. */
export async function followEnd(turn: Turn<EndVerdict>, before: AlertRecord): Promise<Followed | undefined> {
  const known: AlertRecord = { ...before, fingerprint: turn.fingerprint };
  const stays = turn.verdict.kind === 'quiet' && before.state === 'active' ? await stayActive(turn, known) : undefined;
  if (stays !== undefined) return stays === known ? undefined : { stored: before, alert: stays };
  return { stored: before, alert: await end(turn, known) };
}

/** Why one quiet verdict does not end it: it flaps, or it takes two. Undefined: it ends. The same alert: nothing changes. */
async function stayActive(turn: Turn<EndVerdict>, alert: AlertRecord): Promise<AlertRecord | undefined> {
  const at = happenedAt(turn);
  if (alert.flappingUntil !== undefined) {
    if (at >= alert.flappingUntil) return undefined;
    if (alert.quietCount > 0) return alert;
    const flips = addFlip(alert.flips, at);
    return { ...alert, flips, flappingUntil: flappingUntil(flips), dueAt: undefined, quietCount: 1 };
  }
  const quietCount = alert.quietCount + 1;
  if (quietCount < quietVerdictsNeeded(alert.type, alert.subject)) return { ...alert, quietCount };
  const flips = addFlip(alert.flips, at);
  return isFlapping(flips, at) ? beginFlapping(turn, alert, flips) : undefined;
}

/** The fourth change within an hour: from now on it stays active, and each change is told no more. */
async function beginFlapping(turn: Turn<EndVerdict>, alert: AlertRecord, flips: Flips): Promise<AlertRecord> {
  const flapping: AlertRecord = {
    ...alert,
    flips,
    flappingUntil: flappingUntil(flips),
    dueAt: undefined,
    quietCount: 1,
  };
  const mute = muteNow(turn, flapping);
  if (mute) {
    decide(turn, alert, { action: 'held', reason: mute.by, untilAt: mute.untilAt, detail: mute.ref, once: true });
    return flapping;
  }
  const deliveries = await listDeliveriesOfAlert(turn.tx, alert.id);
  return tell(turn, flapping, { kind: 'flapping', held: undefined, deliveries });
}

async function end(turn: Turn<EndVerdict>, before: AlertRecord): Promise<AlertRecord> {
  const { tx, now, verdict } = turn;
  const event = verdict.kind === 'gone' ? ({ kind: 'gone' } as const) : ({ kind: 'quiet' } as const);
  // Every live state leads to one of history by these events.
  // What was active when its monitor went is told to be over as that.
  const state = nextAlertState(
    before.suppressedBy === 'monitorGone' ? 'active' : before.state,
    event,
    before.reopened > 0,
  ) as Extract<AlertState, 'resolved' | 'expired' | 'cancelled'>;
  const wasFlapping = before.flappingUntil !== undefined;
  const at = happenedAt(turn);
  const ended: AlertRecord = {
    ...before,
    state,
    endedAt: at,
    closeCause: state === 'expired' && verdict.kind === 'gone' ? verdict.cause : undefined,
    dueAt: undefined,
    suppressedBy: undefined,
    suppressedRef: undefined,
    lastSeenAt: now,
    flips: wasFlapping ? [] : before.state === 'active' ? addFlip(before.flips, at) : before.flips,
    flappingUntil: undefined,
    quietCount: 0,
  };
  decide(turn, ended, { action: state, ...reasonOf(state, verdict) });
  if (turn.notes.has(ended.id)) await updateAcknowledgementEnd(tx, ended.id, now);
  return tellEnd(turn, ended, before);
}

function reasonOf(state: AlertState, verdict: EndVerdict): { readonly reason?: string; readonly detail?: string } {
  if (verdict.kind === 'gone') return { reason: verdict.cause };
  if (state === 'cancelled') return { reason: 'cleared', ...(verdict.by !== undefined && { detail: verdict.by }) };
  // Names of Jobs are longer than a reason may be.
  return verdict.by === undefined ? {} : { reason: 'run', detail: verdict.by };
}
