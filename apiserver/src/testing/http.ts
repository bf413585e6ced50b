import { createServer, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ErrorBody } from '@cronjob-monitor/shared/contract';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body read as JSON; throws when it is none. */
  json(): unknown;
  /** The error that the body holds. */
  error(): ErrorBody['error'];
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | object;
}

export interface TestServer {
  readonly port: number;
  ask(path: string, question?: Question): Promise<Answer>;
  close(): Promise<void>;
}

/** Serves a handler on a free port of loopback, and asks it with headers that a browser or `fetch` would not let through. */
export async function serve(handler: RequestListener): Promise<TestServer> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: (path, question = {}) => ask(port, path, question),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function ask(port: number, path: string, question: Question): Promise<Answer> {
  const { body } = question;
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const bytes = isJson ? JSON.stringify(body) : body;
  const headers = {
    ...(isJson ? { 'Content-Type': 'application/json' } : {}),
    ...(bytes === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(bytes)) }),
    ...question.headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method: question.method ?? 'GET', headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const { statusCode = 0, headers: answered } = response;
          resolve({
            status: statusCode,
            headers: answered,
            text,
            json: () => JSON.parse(text) as unknown,
            error: () => (JSON.parse(text) as ErrorBody).error,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });
}
