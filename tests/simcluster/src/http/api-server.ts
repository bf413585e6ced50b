import { createServer, type Server } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { methodNotAllowed } from './api-error.ts';
import type { ServerRequestLike, ServerResponseLike } from './connection.ts';

/** Keys and certificate of a server, PEM. */
export interface TlsFiles {
  readonly key: string;
  readonly cert: string;
  /** Client certificates are asked for when given. */
  readonly ca?: string;
}

export interface ListenOptions {
  readonly port: number;
  readonly tls: TlsFiles | undefined;
}

type RequestListener = (request: ServerRequestLike, response: ServerResponseLike) => void;

/** A longer request line or header is refused with 431. */
const maxHeaderBytes = 1_048_576;

/** The listening socket of the simulated API server, plain or with TLS; with TLS it speaks HTTP/1.1 and HTTP/2. */
export class ApiServer {
  readonly #server: Server | Http2SecureServer;
  readonly #sockets = new Set<Duplex>();
  readonly #tls: boolean;
  #url: string | undefined;

  constructor(listener: RequestListener, tls: TlsFiles | undefined) {
    this.#tls = tls !== undefined;
    this.#server =
      tls === undefined
        ? createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 90_000, requestTimeout: 0 }, listener)
        : createSecureServer({ ...tls, allowHTTP1: true, maxHeaderListPairs: 2_000 }, listener);
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    this.#server.on('clientError', answerBrokenRequest);
  }

  /** `http://127.0.0.1:PORT`. Throws before the start. */
  get url(): string {
    if (this.#url === undefined) throw new Error('the simulated API server does not listen yet');
    return this.#url;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    // A server on a TCP port has an address of this form.
    const { port: bound } = this.#server.address() as AddressInfo;
    this.#url = `${this.#tls ? 'https' : 'http'}://127.0.0.1:${bound}`;
  }

  /** Closes every connection, as a server that dies. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.dropConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** What the HTTP parser refuses: a method that it does not know, headers without end, anything else. */
function answerBrokenRequest(error: Error & { code?: string; rawPacket?: Buffer }, socket: Duplex): void {
  if (!socket.writable) return;
  const answer = (status: string, type: string, body: string): void => {
    const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
    socket.end(head + body);
  };
  const plain = 'text/plain; charset=utf-8';
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    answer('431 Request Header Fields Too Large', plain, '431 Request Header Fields Too Large');
  } else if (error.code === 'HPE_INVALID_METHOD') {
    const body = methodNotAllowed().body;
    answer('405 Method Not Allowed', 'application/json', `${JSON.stringify(body)}\n`);
  } else if (error.code === 'ECONNRESET') {
    socket.destroy();
  } else {
    answer('400 Bad Request', plain, '400 Bad Request');
  }
}
