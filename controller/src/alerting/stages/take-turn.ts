import {
  cutEnd,
  isAboutAlert,
  muteOf,
  rungOf,
  type AlertRules,
  type FrozenMessage,
  type Instant,
  type MutableAlert,
} from '@cronjob-monitor/shared/domain';
import {
  afterCause,
  findRung,
  listSilences,
  updateRungKept,
  type ClaimedDelivery,
  type Store,
} from '@cronjob-monitor/shared/store';
import { pass, type StageAnswer } from './stage.ts';

export interface TakeTurnDeps {
  readonly store: Store;
  readonly epoch: number;
  /** What the monitor of an alert asks for now; undefined: it is gone, or cannot be read. */
  readonly rulesOf: (alert: MutableAlert) => AlertRules | undefined;
}

/** Most characters of the alert's own message beside what is said of the others. */
const mostOfMessage = 3_600;

/**
 * A channel that hears some time after the others is due: not if a person acknowledged the alert, not while a person mutes it. Its message
 * says who was told before.
 */
export async function takeTurn(
  delivery: ClaimedDelivery,
  { store, epoch, rulesOf }: TakeTurnDeps,
): Promise<StageAnswer<ClaimedDelivery>> {
  const { alertId, channelUid, channelName, payload } = delivery;
  const isFirst = delivery.cause === afterCause && delivery.attempts === 1 && !delivery.maybeSent;
  if (!isFirst || alertId === undefined || payload === undefined) return pass(delivery);
  const rung = await findRung(store, { alertId, channelUid });
  if (rung === undefined) return pass(delivery);
  const now = store.now();
  const rules = rulesOf(rung.alert);
  const ref = rules?.alerting?.channelRefs.find(({ name }) => name === channelName);
  const mute = muteOf(rung.alert, rules ?? { windows: [] }, await listSilences(store, now), now);
  const answer = rungOf({ ...rung, unlessAcknowledged: ref?.unlessAcknowledged ?? true, mute }, now);
  if (answer.kind === 'acknowledged') return { kind: 'cancel', reason: 'acknowledged' };
  if (answer.kind === 'hold') {
    await store.fenced(epoch, (tx) => updateRungKept(tx, delivery.id, delivery.severity));
    return { kind: 'hold', untilAt: answer.untilAt, reason: 'after' };
  }
  return pass({ ...delivery, payload: sayToldBefore(payload, answer.words, now - delivery.createdAt) });
}

function sayToldBefore(frozen: FrozenMessage, words: string, ms: Instant): FrozenMessage {
  const { message } = frozen;
  if (!isAboutAlert(message)) return frozen;
  const { alert } = message.data;
  const said = `${cutEnd(alert.message, mostOfMessage)} ${words}`;
  const told = { ...alert, message: said, heldBy: 'after', heldSeconds: Math.floor(ms / 1_000) } as const;
  return { ...frozen, message: { kind: message.kind, data: { ...message.data, alert: told } } };
}
