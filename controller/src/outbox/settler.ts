import type { Instant } from '@cronjob-monitor/shared/domain';
import { settleDeliveries, type Settled, type Store } from '@cronjob-monitor/shared/store';
import type { DeliveryMetrics, ToldMessage } from '../metrics/index.ts';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { Judged } from './pipeline.ts';

/** Answers of one transaction: more wait for the next. */
const mostAtOnce = 64;

/** A claim lasts 30 s, and a send up to 15 s of it. */
const stuckMs = 5_000;

interface SettlerDeps {
  readonly store: Store;
  readonly epoch: number;
  readonly claimedBy: string;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChannelChanged: (uid: string) => void;
  /** It took a message, which it did not before; or it is unknown whether it did. */
  readonly onRecovered: (channelUid: string) => void;
}

/** Writes what came of messages: answers that arrive while others are written are written together. */
export class Settler {
  readonly #deps: SettlerDeps;
  #waiting: Judged[] = [];
  /** Since when the oldest of them waits, or the last ones were written. */
  #sinceMs = 0;
  /** Channels that took a message in this term. */
  readonly #working = new Set<string>();

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  /** How many answers are not written yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Answers have waited for so long that their claims may run out: nothing must be claimed before they are written. */
  get isStuck(): boolean {
    return this.#waiting.length > 0 && this.#deps.clock.monotonicMs() - this.#sinceMs > stuckMs;
  }

  add(judged: Judged): void {
    if (this.#waiting.length === 0) this.#sinceMs = this.#deps.clock.monotonicMs();
    this.#waiting.push(judged);
  }

  /** Writes what waits, in one transaction, and returns it. When that fails, all of it waits on. */
  async settle(): Promise<readonly Judged[]> {
    const { store, epoch, claimedBy } = this.#deps;
    const batch = this.#waiting.slice(0, mostAtOnce);
    const requests = batch.map(({ delivery: { id: deliveryId, claimUntil }, settlement, attempt }) => ({
      deliveryId,
      claimedBy,
      claimUntil,
      settlement,
      tookMs: attempt && Math.round(attempt.seconds * 1_000),
    }));
    const settled = await store.fenced(epoch, (tx) => settleDeliveries(tx, requests));
    this.#waiting = this.#waiting.slice(batch.length);
    this.#sinceMs = this.#deps.clock.monotonicMs();
    const at = store.now();
    try {
      for (const [index, judged] of batch.entries()) this.#tell(judged, settled[index], at);
      for (const uid of new Set(batch.map(({ delivery }) => delivery.channelUid))) this.#deps.onChannelChanged(uid);
    } catch (error) {
      // It is written: what is only told of it must not make it written again.
      this.#deps.logger.error('what was settled could not be told', { error });
    }
    return batch;
  }

  #tell(judged: Judged, settled: Settled | undefined, at: Instant): void {
    const { metrics, logger } = this.#deps;
    const { delivery, settlement } = judged;
    this.#tellAttempt(judged);
    if (settled === undefined) {
      logger.warn('an answer came after the claim was lost', {
        deliveryId: delivery.id,
        channel: delivery.channelName,
      });
      return;
    }
    const message = toMessage(judged, settled);
    if (settlement.kind === 'delivered') metrics.sent(message, lagOf(judged, at));
    if (settlement.kind === 'failed') {
      metrics.failed(message);
      if (settled.state === 'dead' || settled.state === 'cancelled') metrics.ended(message, settled.state);
    }
    if (settlement.kind === 'unwanted') metrics.ended(message, 'cancelled');
    const { channel } = settled;
    if (channel.holdChanged) {
      const facts = { channel: channel.name, hold: channel.hold ?? null, failuresInRow: channel.failuresInRow };
      if (channel.hold === undefined) logger.info('a channel takes messages again', facts);
      else logger.warn('a channel is held', facts);
    }
    const isAccepted = settlement.kind === 'delivered' || settlement.kind === 'unfinished';
    if (!isAccepted || delivery.kind === 'update') return;
    const isFirst = !this.#working.has(channel.uid);
    this.#working.add(channel.uid);
    if (isFirst || channel.recovered) this.#deps.onRecovered(channel.uid);
  }

  #tellAttempt({ delivery, attempt, settlement, channelType }: Judged): void {
    const { metrics, logger } = this.#deps;
    if (settlement.kind === 'failed') {
      const { category, message, httpStatus } = settlement.error;
      logger.warn('a message was not accepted', {
        deliveryId: delivery.id,
        channel: delivery.channelName,
        attempt: delivery.attempts,
        next: settlement.next,
        category,
        reason: message,
        httpStatus,
      });
    }
    if (attempt === undefined || channelType === undefined) return;
    const result = attempt.outcome.kind === 'delivered' ? 'ok' : attempt.outcome.category;
    metrics.attempted({ channelType, result, seconds: attempt.seconds });
  }
}

function toMessage({ delivery }: Judged, { alert, kind, isFirstNotice, severity }: Settled): ToldMessage {
  return {
    kind,
    isFirstNotice,
    severity,
    channel: delivery.channelName,
    alert: alert && { type: alert.type, namespace: alert.namespace, cronJobName: alert.cronJobName },
  };
}

/** From detection to the first success, seconds; undefined where a delay or a hold was between them. */
function lagOf({ delivery }: Judged, at: Instant): number | undefined {
  const { message } = delivery.payload ?? {};
  if (message?.kind !== 'firing' || delivery.attempts > 1 || delivery.heldBy !== undefined) return undefined;
  const { alert } = message.data;
  const isFirst = alert.notification === 1 && alert.heldBy === null && !alert.delayed;
  return isFirst ? (at - Date.parse(alert.detectedAt)) / 1_000 : undefined;
}
