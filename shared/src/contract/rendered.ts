import { anything, extended, id, instant, listOf, nullable, object, type Of, text, words } from './shape/shape.ts';
import { chatFormats, webhookFormats } from './vocabulary.ts';

/** A message as the sending code of its channel makes it, without what comes of a Secret. Parts that the medium does not have are null. */
export const RenderedMessage = object('RenderedMessage', {
  /** Of a chat or webhook its own; else the medium. */
  format: words([...chatFormats, ...webhookFormats, 'paging', 'email']),
  /** Subject, summary or title: one line. */
  title: text,
  /** As people read it. */
  text,
  /** Of a mail: a whole page of HTML, never to be run. */
  html: nullable(text),
  /** Of a chat that has them: JSON, one for each block. */
  blocks: nullable(listOf(anything)),
  /** What goes over the wire but for credentials: JSON text; null: a mail. */
  body: nullable(text),
});
export type RenderedMessage = Of<typeof RenderedMessage>;

/** GET /api/v1/channels/{name}/rendered */
export const ChannelRendering = object('ChannelRendering', {
  /** The newest message that the caller may read; null: there is none, or what it said is gone. */
  newest: nullable(extended(RenderedMessage, { deliveryId: id, createdAt: instant })),
  /** What a failed run would look like; null: the channel's spec cannot be used. */
  example: nullable(RenderedMessage),
});
export type ChannelRendering = Of<typeof ChannelRendering>;
