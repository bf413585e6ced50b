import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import { assertEpochsInOrder, untilAllRecorded, untilAllTold } from '../checker/index.ts';
import { listFaults } from '../../store/list-faults.ts';
import { randomOf } from '../ledger/seeded.ts';
import { until } from './bench.ts';
import type { KillableDatabase, KillableServer } from './database-servers.ts';
import { Incidents, scriptOfIncidents } from './incidents.ts';
import { ledSince, startReplicas, type Replica, type ReplicaBench, type ReplicaOptions } from './replicas.ts';

/** A claim of a sender that is gone is free again after 30 s. */
const claimMs = 30_000;
const catchUpMs = 30_000;
const startsAgainMs = 500;
/** The most that one leader has on its way (high-availability.md section 7). */
const sendsAtOnce = 8;

/** Replicas at work while their leader suffers: alerts come all the time, and in the end everything is compared. */
export class Shift {
  readonly bench: ReplicaBench;
  readonly server: KillableServer;
  readonly seed: number;
  readonly random: ReturnType<typeof randomOf>;
  readonly #incidents: Incidents[] = [];
  readonly #closing = new AbortController();
  #keeping: Promise<void> = Promise.resolve();
  #inFlight = 0;

  constructor(bench: ReplicaBench, server: KillableServer, seed: number) {
    this.bench = bench;
    this.server = server;
    this.seed = seed;
    this.random = randomOf(seed);
    this.answerUsually();
  }

  /** What has ended is started again after a moment, as by a kubelet. */
  keepAlive(): void {
    const keeping = async (): Promise<void> => {
      const ended = new Set<Replica>();
      while (!this.#closing.signal.aborted) {
        for (const replica of this.bench.replicas) {
          if (replica.process.running) ended.delete(replica);
          else if (ended.delete(replica)) replica.process.start();
          else ended.add(replica);
        }
        await wait(startsAgainMs, undefined, { signal: this.#closing.signal }).catch(() => {}); // it is over
      }
    };
    this.#keeping = keeping();
  }

  /** All replicas run and could lead. */
  async untilAllReady(): Promise<void> {
    const isReady = async ({ process }: Replica): Promise<boolean> => (await process.readiness()).status === 200;
    for (const replica of this.bench.replicas) await until(`${replica.pod} is ready`, () => isReady(replica), 60_000);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#keeping;
    await this.bench.close();
    await this.server.remove();
  }

  /** The receiver takes everything, and its time: so something is always on its way. */
  answerUsually(): void {
    this.bench.sink.answerAlways({ delayMs: 50 });
  }

  /** From now on so many CronJobs fail, so many of them each second. */
  async alerts(count: number, perSecond: number): Promise<Incidents> {
    const incidents = await Incidents.prepare(this.bench, count, `shift-${this.#incidents.length}`);
    this.#incidents.push(incidents);
    incidents.begin(perSecond);
    return incidents;
  }

  /** A leader goes, or is of no use any more: what it has on its way may come twice. */
  senderGone(): void {
    this.#inFlight += sendsAtOnce;
  }

  /** How many messages the ends of leaders excuse. */
  get mayComeTwice(): number {
    return this.#inFlight;
  }

  /** Waits until another than `former` leads and has sent something: when that was, in epoch milliseconds. */
  async untilSuccessorSends(former: Replica, limitMs = 30_000): Promise<number> {
    const successor = await this.bench.untilLed(former);
    const ledAt = ledSince(successor);
    const next = (): number | undefined => this.bench.sink.arrivals.find(({ at }) => at >= ledAt)?.at;
    await until(
      () => `the successor sends\n${successor.process.tail()}\n`,
      () => next() !== undefined,
      limitMs,
    );
    return next() ?? NaN;
  }

  /** Nothing lost, nothing doubled but what was on its way, nothing out of order, nothing by a former leader: I1 to I6. */
  async settle(test: Pick<TestContext, 'diagnostic'>): Promise<{ readonly alerts: number; readonly twice: number }> {
    const { reader, store } = this.bench;
    for (const incidents of this.#incidents) await incidents.over();
    const over = this.#incidents.reduce((sum, { ended }) => sum + ended, 0);
    const recordedMs = await untilAllRecorded(reader, store, {
      over,
      scriptOf: scriptOfIncidents,
      withinMs: catchUpMs,
    });
    const expected = this.#incidents.flatMap((one) => one.expected());
    const agreement = { inFlight: this.#inFlight, withinMs: claimMs + catchUpMs };
    const twice = await untilAllTold(this.bench, expected, agreement);
    await untilListed(store);
    const epochs = await assertEpochsInOrder(store);
    test.diagnostic(
      `${over} runs, the last recorded after ${Math.round(recordedMs)} ms; ${expected.length} alerts; ` +
        `${twice} messages came twice, ${this.#inFlight} may have; ${epochs} epochs; SEED=${this.seed}`,
    );
    return { alerts: expected.length, twice };
  }
}

interface ShiftOptions extends Omit<ReplicaOptions, 'settings' | 'seed'> {
  /** Of all choices that the test makes. */
  readonly seed?: number;
  /** False: the test starts what has ended, and what never ran. */
  readonly keepsAlive?: boolean;
}

/** Made before the tests of a suite and closed after them. */
export function shiftOfSuite({ start }: Pick<KillableDatabase, 'start'>, options: ShiftOptions = {}): () => Shift {
  const { seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000), keepsAlive = true, ...replicas } = options;
  let shift: Shift | undefined;
  before(async () => {
    const server = await start();
    try {
      shift = new Shift(await startReplicas({ ...replicas, settings: server.settings }), server, seed);
      if (keepsAlive) shift.keepAlive();
    } catch (error) {
      await server.remove();
      throw error;
    }
  });
  after(async () => {
    await shift?.close();
  });
  return () => {
    if (!shift) throw new Error('the suite has not begun');
    return shift;
  };
}

/** The list of CronJobs says what the other tables say, whichever process wrote them and wherever it was interrupted. */
async function untilListed(store: Store): Promise<void> {
  const endsAt = Date.now() + catchUpMs;
  // The leader goes on writing: a comparison in the middle of that is made again.
  for (let faults = await listFaults(store); faults.length > 0; faults = await listFaults(store)) {
    assert.ok(Date.now() < endsAt, faults.slice(0, 10).join('\n'));
    await wait(500);
  }
}
