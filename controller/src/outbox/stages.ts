import type { DeliveryStateReason } from '@cronjob-monitor/shared/contract';
import {
  cutEnd,
  isAboutAlert,
  muteOf,
  retryAt,
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
  listUnwanted,
  updateRungKept,
  type ClaimedDelivery,
  type Settlement,
  type Store,
  type UnwantedReason,
} from '@cronjob-monitor/shared/store';
import {
  getChannel,
  type ChannelTarget,
  type Failed,
  type Outcome,
  type Progress,
  type Secrets,
  type SendDeps,
} from '../channels/index.ts';
import type { SecretReader } from './secret-reader.ts';

/** A stage passes a message on, puts it back into the queue until an instant, or cancels it with a reason. No stage drops one. */
export type StageAnswer<Value> =
  | { readonly kind: 'pass'; readonly value: Value }
  | { readonly kind: 'hold'; readonly untilAt: Instant; readonly reason: DeliveryStateReason | undefined }
  | { readonly kind: 'cancel'; readonly reason: string };

function pass<Value>(value: Value): { readonly kind: 'pass'; readonly value: Value } {
  return { kind: 'pass', value };
}

/** Finds the messages that are not to be sent any more, with one question for a whole claim. */
export function findUnwanted(
  store: Store,
  claimed: readonly ClaimedDelivery[],
): Promise<ReadonlyMap<string, UnwantedReason>> {
  return listUnwanted(
    store,
    claimed.map(({ id }) => id),
  );
}

/** Cancels a message whose alert was cleared, or whose channel or monitor sends none any more. */
export async function stillWanted(
  delivery: ClaimedDelivery,
  unwanted: ReadonlyMap<string, UnwantedReason>,
  { store, rulesOf }: TakeTurnDeps,
): Promise<StageAnswer<ClaimedDelivery>> {
  const reason = unwanted.get(delivery.id);
  if (reason === undefined) return pass(delivery);
  const { alertId, channelUid } = delivery;
  if (reason === 'alertingDisabled' && alertId !== undefined) {
    const rung = await findRung(store, { alertId, channelUid });
    // Messages follow the monitor in the cluster. Its row follows a moment later and may still say that alerting is off.
    if (rung && rulesOf(rung.alert)?.alerting?.enabled === true) return pass(delivery);
  }
  return { kind: 'cancel', reason };
}

export interface TakeTurnDeps {
  readonly store: Store;
  readonly epoch: number;
  /** What the monitor of an alert asks for now; undefined: it is gone, or cannot be read. */
  readonly rulesOf: (alert: MutableAlert) => AlertRules | undefined;
}

/** Most characters of the alert's own message beside what is said of the others. */
const mostOfMessage = 3_600;

/**
 * A channel that hears some time after the others is due: not if its monitor does not name it any more, not before the time that it names now,
 * not if a person acknowledged the alert, not while a person mutes it. Its message says who was told before.
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
  if (rules && ref === undefined && !isRouted(rules, channelName)) return { kind: 'cancel', reason: 'notNamed' };
  const turnAt = Math.min(rung.told[0]?.at ?? now, rung.waitsSinceAt) + (ref?.afterMs ?? 0);
  if (turnAt > now) return { kind: 'hold', untilAt: turnAt, reason: 'after' };
  const mute = muteOf(rung.alert, rules ?? { windows: [] }, await listSilences(store, now), now);
  const answer = rungOf({ ...rung, unlessAcknowledged: ref?.unlessAcknowledged ?? true, mute }, now);
  if (answer.kind === 'acknowledged') return { kind: 'cancel', reason: 'acknowledged' };
  if (answer.kind === 'hold') {
    await store.fenced(epoch, (tx) => updateRungKept(tx, delivery.id, delivery.severity));
    return { kind: 'hold', untilAt: answer.untilAt, reason: 'after' };
  }
  return pass({ ...delivery, payload: sayToldBefore(payload, answer.words, now - delivery.createdAt) });
}

/** Whether a route, or an annotation of the CronJob, names the channel. */
function isRouted({ alerting }: AlertRules, channel: string): boolean {
  const { routes = [], annotation = [] } = alerting ?? {};
  return annotation.includes(channel) || routes.some(({ channels }) => channels.some(({ name }) => name === channel));
}

function sayToldBefore(frozen: FrozenMessage, words: string, ms: Instant): FrozenMessage {
  const { message } = frozen;
  if (!isAboutAlert(message)) return frozen;
  const { alert } = message.data;
  const said = `${cutEnd(alert.message, mostOfMessage)} ${words}`;
  const told = { ...alert, message: said, heldBy: 'after', heldSeconds: Math.floor(ms / 1_000) } as const;
  return { ...frozen, message: { kind: message.kind, data: { ...message.data, alert: told } } };
}

/** A message waits so long when the API server did not answer for its Secret. */
const askAgainMs = 10_000;

/** What is needed to send, or why nothing can be sent until a person mends the channel. */
type Readied = { readonly secrets: Secrets } | { readonly problem: Failed };

/** The values of the channel's Secrets, as they are now. An API server that does not answer is no failure of the channel. */
export async function readSecret(
  target: ChannelTarget,
  deps: { readonly secrets: SecretReader; readonly now: () => Instant },
  signal: AbortSignal,
): Promise<StageAnswer<Readied>> {
  const read = await deps.secrets.read(target, signal);
  if (read.kind === 'unanswered') return { kind: 'hold', untilAt: deps.now() + askAgainMs, reason: 'backoff' };
  return pass(read.kind === 'unusable' ? { problem: read.problem } : { secrets: read.secrets });
}

/** One attempt: the same bytes under the same key as any before, but for the reduced form. */
export function send(
  delivery: ClaimedDelivery,
  of: {
    readonly payload: FrozenMessage;
    readonly target: ChannelTarget;
    readonly secrets: Secrets;
    readonly source: string;
  },
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id: deliveryId, streamId, createdAt } = delivery;
  return getChannel(of.target.type).send(
    {
      target: of.target,
      secrets: of.secrets,
      outgoing: { ...of.payload, deliveryId, streamId, createdAt, source: of.source },
      form: delivery.reduced ? 'reduced' : 'full',
      attempt: delivery.attempts,
      progress: delivery.progress as Progress | undefined, // as an earlier attempt left it
    },
    deps,
    signal,
  );
}

/** What is written of an attempt. `attempts`: this one included; `random` is in [0, 1). alerting.md section 6. */
export function toSettlement(
  outcome: Outcome,
  of: { readonly attempts: number; readonly now: Instant; readonly random: number },
): Settlement {
  if (outcome.kind === 'delivered') {
    const { httpStatus, progress } = outcome;
    if (!outcome.unfinished) return { kind: 'delivered', httpStatus, progress };
    return { kind: 'unfinished', nextAt: retryAt(of.now, of.attempts, undefined, of.random), progress };
  }
  const { next, category, message, httpStatus, retryAfterMs, maybeSent, progress } = outcome;
  return {
    kind: 'failed',
    next,
    nextAt: next === 'retry' ? retryAt(of.now, of.attempts, retryAfterMs, of.random) : undefined,
    error: { category, message, httpStatus: httpStatus ?? null },
    maybeSent,
    progress,
  };
}
