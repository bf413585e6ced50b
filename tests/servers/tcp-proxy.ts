import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** `toServer`: what the client says. `toClient`: what the server answers. */
export type Direction = 'toServer' | 'toClient';

/** What happens to bytes of one direction until it is set anew. */
export interface Disturbance {
  /** Each piece waits so long before it is passed on. */
  readonly delayMs?: number;
  /** Pieces are swallowed, connections stay open: a black hole. */
  readonly drop?: boolean;
  /** Pieces are kept and passed on when this is lifted. */
  readonly hold?: boolean;
}

export interface PassedPiece {
  readonly direction: Direction;
  readonly bytes: Buffer;
  /** Ordinal of the connection, from 0. */
  readonly connection: number;
}

/**
 * A TCP proxy that disturbs from outside what runs through it. `inspect` sees each piece before it is passed on and
 * may say what becomes of it: `cut` ends the connection at once, both ways, without delivering it; `drop` swallows the piece.
 */
export interface FaultProxy {
  readonly port: number;
  disturb(direction: Direction, disturbance: Disturbance): void;
  inspect(look: ((piece: PassedPiece) => 'pass' | 'drop' | 'cut') | undefined): void;
  /** Ends all connections with a reset. */
  reset(): void;
  /** While false new connections are refused by a reset. */
  accept(yes: boolean): void;
  /** Connections that are open now, and all there ever were. */
  readonly open: number;
  readonly total: number;
  close(): Promise<void>;
}

/** `listen` is the address of this computer at which it is reached: loopback unless said. */
export async function startFaultProxy(target: {
  readonly port: number;
  readonly host?: string;
  readonly listen?: string;
}): Promise<FaultProxy> {
  const state = new ProxyState(target);
  const server: Server = createServer((client) => {
    state.serve(client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, target.listen ?? '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return {
    port: address.port,
    disturb: (direction, disturbance) => {
      state.disturb(direction, disturbance);
    },
    inspect: (look) => {
      state.look = look;
    },
    reset: () => {
      state.reset();
    },
    accept: (yes) => {
      state.accepting = yes;
    },
    get open() {
      return state.pairs.size;
    },
    get total() {
      return state.total;
    },
    close: async () => {
      state.reset();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

/** Ends a connection with a reset; one whose end waits for its last bytes refuses that (EINVAL) and would be left open for ever. */
function resetNow(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

class ProxyState {
  readonly pairs = new Set<readonly [Socket, Socket]>();
  total = 0;
  accepting = true;
  look: ((piece: PassedPiece) => 'pass' | 'drop' | 'cut') | undefined;
  readonly #target: { readonly port: number; readonly host?: string };
  readonly #disturbances: Record<Direction, Disturbance> = { toServer: {}, toClient: {} };
  readonly #held: { readonly direction: Direction; readonly pass: () => void }[] = [];

  constructor(target: { readonly port: number; readonly host?: string }) {
    this.#target = target;
  }

  disturb(direction: Direction, disturbance: Disturbance): void {
    this.#disturbances[direction] = disturbance;
    if (disturbance.hold) return;
    const released = this.#held.filter((piece) => piece.direction === direction);
    this.#held.splice(0, this.#held.length, ...this.#held.filter((piece) => piece.direction !== direction));
    for (const piece of released) piece.pass();
  }

  reset(): void {
    for (const pair of this.pairs) for (const socket of pair) resetNow(socket);
    this.pairs.clear();
    this.#held.length = 0;
  }

  serve(client: Socket): void {
    if (!this.accepting) {
      resetNow(client);
      return;
    }
    const number = this.total++;
    const server = connect({ port: this.#target.port, host: this.#target.host ?? '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    const pair = [client, server] as const;
    this.pairs.add(pair);
    const end = (): void => {
      this.pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of pair) {
      // Either end's trouble ends both.
      socket.on('error', end);
      socket.on('close', end);
    }
    this.#pass(client, server, 'toServer', number, end);
    this.#pass(server, client, 'toClient', number, end);
  }

  #pass(from: Socket, to: Socket, direction: Direction, connection: number, cut: () => void): void {
    // Pieces of one direction keep their order, however long each is delayed.
    let before = Promise.resolve();
    from.on('data', (bytes: Buffer) => {
      const verdict = this.look?.({ direction, bytes, connection }) ?? 'pass';
      if (verdict === 'cut') {
        cut();
        return;
      }
      const { drop = false, delayMs = 0, hold = false } = this.#disturbances[direction];
      if (verdict === 'drop' || drop) return;
      const pass = (): void => {
        if (!to.destroyed) to.write(bytes);
      };
      if (hold) this.#held.push({ direction, pass });
      else if (delayMs > 0) before = before.then(() => wait(delayMs)).then(pass);
      else before = before.then(pass);
    });
    from.on('end', () => {
      before = before.then(() => {
        to.end();
      });
    });
  }
}
