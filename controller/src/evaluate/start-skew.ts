import { startSkewP99, type Instant, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import { findClusterState, putClusterState, type Db, type Tx } from '@cronjob-monitor/shared/store';

const saveEveryMs = 5 * minuteMs;
const fewestSamples = 20;
/** More starts within a minute take each other's place: the figure is of a sample then. */
const mostPerMinute = 500;

/**
 * How late the cluster starts its Jobs: the 99th percentile of the delays of the last hour, from the runs that the ledger passes by. What
 * was saved last speaks until there are enough of our own.
 */
export class StartSkew {
  /** Delays by the minute of their start. */
  readonly #minutes = new Map<number, { readonly delaysMs: number[]; count: number }>();
  #saved: { readonly p99Ms: number; readonly at: Instant };
  #known: { readonly p99Ms: number; readonly at: Instant } | undefined;
  #savedAt = -Infinity;

  constructor(saved: { readonly p99Ms: number; readonly at: Instant } = { p99Ms: 0, at: -Infinity }) {
    this.#saved = saved;
  }

  static async load(db: Db): Promise<StartSkew> {
    const saved = await findClusterState(db, 'startSkew');
    const { p99Ms, at } = (typeof saved === 'object' && saved !== null ? saved : {}) as Record<string, unknown>;
    return new StartSkew(typeof p99Ms === 'number' && typeof at === 'number' ? { p99Ms, at } : undefined);
  }

  add(startedAt: Instant, delayMs: number): void {
    const minute = Math.floor(startedAt / minuteMs);
    const kept = this.#minutes.get(minute) ?? { delaysMs: [], count: 0 };
    this.#minutes.set(minute, kept);
    kept.delaysMs[kept.count % mostPerMinute] = delayMs;
    kept.count++;
  }

  /** Milliseconds; 0 while too little is known. */
  p99Ms(now: Instant): number {
    if (this.#known && now - this.#known.at < minuteMs && now >= this.#known.at) return this.#known.p99Ms;
    const oldest = Math.floor((now - hourMs) / minuteMs);
    for (const minute of this.#minutes.keys()) if (minute < oldest) this.#minutes.delete(minute);
    const delays = [...this.#minutes.values()].flatMap(({ delaysMs }) => delaysMs);
    const hasOwn = delays.length >= fewestSamples;
    const p99Ms = hasOwn ? startSkewP99(delays) : now - this.#saved.at < hourMs ? this.#saved.p99Ms : 0;
    this.#known = { p99Ms, at: now };
    return p99Ms;
  }

  /** Within a transaction that judges; writes every five minutes. */
  async save(tx: Tx, now: Instant): Promise<void> {
    if (now - this.#savedAt < saveEveryMs) return;
    const p99Ms = this.p99Ms(now);
    await putClusterState(tx, 'startSkew', { p99Ms, at: now });
    this.#saved = { p99Ms, at: now };
    this.#savedAt = now;
  }
}
