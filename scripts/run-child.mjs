import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const lookMs = 500;

/**
 * Runs a program and hands every signal on to it. A parent that is gone counts as one SIGTERM: a shell or a package manager that a signal ends
 * leaves behind what it runs. Rejects when the program cannot be started.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{ status: number, isStopped: boolean }>} the status that a shell would give; `isStopped`: a signal came
 */
export function runChild(command, args, options) {
  const parent = process.ppid;
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  let isStopped = false;
  const handOn = (signal) => {
    isStopped = true;
    child.kill(signal);
  };
  const look = setInterval(() => {
    if (process.ppid !== parent && !isStopped) handOn('SIGTERM');
  }, lookMs);
  for (const signal of signals) process.on(signal, handOn);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve({ status: code ?? 128 + (constants.signals[signal] ?? 0), isStopped }));
  }).finally(() => {
    clearInterval(look);
    for (const signal of signals) process.off(signal, handOn);
  });
}
