import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before an entry point of ours, which stays as it is: the process has the host name of its pod, and what a signal asks of it it
 * does to itself, as a machine would. SIGUSR2 reads orders from a file: its event loop stands still for a while, or its wall clock is set.
 */
export interface PodOrders {
  /** The event loop stands still for so long. */
  readonly stallMs?: number;
  /** The wall clock is so far off from now on. */
  readonly clockOffsetMs?: number;
}

const { TEST_POD: pod, TEST_POD_ORDERS: ordersPath } = process.env;

if (pod !== undefined) {
  os.hostname = () => pod;
  syncBuiltinESMExports();
}

if (isMainThread && ordersPath !== undefined) {
  const realNow = Date.now.bind(Date);
  let offsetMs = 0;
  Date.now = () => realNow() + offsetMs;
  process.on('SIGUSR2', () => {
    const orders = JSON.parse(readFileSync(ordersPath, 'utf8')) as PodOrders; // written by the test
    offsetMs = orders.clockOffsetMs ?? offsetMs;
    if (orders.stallMs !== undefined)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, orders.stallMs);
  });
}
