import type { ChannelType, DeliveryStateReason, Hold } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { ChannelSpec } from '@cronjob-monitor/shared/kube';
import {
  updateHeldMessage,
  type ClaimedDelivery,
  type Settlement,
  type Store,
  type UnwantedReason,
} from '@cronjob-monitor/shared/store';
import { failed, type Outcome, type SendDeps } from '../channels/index.ts';
import { foldDigest, type FoldDigestDeps } from './digests.ts';
import { lateAfterMs, sayHeld } from './freeze-claimed.ts';
import type { SecretReader } from './secret-reader.ts';
import { readSecret, send, stillWanted, takeTurn, toSettlement, type TakeTurnDeps } from './stages.ts';

export interface PipelineDeps extends FoldDigestDeps, TakeTurnDeps {
  readonly store: Store;
  /** The spec of the AlertChannel as it is now; undefined: nothing can be sent with it. */
  readonly findSpec: (channelUid: string) => ChannelSpec | undefined;
  readonly secrets: SecretReader;
  readonly sending: SendDeps;
  /** Names the cluster to receivers that keep alerts of many. */
  readonly source: string;
  /** What held back a message that does not say it of itself. */
  readonly heldBy: (delivery: ClaimedDelivery) => Hold;
  readonly random: () => number;
}

/** What the pipeline made of a claimed message: perhaps of the digest that took its place. */
export interface Judged {
  readonly delivery: ClaimedDelivery;
  readonly settlement: Settlement;
  readonly channelType: ChannelType | undefined;
  /** Undefined: nothing was tried. */
  readonly attempt: { readonly outcome: Outcome; readonly seconds: number } | undefined;
}

/**
 * One message, stage by stage: still wanted, its turn, folded into a digest, Secrets read, sent. `mayBegin` is asked right before the send: the
 * lead and the time of the claim must last for it. Rejects only when the process loses its lead, or the database does not answer.
 */
export async function deliver(
  claimed: ClaimedDelivery,
  unwanted: ReadonlyMap<string, UnwantedReason>,
  deps: PipelineDeps,
  guard: { readonly signal: AbortSignal; readonly mayBegin: () => boolean },
): Promise<Judged> {
  const { store } = deps;
  const now = (): Instant => store.now();
  const wanted = await stillWanted(claimed, unwanted, deps);
  if (wanted.kind !== 'pass') return notTried(claimed, wanted);

  const spec = deps.findSpec(claimed.channelUid);
  if (spec === undefined) return judge(claimed, unusableSpec, deps);

  const channel = { type: spec.type, burst: spec.rateLimiting.burstLimit };
  const turn = await takeTurn(claimed, deps);
  if (turn.kind !== 'pass') return notTried(claimed, turn);
  const folded = await foldDigest(turn.value, channel, deps);
  if (folded.kind !== 'pass') return notTried(claimed, folded);
  const delivery = folded.value;
  const { payload } = delivery;
  if (payload === undefined) return judge(delivery, withoutPayload, deps);

  const readied = await readSecret(spec, { secrets: deps.secrets, now }, guard.signal);
  if (readied.kind !== 'pass') return notTried(delivery, readied);
  if ('problem' in readied.value) return judge(delivery, readied.value.problem, deps);

  const { secrets } = readied.value;
  const told = await freezeHeld(
    delivery,
    payload,
    { isReworded: delivery === turn.value && delivery !== claimed },
    deps,
  );
  if (told === undefined || !guard.mayBegin()) {
    return notTried(delivery, { kind: 'hold', untilAt: now(), reason: undefined });
  }
  const begunMs = deps.sending.clock.monotonicMs();
  const outcome = await send(
    delivery,
    { payload: told, target: spec, secrets, source: deps.source },
    deps.sending,
    guard.signal,
  );
  const seconds = (deps.sending.clock.monotonicMs() - begunMs) / 1_000;
  if (outcome.kind === 'failed' && (outcome.next === 'park' || outcome.next === 'invalid')) deps.secrets.forget(spec);
  return { ...judge(delivery, outcome, deps), channelType: spec.type, attempt: { outcome, seconds } };
}

const unusableSpec = failed('invalid', 'rejected', 'the spec of the channel cannot be used');
const withoutPayload = failed('dead', 'rejected', 'its text is not kept any more');

function judge(delivery: ClaimedDelivery, outcome: Outcome, deps: PipelineDeps): Judged {
  const of = { attempts: delivery.attempts, now: deps.store.now(), random: deps.random() };
  return { delivery, settlement: toSettlement(outcome, of), channelType: undefined, attempt: undefined };
}

function notTried(
  delivery: ClaimedDelivery,
  answer:
    | { readonly kind: 'cancel'; readonly reason: string }
    | {
        readonly kind: 'hold';
        readonly untilAt: Instant;
        readonly reason: DeliveryStateReason | undefined;
      },
): Judged {
  const settlement: Settlement =
    answer.kind === 'cancel'
      ? { kind: 'unwanted', reason: answer.reason }
      : { kind: 'putBack', nextAt: answer.untilAt, reason: answer.reason };
  return { delivery, settlement, channelType: undefined, attempt: undefined };
}

/**
 * A message that was held before its first attempt, or waited for its turn, says so, and is kept as it says it: every attempt sends the same bytes. Undefined: the
 * claim is not ours any more.
 */
async function freezeHeld(
  delivery: ClaimedDelivery,
  payload: NonNullable<ClaimedDelivery['payload']>,
  { isReworded }: { readonly isReworded: boolean },
  deps: PipelineDeps,
): Promise<NonNullable<ClaimedDelivery['payload']> | undefined> {
  const ms = deps.store.now() - delivery.createdAt;
  if (delivery.attempts > 1 || delivery.maybeSent) return payload;
  if (!isReworded && (delivery.kind === 'update' || ms <= lateAfterMs)) return payload;
  const told = isReworded ? payload : sayHeld(payload, { by: deps.heldBy(delivery), ms });
  if (told === payload && !isReworded) return payload;
  const isKept = await deps.store.fenced(deps.epoch, (tx) =>
    updateHeldMessage(tx, { deliveryId: delivery.id, claimedBy: deps.claimedBy, payload: told }),
  );
  return isKept ? told : undefined;
}
