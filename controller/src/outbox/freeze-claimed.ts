import type { Hold } from '@cronjob-monitor/shared/contract';
import {
  isAboutAlert,
  toAlertFacts,
  toMessageEvidence,
  type AlertMessage,
  type Evidence,
  type FrozenMessage,
  type Instant,
  type Message,
} from '@cronjob-monitor/shared/domain';
import {
  afterCause,
  listAlertsAsTold,
  listEvidenceOf,
  updateHeldMessage,
  type AlertToldThere,
  type ClaimedDelivery,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { withLearned, type FreezeMessage } from '../alerting/index.ts';

/** A message that was held longer says by what and for how long (alerting.md section 8). */
export const lateAfterMs = 60_000;

/** The message, saying what held it until now; as it is where it says so already, or is about no alert. */
export function sayHeld(
  frozen: FrozenMessage,
  held: { readonly by: Hold; readonly ms: number; readonly notification?: number | undefined },
): FrozenMessage {
  const { message } = frozen;
  if (!isAboutAlert(message)) return frozen;
  const { alert } = message.data;
  const notification = held.notification ?? alert.notification;
  const saysAlready = alert.heldBy !== null && alert.heldSeconds * 1_000 >= held.ms;
  const heldBy = saysAlready ? alert.heldBy : held.by;
  const heldSeconds = saysAlready ? alert.heldSeconds : Math.floor(held.ms / 1_000);
  const data = { ...message.data, alert: { ...alert, notification, heldBy, heldSeconds } };
  return { ...frozen, message: { kind: message.kind, data } };
}

/**
 * Freezes messages as they are claimed first: one that waited, for its turn, its channel or a limit, says what is so of its alert now, of its
 * newest run, with what is known of that run. One that leaves soon stays as it was worded, but for what was learned of its run.
 */
export async function freezeClaimed(
  tx: Tx,
  claimed: readonly ClaimedDelivery[],
  by: { readonly freeze: FreezeMessage; readonly claimedBy: string },
): Promise<ClaimedDelivery[]> {
  const now = tx.now();
  const waited = claimed.flatMap((delivery) => {
    const about = aboutAlert(delivery);
    return about && mayChange(delivery, about.data, now) ? [{ delivery, ...about }] : [];
  });
  if (waited.length === 0) return [...claimed];
  const alerts = await listAlertsAsTold(tx, [...new Set(waited.map(({ alertId }) => alertId))]);
  const explained = [...alerts.values()].filter(isExplained).map(({ alert }) => alert.id);
  const evidence = await listEvidenceOf(tx, explained, ['logs', 'events', 'attempts']);
  const anew = new Map<string, FrozenMessage>();
  for (const one of waited) {
    const told = alerts.get(one.alertId);
    const payload = told && freezeNow(one, told, evidence.get(one.alertId) ?? [], { ...by, now });
    if (payload === undefined || payload === one.payload) continue;
    const { id: deliveryId } = one.delivery;
    await updateHeldMessage(tx, { deliveryId, claimedBy: by.claimedBy, payload });
    anew.set(deliveryId, payload);
  }
  return claimed.map((delivery) => ({ ...delivery, payload: anew.get(delivery.id) ?? delivery.payload }));
}

/** A claimed message about an alert, taken apart. */
interface Waited {
  readonly delivery: ClaimedDelivery;
  readonly alertId: string;
  readonly payload: FrozenMessage;
  readonly kind: Exclude<Extract<Message, { readonly data: AlertMessage }>['kind'], 'update'>;
  readonly data: AlertMessage;
}

function aboutAlert({ alertId, payload }: ClaimedDelivery): Omit<Waited, 'delivery'> | undefined {
  if (alertId === undefined || payload === undefined) return undefined;
  const { message } = payload;
  if (!isAboutAlert(message) || message.kind === 'update') return undefined;
  return { alertId, payload, kind: message.kind, data: message.data };
}

const isLate = ({ cause, createdAt }: ClaimedDelivery, now: Instant): boolean =>
  cause === afterCause || now - createdAt > lateAfterMs;

function mayChange(delivery: ClaimedDelivery, { context }: AlertMessage, now: Instant): boolean {
  return delivery.attempts === 1 && !delivery.maybeSent && (context.pending || isLate(delivery, now));
}

type ToldAlert = Pick<AlertToldThere, 'alert' | 'monitor' | 'cronJob'>;

/** What is kept with the alert is about the run that it speaks of now. */
function isExplained({ alert }: ToldAlert): boolean {
  const { evidenceOf, jobUid } = toAlertFacts(alert.context);
  return jobUid !== undefined && evidenceOf === jobUid;
}

function freezeNow(
  { delivery, payload, kind, data }: Waited,
  told: ToldAlert,
  kept: readonly Evidence[],
  { freeze, now }: { readonly freeze: FreezeMessage; readonly now: Instant },
): FrozenMessage {
  const { alert, monitor, cronJob } = told;
  const facts = toAlertFacts(alert.context);
  const isOfRun = facts.jobUid === payload.jobUid;
  const evidence = isExplained(told) ? toMessageEvidence(kept, facts.place?.container) : undefined;
  // A rise has a message of its own, and so has an end.
  const stays = kind === 'closing' || alert.endedAt !== undefined || alert.severity !== delivery.severity;
  if (stays || (isOfRun && !isLate(delivery, now)))
    return isOfRun && evidence && data.context.pending ? withLearned(payload, facts, evidence, alert.fault) : payload;
  const { notification, state, heldBy, heldSeconds } = data.alert;
  const awaitsEvidence = data.context.pending && evidence === undefined;
  const finding = { monitor, cronJob, verdict: { kind: 'quiet' } } as const;
  const frozen = freeze({ kind, alert, finding, notification, held: undefined, evidence, awaitsEvidence, at: now });
  if (!isAboutAlert(frozen.message)) return payload;
  const { data: fresh } = frozen.message;
  const context = isOfRun && evidence === undefined ? data.context : fresh.context;
  const said = { ...fresh, alert: { ...fresh.alert, state, heldBy, heldSeconds }, context };
  return { ...frozen, heading: payload.heading, message: { kind, data: said } };
}
