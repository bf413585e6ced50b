import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TestCertificate } from './test-certificate.ts';

/** A request as it arrived. */
interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** 1.1 or 2.0. */
  readonly httpVersion: string;
  /** Common name of the client's certificate, if it showed one. */
  readonly client: string | undefined;
}

interface TestAnswer {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object goes as JSON. */
  readonly body?: string | object | Uint8Array;
}

/** The answer itself, or what writes it: `never` leaves the request without one. */
type Answering = (
  request: SeenRequest,
  stream: AnswerStream,
) => TestAnswer | 'streamed' | 'never' | Promise<TestAnswer>;

/** An answer written piece by piece. */
interface AnswerStream {
  begin(status?: number, headers?: Readonly<Record<string, string>>): void;
  write(text: string): void;
  end(): void;
  /** Breaks off in the middle. */
  cut(): void;
}

/**
 * A server on loopback that answers as a test says: with a certificate HTTP/2 and HTTP/1.1 over TLS as an API server speaks them,
 * without one plain HTTP/1.1.
 */
export class TestServer {
  /** All that came. */
  readonly requests: SeenRequest[] = [];
  /** How many connections were ever opened. */
  connections = 0;
  answer: Answering = () => ({ body: {} });
  readonly #server: Server | Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  readonly #secure: boolean;

  private constructor(certificate: TestCertificate | undefined, clientAuthority: string | undefined) {
    this.#secure = certificate !== undefined;
    const onRequest = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) =>
      void this.#handle(request, response);
    this.#server = certificate
      ? createSecureServer(
          {
            ...certificate,
            allowHTTP1: true,
            ...(clientAuthority === undefined
              ? {}
              : { ca: clientAuthority, requestCert: true, rejectUnauthorized: false }),
          },
          onRequest,
        )
      : createServer(onRequest);
    const onSocket = (socket: Socket): void => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {}); // clients that break off are part of the tests
    };
    this.#server.on('connection', onSocket);
  }

  /** With `clientAuthority` (PEM) it asks for client certificates. */
  static async start(certificate?: TestCertificate, clientAuthority?: string): Promise<TestServer> {
    const server = new TestServer(certificate, clientAuthority);
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#secure ? 'https' : 'http'}://127.0.0.1:${port}`;
  }

  /** How many connections are open now. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Breaks every connection; the server goes on listening. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => {
      this.#server.close(resolve);
    });
    this.cutConnections();
    await stopped;
  }

  async #handle(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void> {
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk as Buffer);
    const socket = request.socket as Socket & { getPeerCertificate?: () => { subject?: { CN?: string } } };
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(body).toString('utf8'),
      httpVersion: request.httpVersion,
      client: socket.getPeerCertificate?.().subject?.CN,
    };
    this.requests.push(seen);
    const answer = await this.answer(seen, streamOn(response));
    if (answer === 'never' || answer === 'streamed') return;
    const { status = 200, headers = {}, body: content = '' } = answer;
    const isJson = typeof content === 'object' && !(content instanceof Uint8Array);
    const plain = response as ServerResponse; // the two kinds agree in what is used here
    plain.writeHead(status, { ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers });
    plain.end(isJson ? JSON.stringify(content) : content);
  }
}

function streamOn(response: ServerResponse | Http2ServerResponse): AnswerStream {
  const plain = response as ServerResponse; // the two kinds agree in what is used here
  return {
    begin(status = 200, headers = { 'content-type': 'application/json' }) {
      plain.writeHead(status, headers);
      plain.flushHeaders();
    },
    write: (text) => void plain.write(text),
    end: () => void plain.end(),
    cut: () => void ('stream' in response ? response.stream.destroy(new Error('cut')) : plain.destroy()),
  };
}
