import { connect, type Socket } from 'node:net';
import type { SendDeps } from './channel.ts';
import { lookupIn, reach } from './reach.ts';
import { orAborted } from './time-limit.ts';
import { addressRefused, nameUnknown, type TransportFailure } from './transport-failure.ts';

/**
 * A connection to a checked address, for protocols that are not HTTP. Rejects with the reason of an aborted signal or with the
 * system's error.
 */
export async function openSocket(
  { host, port }: { readonly host: string; readonly port: number },
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Socket | TransportFailure> {
  const reached = await orAborted(reach(host, deps), signal);
  if (!('addresses' in reached)) return reached.refused === 'address' ? addressRefused : nameUnknown;
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port, lookup: lookupIn(reached.addresses) });
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return socket;
  } catch (error) {
    socket.on('error', () => {}); // It is over, and said.
    socket.destroy();
    throw error;
  }
}
