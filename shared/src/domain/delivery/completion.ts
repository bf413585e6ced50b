import type { ChannelType } from '../../contract/index.ts';

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
