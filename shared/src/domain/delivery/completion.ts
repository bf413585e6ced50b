import type { ChannelType, DeliveryState } from '../../contract/index.ts';
import type { Message } from './message.ts';

/** A channel as far as it decides how long a message waits for evidence, and whether one that has left can be completed. */
export interface CompletableChannel {
  readonly type: ChannelType;
  /** `spec.webhook.sendUpdates`. */
  readonly sendUpdates: boolean;
}

/** A mail cannot be completed, and its reader comes later than that. */
const emailWaitMs = 3_000;

/**
 * Whether evidence that comes after a message has left can be added to it without calling anyone twice: paging adds to the incident's log,
 * a webhook that asks for it gets `alert.updated`. A second mail would be noise, and an incoming webhook of a chat names no message that
 * could be changed.
 */
export function isCompletable({ type, sendUpdates }: CompletableChannel): boolean {
  return type === 'paging' || (type === 'webhook' && sendUpdates);
}

/**
 * How long a message waits at most for evidence that is still being taken, milliseconds. A page goes at once, and is completed.
 *
 * @param messageWaitMs `evidence.message-wait`
 */
export function evidenceWaitMs({ type }: Pick<CompletableChannel, 'type'>, messageWaitMs: number): number {
  if (type === 'paging') return 0;
  return type === 'email' ? Math.max(emailWaitMs, messageWaitMs) : messageWaitMs;
}

/** An update is worth nothing after so long. */
export const updateKeptMs = 10 * 60_000;
/** How often an update is tried: what it completes has arrived. */
const mostUpdateAttempts = 2;

/** Whether a message was frozen, and will arrive or has, while evidence of its run was still being read. */
export function isIncomplete(
  { state, attempts }: { readonly state: DeliveryState; readonly attempts: number },
  message: Message,
): boolean {
  if (message.kind !== 'firing' && message.kind !== 'reminder' && message.kind !== 'flapping') return false;
  const isTriedAgain = (state === 'ready' || state === 'parked') && attempts > 0;
  return (state === 'claimed' || state === 'sent' || isTriedAgain) && message.data.context.pending;
}

/** What becomes of an update that was not taken. `next`: what would become of another message. */
export function afterRefusedUpdate(next: string, attempts: number): 'retry' | 'cancel' {
  return next === 'retry' && attempts < mostUpdateAttempts ? 'retry' : 'cancel';
}
