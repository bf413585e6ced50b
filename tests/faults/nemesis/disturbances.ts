import { setTimeout as wait } from 'node:timers/promises';
import { cutOff, type Replica } from '../harness/replicas.ts';
import type { Shift } from '../harness/shift.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

/** One thing that goes wrong for a while. Resolves when it is over. */
interface Disturbance {
  readonly name: string;
  /** Whom it strikes: one replica, or what all of them need. */
  readonly of: 'replica' | 'all';
  readonly run: (shift: Shift, replica: Replica, ms: number) => Promise<void>;
}

/** All that the nemesis can do. */
export const disturbances: readonly Disturbance[] = [
  {
    name: 'kill',
    of: 'replica',
    async run(_shift, { process }, ms) {
      await process.kill();
      await wait(ms / 4);
    },
  },
  {
    name: 'pause',
    of: 'replica',
    async run(_shift, { process }, ms) {
      process.signal('SIGSTOP');
      await wait(ms);
      if (process.running) process.signal('SIGCONT');
    },
  },
  {
    name: 'cut off from the API server',
    of: 'replica',
    async run(_shift, { api }, ms) {
      const mend = cutOff(api);
      await wait(ms);
      mend();
    },
  },
  {
    name: 'cut off from the database',
    of: 'replica',
    async run(_shift, { database }, ms) {
      const mend = cutOff(database);
      await wait(ms);
      mend();
    },
  },
  {
    name: 'restart of the database',
    of: 'all',
    async run({ server }, _replica, ms) {
      await server.kill();
      await wait(ms / 4);
      await server.restart();
    },
  },
  {
    name: 'an API server that is busy',
    of: 'all',
    async run({ bench }, _replica, ms) {
      const fault = bench.sim.fault({ effect: { kind: 'answer', code: 429, retryAfterSeconds: 1 } });
      await wait(ms);
      fault.remove();
    },
  },
  {
    name: 'a receiver that is busy',
    of: 'all',
    async run(shift, _replica, ms) {
      shift.bench.sink.answerAlways({ status: 429, headers: { 'retry-after': '1' } });
      await wait(ms);
      shift.answerUsually();
    },
  },
  {
    name: 'a clock that is set',
    of: 'replica',
    async run({ random }, replica, ms) {
      replica.order({ clockOffsetMs: random.one([-hourMs, hourMs]) });
      await wait(ms);
      if (replica.process.running) replica.order({ clockOffsetMs: 0 });
    },
  },
];
