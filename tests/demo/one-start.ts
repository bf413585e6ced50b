import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Takes the folder of the demonstration until this process ends, in whatever way. Every start begins its database anew, under the hands of
 * one that runs: a second one is told so before it touches anything. `address`: where the pages of this start will be. Returns why it may
 * not start; undefined: it may.
 */
export function takeFolder(folder: string, address: string): string | undefined {
  const note = join(folder, 'demo.running');
  // The lock of a file ends with its process, also with one that is killed.
  const lock = new DatabaseSync(join(folder, 'demo.lock'));
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: unknown }).errcode !== busy) throw error;
    return refusalOf(note);
  }
  writeFileSync(note, JSON.stringify({ pid: process.pid, address }));
  // It would be given back with the object.
  process.once('exit', () => lock.close());
  return undefined;
}

/** SQLITE_BUSY. */
const busy = 5;

function refusalOf(note: string): string {
  const runs = 'The demonstration of this folder runs already';
  const way =
    'Open that, or end it with Ctrl-C where it was started and start again. A second one needs a copy of the folder.';
  try {
    const { pid, address } = JSON.parse(readFileSync(note, 'utf8')) as { pid: number; address: string };
    return `${runs}: process ${pid}, ${address}\n${way}`;
  } catch {
    return `${runs}.\n${way}`; // it has begun this instant, and has not written where it is
  }
}
