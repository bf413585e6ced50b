import { readFileSync } from 'node:fs';
import type { MonitorProcess } from '../../servers/index.ts';

/**
 * Limits speak of a machine that is there for what is tested. Returns what tells for how long, since now, others have had the processors
 * that these processes or the test itself, which is their cluster and their receiver, were waiting for. 0 where the system does not tell.
 */
export function watchProcessors(processes: readonly MonitorProcess[]): () => number {
  const before = processes.map((one) => one.waitedForProcessorMs() ?? 0);
  const ownBefore = ownWaitMs();
  return () => {
    const waits = processes.map((one, number) => (one.waitedForProcessorMs() ?? 0) - (before[number] ?? 0));
    return [...waits, ownWaitMs() - ownBefore].reduce((sum, ms) => sum + Math.max(0, ms), 0);
  };
}

function ownWaitMs(): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(waitedNs) / 1e6;
  } catch {
    return 0; // not a Linux, or one that does not count it
  }
}
