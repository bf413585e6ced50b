import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { KeyPair } from '../servers/index.ts';
import { ArrivalLog } from './arrival-log.ts';

/** A request that arrived whole. */
export interface HttpArrival {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The answer as it was decided: a status, or how there was none. */
  readonly answered: number | string;
}

export interface HttpReply {
  /** 200 when absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Waits before it answers. */
  readonly delayMs?: number;
}

/**
 * How a request is answered: with a reply; never (`hang`), after its head never again (`hangInBody`); by breaking the connection
 * before (`cut`) or within the answer (`cutInBody`); or with these bytes in place of HTTP.
 */
export type HttpAnswer = HttpReply | 'hang' | 'hangInBody' | 'cut' | 'cutInBody' | { readonly raw: string };

export type Answering = (arrival: Omit<HttpArrival, 'answered'>) => HttpAnswer;

export interface HttpSinkOptions {
  /** Its log is kept there; undefined: in memory. */
  readonly logPath?: string | undefined;
  /** With a certificate it speaks TLS. */
  readonly tls?: KeyPair | undefined;
  /** What it answers unless told otherwise: 200 without a body. */
  readonly answer?: Answering | undefined;
  /** A port that was free a moment ago, to come back to; 0: any. */
  readonly port?: number | undefined;
}

/** A receiver on loopback that remembers what arrived, on disk if asked to, and answers as it is told. */
export class HttpSink {
  readonly log: ArrivalLog<HttpArrival>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #isSecure: boolean;
  readonly #next: HttpAnswer[] = [];
  #answer: Answering;
  /** Connections that were ever opened. */
  connections = 0;

  private constructor({ logPath, tls, answer = () => ({}) }: HttpSinkOptions) {
    this.log = new ArrivalLog(logPath);
    this.#answer = answer;
    this.#isSecure = tls !== undefined;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      this.#serve(request, response).catch(() => response.destroy());
    };
    this.#server = tls
      ? createSecureServer({ cert: tls.certificate, key: tls.key }, onRequest)
      : createServer(onRequest);
    this.#server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => {}); // senders that break off are part of the tests
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('tlsClientError', () => {});
  }

  static async start(options: HttpSinkOptions = {}): Promise<HttpSink> {
    const sink = new HttpSink(options);
    await new Promise<void>((resolve, reject) => {
      sink.#server.once('error', reject);
      sink.#server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** With `localhost` for TLS: certificates are for names. */
  get url(): string {
    return this.#isSecure ? `https://localhost:${this.port}` : `http://127.0.0.1:${this.port}`;
  }

  get arrivals(): readonly HttpArrival[] {
    return this.log.arrivals;
  }

  /** The next requests are answered so, one after the other; then as before. */
  answerNext(...answers: readonly HttpAnswer[]): void {
    this.#next.push(...answers);
  }

  answerAlways(answer: HttpAnswer | Answering): void {
    this.#answer = typeof answer === 'function' ? answer : () => answer;
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => {
      this.#server.close(resolve);
    });
    for (const socket of this.#sockets) socket.destroy();
    await stopped;
    this.log.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const arrival = {
      at: Date.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    const answer = this.#next.shift() ?? this.#answer(arrival);
    this.log.append({ ...arrival, answered: nameOf(answer) });
    await reply(answer, response);
  }
}

function nameOf(answer: HttpAnswer): number | string {
  if (typeof answer === 'string') return answer;
  return 'raw' in answer ? 'raw' : (answer.status ?? 200);
}

async function reply(answer: HttpAnswer, response: ServerResponse): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'cut') return void response.destroy();
  if (answer === 'hangInBody' || answer === 'cutInBody') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('the beginning of', () => answer === 'cutInBody' && response.destroy());
    return;
  }
  if ('raw' in answer) return void response.socket?.end(answer.raw);
  if (answer.delayMs !== undefined) await wait(answer.delayMs);
  response.writeHead(answer.status ?? 200, answer.headers);
  response.end(answer.body);
}
