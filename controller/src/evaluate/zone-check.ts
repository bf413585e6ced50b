import { noOffset, tallyZone, type Instant, type ZonelessStart, type ZoneTally } from '@cronjob-monitor/shared/domain';
import { findClusterState, putClusterState, type Db, type Tx } from '@cronjob-monitor/shared/store';

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
