import type { StreamData } from '@cronjob-monitor/shared/contract';

/** One message of the stream of changes. */
export interface StreamMessage {
  /** Cursor to resume after; `hello` and `health` carry none. */
  readonly id: string | undefined;
  /** Mostly a `ChangeKind`, `hello`, `resync` or `health`; a newer service may have others. */
  readonly kind: string;
  readonly data: unknown;
}

/** What changed, by kind: a hint to read again, not the object. */
export type Hint = {
  [Kind in keyof StreamData]: { readonly kind: Kind; readonly data: StreamData[Kind] };
}[keyof StreamData];

/**
 * Reads `text/event-stream` as it comes. `onBytes` is called with every piece, comments too: the stream lives. Ends when the server ends it;
 * an abort of the request throws.
 */
export async function* readStream(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<StreamMessage> {
  let kept = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    onBytes();
    kept += piece.replaceAll('\r\n', '\n');
    for (let end = kept.indexOf('\n\n'); end >= 0; end = kept.indexOf('\n\n')) {
      const message = toMessage(kept.slice(0, end));
      kept = kept.slice(end + 2);
      if (message) yield message;
    }
  }
}

/** One block of lines; undefined for comments and for what is no JSON. */
export function toMessage(block: string): StreamMessage | undefined {
  let id: string | undefined;
  let kind = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue; // a comment
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') id = value;
    else if (field === 'event') kind = value;
    else if (field === 'data') data.push(value);
  }
  if (data.length === 0) return undefined;
  try {
    return { id, kind, data: JSON.parse(data.join('\n')) as unknown };
  } catch {
    return undefined; // cut off, or not ours
  }
}
