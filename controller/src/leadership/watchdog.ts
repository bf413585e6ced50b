import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type { Clock } from '@cronjob-monitor/shared/process';

const beatMs = 1_000;

/**
 * Ends the process hard when its event loop stands still, or when the whole process did (SIGSTOP, a paused machine): a leader
 * that cannot act must not believe that it leads. A worker thread watches a counter that the loop raises each second.
 * Nothing of the process is asked for it, since a stalled process answers nothing. Resolves when the thread watches; ends with
 * the signal, and rejects when that comes before.
 */
export async function startWatchdog(
  options: {
    readonly clock: Clock;
    /** Without a beat for so long the process is ended. */
    readonly stallMs?: number;
    /** Written to standard error just before, as a line of its own. */
    readonly lastWords?: string;
  },
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const stallMs = options.stallMs ?? 10_000;
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const lastWords = `${options.lastWords ?? 'the event loop stood still, the process is ended'}\n`;
  // The thread's program is the function's own text, so that a bundle needs no second file beside it.
  const worker = new Worker(`(${watchBeats.toString()})()`, { eval: true, workerData: { beats, stallMs, lastWords } });
  worker.unref();

  // Four beats within the limit when the limit is short.
  options.clock.every(Math.min(beatMs, stallMs / 4), () => void Atomics.add(beats, 0, 1), signal);
  signal.addEventListener('abort', () => void worker.terminate(), { once: true });
  await once(worker, 'message', { signal });
}

/** Runs in the worker thread, from its text alone: it can name nothing of this module, and it has no clock but the machine's. */
function watchBeats(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { writeSync } = process.getBuiltinModule('node:fs');
  const { beats, stallMs, lastWords } = workerData as { beats: Int32Array; stallMs: number; lastWords: string };
  const monotonicMs = () => Number(process.hrtime.bigint() / 1_000_000n);
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

  let seen = Atomics.load(beats, 0);
  let seenAtMs = monotonicMs();
  let wentToSleepAtMs = seenAtMs;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
  parentPort?.postMessage('watching');
  for (;;) {
    Atomics.wait(never, 0, 0, Math.min(250, stallMs / 4));
    const now = monotonicMs();
    // This thread has no work: when it slept too long, the process was stopped, whatever the loop has done since.
    const wasStopped = now - wentToSleepAtMs >= stallMs;
    const count = Atomics.load(beats, 0);
    if (count !== seen) {
      seen = count;
      seenAtMs = now;
    }
    wentToSleepAtMs = now;
    if (!wasStopped && now - seenAtMs < stallMs) continue;
    try {
      writeSync(2, lastWords);
    } finally {
      process.kill(process.pid, 'SIGKILL');
    }
  }
}
