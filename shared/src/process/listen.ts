import type { Server } from 'node:net';
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
export async function listen(server: Server, name: string, address: BindAddress): Promise<number> {
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
