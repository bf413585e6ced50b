/** Bounds how many reads run at once, in all and per node: a node's kubelet serves few log streams well. */
export interface ReadPool {
  /** Runs `read` when there is room; waits in line otherwise. Rejects with the signal's reason when aborted while waiting. */
  // oxlint-disable-next-line max-params -- what is read, where, how long it may wait, and the signal
  run<T>(node: string, read: () => Promise<T>, signal: AbortSignal, urgency?: Urgency): Promise<T>;
  readonly waiting: number;
}

/** `now`: the pod is about to be deleted. `soon`, the default: a message waits for the log. `later`: the log is only stored. */
export type Urgency = 'now' | 'soon' | 'later';

const ranks: Readonly<Record<Urgency, number>> = { now: 0, soon: 1, later: 2 };

interface Waiting {
  readonly node: string;
  readonly rank: number;
  readonly begin: () => void;
}

/** Runs `concurrency` reads in all and `perNode` of one node, by urgency and then by arrival; a busy node delays no other node. */
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

  const waitForRoom = (node: string, rank: number, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abandon = (): void => {
      const at = line.indexOf(entry);
      if (at >= 0) line.splice(at, 1);
      reject(signal.reason as Error);
    };
    const entry: Waiting = {
      node,
      rank,
      begin: () => {
        signal.removeEventListener('abort', abandon);
        enter(node);
        resolve();
      },
    };
    signal.addEventListener('abort', abandon, { once: true });
    const after = line.findLastIndex((waiting) => waiting.rank <= rank);
    line.splice(after + 1, 0, entry);
    return promise;
  };

  return {
    async run(node, read, signal, urgency = 'soon') {
      signal.throwIfAborted();
      if (hasRoom(node)) enter(node);
      else await waitForRoom(node, ranks[urgency], signal);
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
