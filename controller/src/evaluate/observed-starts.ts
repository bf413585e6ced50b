import {
  hourMs,
  type Instant,
  minuteMs,
  noOffset,
  startSkewP99,
  tallyZone,
  type ZonelessStart,
  type ZoneTally,
} from '@cronjob-monitor/shared/domain';
import { type Db, findClusterState, putClusterState, type Tx } from '@cronjob-monitor/shared/store';

/** The zone of CronJobs that name none is not the one we were told: its slots lie so far from ours. */
interface ZoneMismatch {
  readonly zone: string;
  readonly offsetMs: number;
  readonly since: Instant;
}

/**
 * Compares starts of CronJobs that name no zone with `cluster.default-time-zone` (kubernetes.md 1.4). What was found outlives the process;
 * a row of starts that is not long enough yet does not.
 */
export class ZoneCheck {
  readonly #zone: string;
  #tally: ZoneTally;
  #since: Instant | undefined;
  #unsaved = false;

  constructor(zone: string, found?: ZoneMismatch) {
    this.#zone = zone;
    // Of another zone than now: it has been mended.
    const holds = found?.zone === zone ? found : undefined;
    this.#tally = holds ? { offsetMs: holds.offsetMs, inRow: {} } : noOffset;
    this.#since = holds?.since;
  }

  static async load(db: Db, zone: string): Promise<ZoneCheck> {
    return new ZoneCheck(zone, await findZoneMismatch(db));
  }

  /** What stands now; undefined: nothing speaks against the zone. */
  get mismatch(): ZoneMismatch | undefined {
    const { offsetMs } = this.#tally;
    return offsetMs === 0 ? undefined : { zone: this.#zone, offsetMs, since: this.#since ?? 0 };
  }

  observe(start: ZonelessStart): void {
    const before = this.#tally.offsetMs;
    this.#tally = tallyZone(this.#tally, start, this.#zone);
    if (this.#tally.offsetMs === before) return;
    this.#since = start.slotAt;
    this.#unsaved = true;
  }

  /** Within a transaction that judges; writes only what is new. */
  async save(tx: Tx): Promise<void> {
    if (!this.#unsaved) return;
    await putClusterState(tx, 'zoneOffsets', { default: this.mismatch ?? null });
    this.#unsaved = false;
  }
}

/** Whether a schedule that names no zone is read in another one by the cluster. */
export function isMisread(
  of: { readonly schedule: string; readonly timeZone: string | undefined },
  zones: Pick<ZoneCheck, 'mismatch'>,
): boolean {
  return zones.mismatch !== undefined && of.timeZone === undefined && !of.schedule.includes('TZ');
}

/** What was found of the default zone, for conditions and for replicas that did not find it. */
async function findZoneMismatch(db: Db): Promise<ZoneMismatch | undefined> {
  const kept = await findClusterState(db, 'zoneOffsets');
  const found = typeof kept === 'object' && kept !== null ? (kept as Record<string, unknown>)['default'] : undefined;
  const { zone, offsetMs, since } = (typeof found === 'object' && found !== null ? found : {}) as Record<
    string,
    unknown
  >;
  return typeof zone === 'string' && typeof offsetMs === 'number' && typeof since === 'number'
    ? { zone, offsetMs, since }
    : undefined;
}

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
