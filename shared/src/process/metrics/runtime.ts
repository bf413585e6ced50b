import { readdir } from 'node:fs/promises';
import { single, type Family } from './family.ts';

/** What Node tells of this process, under the names that dashboards of controllers know. `startedAt`: epoch milliseconds. */
export async function runtimeFamilies(startedAt: number): Promise<Family[]> {
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  return [
    single(
      'gauge',
      'go_goroutines',
      'Active handles and requests of the event loop; there are no goroutines.',
      process.getActiveResourcesInfo().length,
    ),
    single('gauge', 'go_memstats_alloc_bytes', 'Heap used by objects.', memory.heapUsed),
    single('gauge', 'go_memstats_heap_inuse_bytes', 'Heap held by the engine.', memory.heapTotal),
    single(
      'counter',
      'process_cpu_seconds_total',
      'Time on the processor, user and system.',
      (cpu.user + cpu.system) / 1e6,
    ),
    single('gauge', 'process_resident_memory_bytes', 'Resident memory.', memory.rss),
    single('gauge', 'process_open_fds', 'Open file descriptors.', await countOpenFiles()),
    single(
      'gauge',
      'process_start_time_seconds',
      'When the process started, in seconds of Unix time.',
      startedAt / 1000,
    ),
  ];
}

/** Undefined where the system keeps no list. */
async function countOpenFiles(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length - 1; // The listing has one open itself.
  } catch {
    return undefined; // Not Linux.
  }
}
