import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { newRequestId } from './middleware/request-log.ts';

interface ApiListener {
  /** Port that was really taken. */
  readonly port: number;
  /** Takes no new connections, lets open requests end within `graceMs`, then cuts the rest. */
  close(graceMs: number): Promise<void>;
}

const bounds = {
  maxHeaderSize: 16 * 1024,
  /** Time for the head of a request, and for the whole of it. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  /** So long nothing may move in either direction while a request is answered: longer than any answer takes to begin. */
  idleLimitMs: 90_000,
  maxConnections: 1_000,
};
export type Bounds = typeof bounds;
/** After so long without a word the other end is asked whether it is still there: a client that fell silent holds no stream for ever. */
const aliveAfterMs = 30_000;
/** While closing, connections that became idle are looked for so often. */
const idleLookMs = 100;

/** Listens for the API and the user interface. Rejects when the port is taken. */
export async function listenApi(
  handler: RequestListener,
  address: { readonly host: string; readonly port: number },
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  { idleLimitMs, maxConnections, ...limits }: Bounds = bounds,
): Promise<ApiListener> {
  const alive = { keepAlive: true, keepAliveInitialDelay: aliveAfterMs };
  const server = createServer({ ...limits, ...alive, requireHostHeader: false }, (request, response) => {
    if (request.httpVersion === '1.1' && request.headers.host === undefined)
      refuse(
        request.socket,
        { status: '400 Bad Request', message: 'A request of HTTP/1.1 has the header Host' },
        logger,
      );
    else handler(request, response);
  });
  server.maxConnections = maxConnections;
  server.timeout = idleLimitMs;
  server.on('drop', () => server.closeIdleConnections()); // those that wait make room for those that ask
  server.on('clientError', (error, socket: Socket) => refuseUnreadable(error, socket, logger));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, close: (graceMs) => close(server, clock, graceMs) };
}

async function close(server: Server, clock: Clock, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const done = new AbortController();
  // Connections whose last request ends from now on would otherwise be kept alive for the next one.
  clock.every(idleLookMs, () => server.closeIdleConnections(), done.signal);
  const cut = clock.sleep(graceMs, done.signal).then(
    () => server.closeAllConnections(),
    () => {}, // aborted: everything ended in time
  );
  await closed;
  done.abort();
  await cut;
}

/** What a request is told that no parser could read. */
function refusalOf(code: string | undefined): { readonly status: string; readonly message: string } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: '431 Request Header Fields Too Large',
      message: `The line and the headers of a request have at most ${bounds.maxHeaderSize / 1024} KiB`,
    };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      status: '408 Request Timeout',
      message: `The headers of a request arrive within ${bounds.headersTimeout / 1_000} s, all of it within ${bounds.requestTimeout / 1_000} s`,
    };
  return { status: '400 Bad Request', message: 'The request could not be read as HTTP/1.1' };
}

/** Answers a request that could not be read as HTTP: no middleware sees it. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, logger: Logger): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuse(socket, refusalOf(error.code), logger);
}

function refuse(socket: Socket, { status, message }: ReturnType<typeof refusalOf>, logger: Logger): void {
  const requestId = newRequestId();
  logger.info('Request refused', { requestId, status: Number(status.slice(0, 3)), code: 'INVALID_REQUEST' });
  const body = JSON.stringify({ error: { code: 'INVALID_REQUEST', message, requestId, details: { problems: [] } } });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `X-Request-Id: ${requestId}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
