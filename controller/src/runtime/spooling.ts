import { type Logger, messageOf } from '@cronjob-monitor/shared/process';

import type { Circuit } from './circuit.ts';
import type { Snapshot, Snapshots } from './snapshots.ts';
import type { Spool } from './spool.ts';

interface SpoolingDeps<S> {
  readonly snapshots: Snapshots<S>;
  readonly spool: Spool;
  readonly circuit: Circuit;
  readonly logger: Logger;
  /** The state as it was before it became JSON; undefined when a line is not one, such as that of another release. */
  readonly decode: (state: unknown) => S | undefined;
}

const linesAtOnce = 500;

/**
 * Ties the snapshots to the spool: while the circuit is open every ended snapshot is on disk as well, and it leaves the disk
 * when it is committed. A disk that does not take them is logged once, and costs nothing but that safety.
 */
export class Spooling<S> {
  readonly #deps: SpoolingDeps<S>;
  readonly #toAppend = new Map<string, Snapshot<S>>();
  readonly #toRemove = new Set<string>();
  readonly #onDisk = new Set<string>();
  #flushing: Promise<void> | undefined;
  #isBroken = false;

  constructor(deps: SpoolingDeps<S>) {
    this.#deps = deps;
  }

  /** Puts what an earlier process left into the snapshots. Before the first watch begins. Returns how many. */
  async restore(): Promise<number> {
    const { spool, snapshots, decode, logger } = this.#deps;
    let restored = 0;
    try {
      for await (const { uid, value } of spool.readBack()) {
        const snapshot = toSnapshot(value, decode);
        if (!snapshot) continue;
        snapshots.put(snapshot.state, snapshot.seenAt);
        this.#onDisk.add(uid);
        restored += 1;
      }
    } catch (error) {
      logger.error('the spool cannot be read', { reason: messageOf(error) });
    }
    return restored;
  }

  start(signal: AbortSignal): void {
    const { circuit, snapshots } = this.#deps;
    const stops = [
      circuit.onChange((isOpen) => {
        if (isOpen) for (const [uid, snapshot] of snapshots.listEnded()) this.#keep(uid, snapshot);
      }),
      snapshots.listen({
        ended: (uid, snapshot) => {
          if (circuit.isOpen) this.#keep(uid, snapshot);
        },
        forgotten: (uid) => this.#letGo(uid),
      }),
    ];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  }

  /** Resolves when all that was to be written is on disk, or was refused by it. */
  async flushed(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  #keep(uid: string, snapshot: Snapshot<S>): void {
    this.#toAppend.set(uid, snapshot);
    this.#toRemove.delete(uid);
    this.#flushSoon();
  }

  #letGo(uid: string): void {
    this.#toAppend.delete(uid);
    if (!this.#onDisk.delete(uid)) return;
    this.#toRemove.add(uid);
    this.#flushSoon();
  }

  #flushSoon(): void {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
  }

  async #flush(): Promise<void> {
    const { spool, logger } = this.#deps;
    try {
      while (this.#toAppend.size > 0 || this.#toRemove.size > 0) {
        await this.#appendSome();
        const removed = [...this.#toRemove];
        this.#toRemove.clear();
        if (removed.length > 0) await spool.remove(removed);
      }
      if (this.#isBroken) logger.info('the spool is written again');
      this.#isBroken = false;
    } catch (error) {
      if (!this.#isBroken) logger.error('the spool cannot be written', { reason: messageOf(error) });
      this.#isBroken = true;
    }
  }

  /** What fails stays to be written: the next ended run tries again. */
  async #appendSome(): Promise<void> {
    const some = [...this.#toAppend.entries().take(linesAtOnce)];
    if (some.length === 0) return;
    for (const [uid] of some) this.#onDisk.add(uid);
    await this.#deps.spool.append(some.map(([uid, value]) => ({ uid, value })));
    for (const [uid, snapshot] of some) if (this.#toAppend.get(uid) === snapshot) this.#toAppend.delete(uid);
  }
}

function toSnapshot<S>(value: unknown, decode: (state: unknown) => S | undefined): Snapshot<S> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { state, seenAt }: Partial<Record<keyof Snapshot<S>, unknown>> = value;
  const decoded = decode(state);
  return decoded === undefined || typeof seenAt !== 'number' ? undefined : { state: decoded, seenAt };
}
