import type { ChatFormat, WebhookFormat } from './vocabulary.ts';
import type { WireInstant } from './wire.ts';

/** A message as the sending code of its channel makes it, without what comes of a Secret. Parts that the medium does not have are null. */
export interface RenderedMessage {
  /** Of a chat or webhook its own; else the medium. */
  readonly format: ChatFormat | WebhookFormat | 'paging' | 'email';
  /** Subject, summary or title: one line. */
  readonly title: string;
  /** As people read it. */
  readonly text: string;
  /** Of a mail: a whole page of HTML, never to be run. */
  readonly html: string | null;
  /** Of a chat that has them: JSON, one for each block. */
  readonly blocks: readonly unknown[] | null;
  /** What goes over the wire but for credentials: JSON text; null: a mail. */
  readonly body: string | null;
}

/** GET /api/v1/channels/{name}/rendered */
export interface ChannelRendering {
  /** The newest message that the caller may read; null: there is none, or what it said is gone. */
  readonly newest: (RenderedMessage & { readonly deliveryId: string; readonly createdAt: WireInstant }) | null;
  /** What a failed run would look like; null: the channel's spec cannot be used. */
  readonly example: RenderedMessage | null;
}
