import { readFileSync } from 'node:fs';

/** Of the kernel: clock ticks a second, and bytes of a page. */
const ticks = 100;
const pageBytes = 4096;

/** Seconds of CPU that a process has used so far, all its threads together. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

/** Memory that a process holds now. */
export function residentMbOf(pid: number): number {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes) / 2 ** 20;
}
