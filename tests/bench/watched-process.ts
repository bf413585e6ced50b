import { spawn } from 'node:child_process';
import { findFreePort, imageArguments, imageEnvironment } from '../servers/index.ts';
import { shippedProgram } from './shipped.ts';
import { cpuSecondsOf, residentMbOf } from './usage.ts';

/** The standalone service as it ships, a child that is looked at from outside. */
export interface WatchedProcess {
  readonly apiUrl: string;
  readonly metricsUrl: string;
  /** On the clock of `performance.now()`: what ships was made before. */
  readonly startedMs: number;
  /** It has ended, wanted or not. */
  isOver(): boolean;
  rssMb(): number;
  /** Seconds of CPU used so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export async function startWatchedProcess(flags: readonly string[]): Promise<WatchedProcess> {
  const [api, metrics, probes] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const listeners = [
    `--ui.port=${api}`,
    '--api.host=127.0.0.1',
    `--metrics.bind-address=127.0.0.1:${metrics}`,
    '--metrics.secure=false',
    `--probes.bind-address=127.0.0.1:${probes}`,
    '--log-level=warn',
  ];
  const program = shippedProgram('standalone');
  const startedMs = performance.now();
  const child = spawn(process.execPath, [...imageArguments(), program, ...listeners, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...imageEnvironment() },
  });
  let isOver = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isOver = true;
      resolve();
    });
  });
  const pid = child.pid ?? 0;
  return {
    apiUrl: `http://127.0.0.1:${api}/api/v1`,
    startedMs,
    metricsUrl: `http://127.0.0.1:${metrics}/metrics`,
    isOver: () => isOver,
    rssMb: () => residentMbOf(pid),
    cpuSeconds: () => cpuSecondsOf(pid),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
