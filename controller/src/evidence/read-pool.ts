/** Bounds how many reads run at once, in all and per node: a node's kubelet serves few log streams well. */
export interface ReadPool {
  /** Runs `read` when there is room; waits in line otherwise. Rejects with the signal's reason when aborted while waiting. */
  run<T>(node: string, read: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Reads that wait in line. */
  readonly waiting: number;
}

interface Waiting {
  readonly node: string;
  readonly begin: () => void;
}

/** `concurrency` reads in all, `perNode` of one node; first come first served, but a busy node delays no other. */
export function createReadPool(limits: { concurrency: number; perNode: number }): ReadPool {
  const line: Waiting[] = [];
  const running = new Map<string, number>();
  let total = 0;

  const hasRoom = (node: string): boolean => total < limits.concurrency && (running.get(node) ?? 0) < limits.perNode;

  const enter = (node: string): void => {
    total++;
    running.set(node, (running.get(node) ?? 0) + 1);
  };

  const leave = (node: string): void => {
    total--;
    const left = (running.get(node) ?? 1) - 1;
    if (left === 0) running.delete(node);
    else running.set(node, left);
    const next = line.findIndex((waiting) => hasRoom(waiting.node));
    if (next >= 0) line.splice(next, 1)[0]?.begin();
  };

  const waitForRoom = (node: string, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = (): void => {
      const at = line.indexOf(entry);
      if (at >= 0) line.splice(at, 1);
      reject(signal.reason as Error);
    };
    const entry: Waiting = {
      node,
      begin: () => {
        signal.removeEventListener('abort', abandon);
        enter(node);
        resolve();
      },
    };
    signal.addEventListener('abort', abandon, { once: true });
    line.push(entry);
    return promise;
  };

  return {
    async run(node, read, signal) {
      signal.throwIfAborted();
      if (hasRoom(node)) enter(node);
      else await waitForRoom(node, signal);
      try {
        return await read();
      } finally {
        leave(node);
      }
    },
    get waiting() {
      return line.length;
    },
  };
}
