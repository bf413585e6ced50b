import { addFlip, flappingUntil, isFlapping, messageHold } from '@cronjob-monitor/shared/domain';
import { listDeliveriesOfAlert, type AlertRecord } from '@cronjob-monitor/shared/store';
import type { HeldBefore, HoldingFinding } from './finding.ts';
import { owe, tell } from './tell.ts';
import { happenedAt, muteNow, type Turn } from './turn.ts';

/** The alert becomes active: it is told, or its message is held. The fourth change within an hour is told as flapping. */
export async function activate(
  turn: Turn<HoldingFinding>,
  waiting: AlertRecord,
  held: HeldBefore | undefined,
): Promise<AlertRecord> {
  const { tx, now, finding, verdict } = turn;
  const at = happenedAt(turn);
  const flips = addFlip(waiting.flips, at);
  const flaps = isFlapping(flips, at);
  const alert: AlertRecord = {
    ...waiting,
    state: 'active',
    activatedAt: now,
    dueAt: undefined,
    suppressedBy: undefined,
    suppressedRef: undefined,
    flips,
    flappingUntil: flaps ? flappingUntil(flips) : undefined,
    quietCount: 0,
  };
  const deliveries = alert.notifyNo > 0 ? await listDeliveriesOfAlert(tx, alert.id) : [];
  const hold = messageHold(
    {
      imposed: verdict.hold,
      mute: muteNow(turn, alert),
      passesDuplicates: flaps,
      flappingUntil: undefined,
      lastNotifiedAt: alert.lastNotifiedAt,
      isUnderway: false,
      windowMs: finding.rules.suppressDuplicatesForMs,
    },
    now,
  );
  if (hold) return owe(turn, alert, hold);
  return tell(turn, alert, { kind: flaps ? 'flapping' : 'firing', held, deliveries, awaited: verdict.awaited });
}
