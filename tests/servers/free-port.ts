import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Below what any system gives to outgoing connections, and above the ports that services are known by. */
const lowest = 12_000;
const highestElsewhere = 30_000;

/** What this process was given: a service with several listeners asks several times before it opens the first. */
const given = new Set<number>();

/**
 * A TCP port on loopback without a listener at this moment, outside the range from which connections get theirs: a server that is ended and
 * started again finds it free. No two calls of a process get the same. Another process may take it before it is used: be ready to ask again.
 */
export async function findFreePort(): Promise<number> {
  const highest = firstOfConnections() - 1;
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest + 1));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      resolve(true);
    });
  });
  if (!listens) return false;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  return true;
}

/** Where the system begins to number the ends of outgoing connections. */
function firstOfConnections(): number {
  try {
    const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/);
    return Math.max(lowest + 1_000, Math.min(Number(first), highestElsewhere));
  } catch {
    return highestElsewhere; // not a Linux
  }
}
