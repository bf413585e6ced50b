import { EventEmitter } from 'node:events';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { searchLog } from '@cronjob-monitor/shared/domain';

/** A message as it left the process. */
export interface Sent {
  readonly path: string;
  readonly body: string;
}

type Receive = (sent: Sent) => number;

/**
 * Puts what knows only real time out of the way of virtual time: sockets to receivers, and threads. Messages are received in the process
 * itself; threads answer at once, that which searches logs with what it found, the others that they have nothing to say, so nothing here tells
 * of suggested fixes. For the life of the process.
 */
export function standInForTheMachine(receive: Receive): void {
  http.request = ((options: http.RequestOptions) => new Request(options, receive)) as unknown as typeof http.request;
  threads.Worker = SilentThread as unknown as typeof threads.Worker;
  syncBuiltinESMExports();
}

class Request extends EventEmitter {
  readonly #path: string;
  readonly #receive: Receive;

  constructor({ path }: http.RequestOptions, receive: Receive) {
    super();
    this.#path = path ?? '/';
    this.#receive = receive;
  }

  end(body: Buffer): void {
    queueMicrotask(() => {
      const socket = new EventEmitter();
      this.emit('socket', socket);
      socket.emit('connect');
      const statusCode = this.#receive({ path: this.#path, body: body.toString() });
      const response = Object.assign(new EventEmitter(), { statusCode, headers: {}, complete: true });
      this.emit('response', response);
      response.emit('end');
      this.emit('close');
    });
  }

  destroy(): void {}
}

interface Search {
  readonly wanted: string;
  readonly logs: readonly string[];
  readonly most: number;
}

class SilentThread extends EventEmitter {
  constructor() {
    super();
    setImmediate(() => this.emit('message', { kind: 'ready' }));
  }

  postMessage(asked: Partial<Search>): void {
    const { wanted = '', logs, most = 0 } = asked;
    const output = logs?.map((log) => searchLog(log, (line) => line.includes(wanted), most));
    setImmediate(() => this.emit('message', { kind: 'output', output }));
  }

  ref(): void {}
  unref(): void {}

  async terminate(): Promise<number> {
    return 0;
  }
}
