import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Databases that are played with live for seconds: in memory where there is a file system for it. */
const temporary = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/**
 * Lets a process without a test runner, whose hooks would take a third of the time, play what the queue has until it is empty. The
 * process takes each as a line of JSON and writes what it found as one.
 *
 * @throws AssertionError where the process ends by an error
 */
export async function playAll<Found>(
  player: URL,
  queue: Iterator<unknown>,
  env: Readonly<Record<string, string>> = {},
): Promise<Found[]> {
  const first = queue.next();
  if (first.done === true) return [];
  const child = spawn(process.execPath, [fileURLToPath(player)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: '', ...env },
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const found: Found[] = [];
  child.stdin.write(`${JSON.stringify(first.value)}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the player writes it
    found.push(JSON.parse(line) as Found);
    if (process.env['TRUTH_LOG'] !== undefined) process.stderr.write(`${line}\n`);
    const next = queue.next();
    if (next.done === true) child.stdin.end();
    else child.stdin.write(`${JSON.stringify(next.value)}\n`);
  }
  assert.equal(await ended, 0, 'a process that plays ended by an error');
  return found;
}
