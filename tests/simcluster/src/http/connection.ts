import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

export type ServerRequestLike = IncomingMessage | Http2ServerRequest;
export type ServerResponseLike = ServerResponse | Http2ServerResponse;

/** NGHTTP2_INTERNAL_ERROR. */
const internalErrorCode = 2;

/** A body beyond what the server takes. */
export class BodyTooLarge extends Error {}

/** Reads a whole body. Throws `BodyTooLarge` when it has more than `limit` bytes. */
export async function readBody(request: ServerRequestLike, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The rest is read and dropped, so that the client gets to hear the answer.
    if (bytes <= limit) chunks.push(chunk);
  }
  if (bytes > limit) throw new BodyTooLarge();
  return Buffer.concat(chunks);
}

/** Ends a connection without another word; over HTTP/2 the one stream. */
export function destroyConnection(response: ServerResponseLike): void {
  if ('stream' in response) response.stream.close(internalErrorCode);
  else response.socket?.destroy();
}

/** Sends status and headers at once. */
export function startResponse(response: ServerResponseLike, code: number, headers: Record<string, string>): void {
  // Both protocols take the same call; only their declared types differ.
  (response as ServerResponse).writeHead(code, headers);
  if ('flushHeaders' in response) response.flushHeaders();
}

/** Writes to a response of either protocol. */
export function writeTo(response: ServerResponseLike, data: string | Buffer): void {
  // Both protocols take the same call; only their declared types differ.
  (response as ServerResponse).write(data);
}

export function endWith(response: ServerResponseLike, data?: string | Buffer): void {
  if (data === undefined) (response as ServerResponse).end();
  else (response as ServerResponse).end(data);
}
