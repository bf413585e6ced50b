import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How long the disk takes to keep four kilobytes, asked once a second beside what is measured: commits can be no faster. */
export function watchDisk(folder: string): { stop(): Promise<{ p99Ms: number; longestMs: number }> } {
  const stopping = new AbortController();
  const watching = (async (): Promise<number[]> => {
    const file = await open(join(folder, 'probe'), 'w');
    const tookMs: number[] = [];
    try {
      while (!stopping.signal.aborted) {
        const begunMs = performance.now();
        await file.write(Buffer.alloc(4_096, tookMs.length % 256), 0, 4_096, 0);
        await file.sync();
        tookMs.push(performance.now() - begunMs);
        await wait(1_000, undefined, { signal: stopping.signal }).catch(() => {});
      }
    } finally {
      await file.close();
    }
    return tookMs.toSorted((a, b) => a - b);
  })();
  return {
    async stop() {
      stopping.abort();
      const sorted = await watching;
      return { p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? NaN, longestMs: sorted.at(-1) ?? NaN };
    },
  };
}
