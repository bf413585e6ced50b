import type { Server as NetServer } from 'node:net';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { BindAddress } from '../config/index.ts';

/** The bounds of our small listeners; the names are those of Node's HTTP server. */
export const listenerLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
} as const;

/**
 * Listens at an address, on all addresses of the machine when it names none.
 *
 * @returns the port that was really taken
 * @throws Error naming the listener and the address, when it cannot be had
 */
export async function listen(server: NetServer, name: string, address: BindAddress): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      const where = `${address.host ?? ''}:${address.port}`;
      reject(new Error(`${name} cannot listen at ${where}: ${error.code ?? error.message}`, { cause: error }));
    };
    server.once('error', onError);
    server.listen({ port: address.port, ...(address.host === undefined ? {} : { host: address.host }) }, () => {
      server.off('error', onError);
      resolve();
    });
  });
  const taken = server.address();
  return taken !== null && typeof taken === 'object' ? taken.port : address.port;
}

/** What closing needs of an HTTP or HTTPS server. */
interface ClosableServer {
  close(callback: () => void): unknown;
  closeAllConnections(): void;
}

/** Takes no new connection and ends the open ones. Nothing to do for a server that does not listen. */
export async function closeListener(server: ClosableServer): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

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
