import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Where an API server is and who asks. */
export interface ApiAddress {
  readonly url: string;
  readonly token?: string | undefined;
  /** PEM text of the certificate authority, for https. */
  readonly ca?: string | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed when the server says JSON, else text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of a foreign server, looked into by tests
  readonly body: any;
}

export interface ApiRequestOptions {
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** One request to an API server, on a connection of its own: independent of the product's client. */
export async function apiRequest(
  address: ApiAddress,
  method: string,
  path: string,
  options: ApiRequestOptions = {},
): Promise<ApiAnswer> {
  const { status, headers, chunks } = await apiStream(address, method, path, options);
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const text = Buffer.concat(parts).toString('utf8');
  const isJson = headers['content-type']?.includes('application/json') ?? false;
  return { status, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** As apiRequest, with the body as it comes: for watches and logs. Ends the connection when the reader leaves the loop. */
export async function apiStream(
  address: ApiAddress,
  method: string,
  path: string,
  options: ApiRequestOptions = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; chunks: AsyncIterable<Uint8Array> }> {
  const url = new URL(path, address.url);
  const payload = options.body === undefined ? undefined : JSON.stringify(options.body);
  const headers: Record<string, string> = { ...options.headers };
  if (address.token !== undefined) headers['authorization'] ??= `Bearer ${address.token}`;
  if (payload !== undefined) {
    headers['content-type'] = options.contentType ?? 'application/json';
    headers['content-length'] = String(Buffer.byteLength(payload));
  }
  const secure = url.protocol === 'https:';
  const agent = secure ? new HttpsAgent({ ca: address.ca, keepAlive: false }) : new HttpAgent({ keepAlive: false });
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>();
  const outgoing = (secure ? httpsRequest : httpRequest)(
    url,
    { method, headers, agent, signal: options.signal },
    resolve,
  );
  outgoing.on('error', reject);
  outgoing.end(payload);
  const letGo = (): void => agent.destroy();
  outgoing.once('error', letGo);
  const response = await promise;
  // The server may have gone before it closed its end: the connection is not waited for.
  response.once('close', letGo);
  return { status: response.statusCode ?? 0, headers: response.headers, chunks: response };
}
