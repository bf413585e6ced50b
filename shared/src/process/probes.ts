import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { BindAddress } from '../config/index.ts';
import { closeListener, listen, listenerLimits } from './listen.ts';

/** The listener of the kubelet's questions. */
interface Probes {
  /** Resolves to the port. */
  start(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * `/healthz` answers `ok` while the event loop turns, and asks nothing else: no outage of something we need may restart us.
 * `/readyz` answers `ok`, or 503 with a line for each reason.
 */
export function createProbes({
  address,
  unreadyBecause,
}: {
  readonly address: BindAddress;
  /** Why this process is not ready, a sentence each; empty when it is. */
  readonly unreadyBecause: () => readonly string[];
}): Probes {
  const server: Server = createServer(listenerLimits, (request, response) => answer(request, response, unreadyBecause));
  return { start: () => listen(server, 'probes.bind-address', address), stop: () => closeListener(server) };
}

function answer(request: IncomingMessage, response: ServerResponse, unreadyBecause: () => readonly string[]): void {
  request.resume();
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path !== '/healthz' && path !== '/readyz') return send(response, 404, 'not found');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(response, 405, 'method not allowed');
  }
  const reasons = path === '/readyz' ? unreadyBecause() : [];
  return reasons.length === 0 ? send(response, 200, 'ok') : send(response, 503, reasons.join('\n'));
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
