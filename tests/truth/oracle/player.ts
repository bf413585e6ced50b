import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { buildBinary } from '../../realcluster/build-binary.ts';
import type { Scenario } from './scenarios.ts';

/** What a watch tells of one CronJob or Job. */
export interface Told {
  readonly at: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: 'cronjobs' | 'jobs';
  readonly object: Record<string, unknown>;
}

/** One instant at which robfig/cron asked for a run, and what the cluster made of it. */
export interface TrueSlot {
  readonly uid: string;
  readonly at: string;
  readonly fate: 'ran' | 'suspended' | 'forbidden' | 'nothing';
  readonly createdAt?: string;
  /** End of the last Job that stood in the way; absent: it goes on. */
  readonly blockedUntil?: string;
  readonly nextAt?: string;
  readonly deadlineSeconds?: number;
}

export interface Listener {
  readonly told: (change: Told) => void;
  readonly slot: (slot: TrueSlot) => void;
}

/** The real controllers in virtual time, one scenario after the other; or why this machine cannot have them. */
export type Player =
  | { readonly skipped: string }
  | {
      /** Plays one scenario to its end. Throws what the program printed when it fails. */
      readonly play: (scenario: Scenario, listener: Listener) => Promise<void>;
      readonly close: () => Promise<void>;
    };

export async function startPlayer(): Promise<Player> {
  const binary = await buildBinary('oracle');
  if ('skipped' in binary) return binary;
  const child = spawn(binary.path, ['-test.run', '^TestPlay$', '-test.timeout', '0'], {
    // Its memory is small: to collect it less often is a fourth less work.
    env: { GOGC: '400', ...process.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const printed: string[] = [];
  let playing: { readonly listener: Listener; readonly settle: PromiseWithResolvers<void> } | undefined;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (!line.startsWith('{')) {
      printed.push(line);
      return;
    }
    const answer: unknown = JSON.parse(line);
    if (!playing || typeof answer !== 'object' || answer === null) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the program beside it writes these shapes
    if ('slot' in answer) playing.listener.slot(answer.slot as TrueSlot);
    else if ('end' in answer) {
      playing.settle.resolve();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the program beside it writes these shapes
    } else playing.listener.told(answer as Told);
  });
  void closed.then(() => playing?.settle.reject(new Error(`the oracle ended early: ${printed.join('\n')}`)));
  return {
    async play(scenario, listener) {
      const settle = Promise.withResolvers<void>();
      playing = { listener, settle };
      child.stdin.write(`${JSON.stringify(scenario)}\n`);
      await settle.promise;
      playing = undefined;
    },
    async close() {
      child.stdin.end();
      await closed;
      if (child.exitCode !== 0) throw new Error(`the oracle failed: ${printed.join('\n')}`);
    },
  };
}
