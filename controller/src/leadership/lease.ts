import { isDeepStrictEqual } from 'node:util';
import {
  type LeaseRecord,
  toMicroTime,
  type Cluster,
  ClusterError,
  type ClusterErrorCode,
  type ObjectKey,
} from '@cronjob-monitor/shared/kube';
import { TimeLimitError, withinLimit, type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';

/** The three times of an election. */
export interface LeaseTiming {
  /** How long others wait before they take a Lease whose record no longer changes. */
  readonly leaseMs: number;
  /** How long a holder tries to renew before it gives up. */
  readonly renewDeadlineMs: number;
  /** Between two attempts to renew; and, times 1 to 2.2, between two attempts to acquire. */
  readonly retryMs: number;
}

/** Acquiring waits between 1 and 2.2 retry periods, so that candidates do not come at once. */
const acquireJitter = 1.2;

/** Throws a RangeError for times with which two could lead at once, or one never for long. */
export function checkTiming({ leaseMs, renewDeadlineMs, retryMs }: LeaseTiming): void {
  if (!(leaseMs >= 1_000)) throw new RangeError('the lease duration must be at least 1 s');
  if (!(leaseMs > renewDeadlineMs)) throw new RangeError('the lease duration must be longer than the renew deadline');
  if (!(renewDeadlineMs > acquireJitter * retryMs)) {
    throw new RangeError('the renew deadline must be longer than 1.2 x the retry period');
  }
  if (!(retryMs > 0)) throw new RangeError('the retry period must be longer than 0');
}

/** Another holder for each start of a container: no process takes an earlier life for its own. */
export function toIdentity(podName: string, random: string): string {
  return `${podName}_${random}`;
}

type Held = Omit<LeaseRecord, 'resourceVersion'>;

/** The record with which `identity` takes a free or expired Lease, or one that does not exist. */
function toTaken(seen: LeaseRecord | undefined, identity: string, leaseMs: number, now: number): Held {
  return {
    holder: identity,
    // The record knows whole seconds. Rounded down, others would come too early.
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    acquireTime: toMicroTime(now),
    renewTime: toMicroTime(now),
    transitions: seen ? seen.transitions + 1 : 0,
  };
}

/** The holder's own record, renewed. */
function toRenewed(held: LeaseRecord, leaseMs: number, now: number): LeaseRecord {
  return { ...held, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime: toMicroTime(now) };
}

/** Free for the first that comes: no replica holds it, and one that looks at times only has to wait for a second. */
function toReleased(held: LeaseRecord, now: number): LeaseRecord {
  return { ...held, holder: '', leaseDurationSeconds: 1, acquireTime: toMicroTime(now), renewTime: toMicroTime(now) };
}

/** Whether a holder has shown life between two readings. Versions do not count: any client can set a label. */
function isSameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return isDeepStrictEqual({ ...a, resourceVersion: '' }, { ...b, resourceVersion: '' });
}

interface LeaseElectionDeps {
  readonly cluster: Pick<Cluster, 'findLease' | 'createLease' | 'replaceLease'>;
  readonly key: ObjectKey;
  /** Pod name and something random: `toIdentity`. */
  readonly identity: string;
  readonly timing: LeaseTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** `deadlinePassed`: not renewed in time. `taken`: another holds it. `released`: given back, or the signal aborted. */
export type HoldEnd = 'deadlinePassed' | 'taken' | 'released';

/** The Lease as a candidate sees it. */
export interface LeaseSight {
  /** `free`: without a holder, or not there. `expired`: unchanged for as long as its holder promised. */
  readonly state: 'free' | 'expired' | 'ours' | 'held';
  readonly holder: string | undefined;
  /** Since when it has looked like this, on the monotonic clock. */
  readonly sinceMs: number;
}

/** Why the Lease cannot be had, and since when on the monotonic clock. */
export interface LeaseFailure {
  readonly code: ClusterErrorCode | 'unknown';
  readonly sinceMs: number;
}

const releaseWithinMs = 1_000;
const lookLimitMs = 1_000;

/**
 * One candidate of the election for a Lease.
 *
 * Expiry is local: a Lease is free when its record has not changed for its duration on the monotonic clock of the replica that looks,
 * so that no wall clock matters. Every write carries the version read before: of two writers one gets a conflict,
 * which is no renewal. A holder counts its deadline from the moment it *sent* the last successful write, others theirs from
 * the moment they saw it, which is later: the holder always stops first.
 */
export class LeaseElection {
  readonly #deps: LeaseElectionDeps;
  readonly #random: () => number;
  readonly #callLimitMs: number;
  /** The record as last seen, and since when it has looked like that. */
  #seen: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
  #renewedAtMs = -Infinity;
  #isHeld = false;
  #problem: string | undefined;
  #failing: LeaseFailure | undefined;
  /** The sleep between two renewals. */
  #nap: AbortController | undefined;
  readonly #confirmers: ((isOurs: boolean) => void)[] = [];

  /** Throws a RangeError for times that cannot work. */
  constructor(deps: LeaseElectionDeps) {
    checkTiming(deps.timing);
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
    this.#callLimitMs = Math.max(1_000, deps.timing.renewDeadlineMs / 2);
  }

  get retryMs(): number {
    return this.#deps.timing.retryMs;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Its holder, as last seen; undefined: it has none, or that is not known. */
  get holder(): string | undefined {
    return this.#seen?.record.holder || undefined;
  }

  /** What keeps the Lease from being read or written, and since when on the monotonic clock; undefined: nothing does. */
  get failing(): LeaseFailure | undefined {
    return this.#failing;
  }

  /** By the Lease alone: resolves with true when it is ours, with false when the signal aborts first. Never gives up. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, timing } = this.#deps;
    while (!signal.aborted) {
      if (await this.#tried(() => this.#tryAcquire(this.#callLimitMs, signal), signal)) {
        this.#isHeld = true;
        return true;
      }
      await clock.sleep(timing.retryMs * (1 + acquireJitter * this.#random()), signal).catch(() => {});
    }
    return false;
  }

  /** What it says now; undefined: it could not be read. Takes at most a second. */
  async look(signal: AbortSignal): Promise<LeaseSight | undefined> {
    let seen: { readonly record: LeaseRecord | undefined } | undefined;
    await this.#tried(async () => {
      seen = { record: await this.#read(Math.min(this.#callLimitMs, lookLimitMs), signal) };
      return true;
    }, signal);
    if (seen === undefined) return undefined;
    const { record } = seen;
    const sinceMs = this.#seen?.sinceMs ?? this.#deps.clock.monotonicMs();
    if (!record || record.holder === '') return { state: 'free', holder: undefined, sinceMs };
    const { holder } = record;
    if (holder === this.#deps.identity) return { state: 'ours', holder, sinceMs };
    return { state: this.#isFree(record) ? 'expired' : 'held', holder, sinceMs };
  }

  /** Writes it as ours over what was seen last, expired or not. False: another was faster, or it cannot be written. */
  async take(signal: AbortSignal): Promise<boolean> {
    this.#isHeld =
      (await this.#tried(() => this.#take(this.#seen?.record, this.#callLimitMs, signal), signal)) === true;
    return this.#isHeld;
  }

  /** Renews until it is lost, or until the signal aborts: then it is still ours, and `release` gives it back. */
  async hold(signal: AbortSignal): Promise<HoldEnd> {
    const { clock, timing } = this.#deps;
    let attemptAtMs = this.#renewedAtMs + timing.retryMs;
    for (;;) {
      const deadlineAtMs = this.#renewedAtMs + timing.renewDeadlineMs;
      if (this.#confirmers.length === 0) await this.#napUntil(Math.min(attemptAtMs, deadlineAtMs), signal);
      if (signal.aborted) return this.#ended('released');

      const now = clock.monotonicMs();
      if (now >= deadlineAtMs) return this.#ended('deadlinePassed');
      // A last attempt has the last tenth of the deadline to itself, whatever the ones before it hang on.
      const lastAtMs = deadlineAtMs - timing.renewDeadlineMs / 10;
      const endAtMs = now < lastAtMs ? lastAtMs : deadlineAtMs;
      const isOurs = await this.#attemptRenewal(Math.min(this.#callLimitMs, endAtMs - now), signal);
      if (isOurs === false) return this.#ended('taken');
      // From begin to begin, so that an attempt that hung is followed by the next one at once.
      attemptAtMs = now + timing.retryMs;
      if (isOurs === undefined && now < lastAtMs) attemptAtMs = Math.min(attemptAtMs, lastAtMs);
    }
  }

  async #attemptRenewal(limitMs: number, signal: AbortSignal): Promise<boolean | undefined> {
    const confirmers = this.#confirmers.splice(0);
    const isOurs = await this.#tried(() => this.#renew(limitMs, signal), signal);
    for (const confirm of confirmers) confirm(isOurs === true);
    return isOurs;
  }

  /**
   * Renews before anything else is done, where a pause of the machine may have let the Lease expire. True: it is still ours.
   * Only while `hold` runs.
   */
  confirm(): Promise<boolean> {
    if (!this.#isHeld) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#confirmers.push(resolve);
      this.#nap?.abort();
    });
  }

  /**
   * Gives the Lease to the first that comes: only when the work it guarded has ended, and `hold` too. Takes at most a second;
   * what fails leaves it to expire.
   */
  async release(signal: AbortSignal): Promise<void> {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    try {
      await this.#limited(releaseWithinMs, signal, (limited) => this.#writeReleased(limited));
      this.#deps.logger.info('the Lease was released');
    } catch (error) {
      this.#deps.logger.warn('the Lease could not be released and has to expire', { reason: messageOf(error) });
    }
  }

  async #writeReleased(signal: AbortSignal): Promise<void> {
    const { cluster, key, identity, clock } = this.#deps;
    const write = (record: LeaseRecord) => cluster.replaceLease(key, toReleased(record, clock.now()), signal);
    try {
      if (this.#seen) await write(this.#seen.record);
    } catch (error) {
      if (!(error instanceof ClusterError && error.code === 'conflict')) throw error;
      // The last renewal may have been written although its answer was not waited for.
      const record = await cluster.findLease(key, signal);
      if (record?.holder === identity) await write(record);
    }
  }

  /** True when ours, false when another's, undefined when the attempt failed. What fails is logged once per change. */
  async #tried(attempt: () => Promise<boolean>, signal: AbortSignal): Promise<boolean | undefined> {
    try {
      const isOurs = await attempt();
      if (this.#problem !== undefined) this.#deps.logger.info('the Lease can be reached again');
      this.#problem = undefined;
      this.#failing = undefined;
      return isOurs;
    } catch (error) {
      const problem = error instanceof ClusterError ? error.code : 'unknown';
      // A conflict is an answer: another replica was faster.
      if (!signal.aborted && problem !== 'conflict')
        this.#failing = { code: problem, sinceMs: this.#failing?.sinceMs ?? this.#deps.clock.monotonicMs() };
      if (!signal.aborted && problem !== this.#problem) {
        this.#problem = problem;
        this.#deps.logger.warn('the Lease cannot be read or written', { reason: messageOf(error) });
      }
      return undefined;
    }
  }

  async #tryAcquire(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const record = await this.#read(limitMs, signal);
    if (record && record.holder !== this.#deps.identity && !this.#isFree(record)) return false;
    return this.#take(record, limitMs, signal);
  }

  /** False: another holds it. Throws when nothing is known. */
  async #renew(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const { identity, clock } = this.#deps;
    const endAtMs = clock.monotonicMs() + limitMs;
    if (this.#seen && (await this.#writeRenewal(this.#seen.record, limitMs, signal))) return true;

    // It was written, or removed: perhaps another holder, perhaps a write of ours whose answer was lost.
    const record = await this.#read(endAtMs - clock.monotonicMs(), signal);
    if (record && record.holder !== identity && record.holder !== '') return false;
    const leftMs = endAtMs - clock.monotonicMs();
    const isWritten =
      record?.holder === identity
        ? await this.#writeRenewal(record, leftMs, signal)
        : await this.#take(record, leftMs, signal);
    if (isWritten) return true;
    throw new ClusterError('conflict', {
      verb: 'update',
      resource: 'leases',
      message: 'the Lease was written by another',
    });
  }

  #take(record: LeaseRecord | undefined, limitMs: number, signal: AbortSignal): Promise<boolean> {
    const { cluster, key, identity, timing, clock } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    const taken = toTaken(record, identity, timing.leaseMs, clock.now());
    // Where it is to be made, not found is its namespace.
    const isMade = record === undefined;
    const write = (limited: AbortSignal) =>
      record
        ? cluster.replaceLease(key, { ...taken, resourceVersion: record.resourceVersion }, limited)
        : cluster.createLease(key, taken, limited);
    return this.#written(sentAtMs, () => this.#limited(limitMs, signal, write), isMade);
  }

  #writeRenewal(record: LeaseRecord, limitMs: number, signal: AbortSignal): Promise<boolean> {
    const { cluster, key, timing, clock } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    const renewed = toRenewed(record, timing.leaseMs, clock.now());
    return this.#written(sentAtMs, () =>
      this.#limited(limitMs, signal, (limited) => cluster.replaceLease(key, renewed, limited)),
    );
  }

  /** False when another writer was faster: not renewed, and to be read again. */
  async #written(sentAtMs: number, write: () => Promise<LeaseRecord>, isMade = false): Promise<boolean> {
    try {
      this.#observe(await write());
    } catch (error) {
      const code = error instanceof ClusterError ? error.code : undefined;
      if (code === 'conflict' || code === 'alreadyExists' || (code === 'notFound' && !isMade)) return false;
      throw error;
    }
    this.#renewedAtMs = sentAtMs;
    return true;
  }

  async #read(limitMs: number, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const { cluster, key } = this.#deps;
    const record = await this.#limited(limitMs, signal, (limited) => cluster.findLease(key, limited));
    if (record) this.#observe(record);
    else this.#seen = undefined;
    return record;
  }

  #observe(record: LeaseRecord): void {
    const isUnchanged = this.#seen && isSameRecord(this.#seen.record, record);
    const sinceMs = isUnchanged && this.#seen ? this.#seen.sinceMs : this.#deps.clock.monotonicMs();
    this.#seen = { record, sinceMs };
  }

  #isFree(record: LeaseRecord): boolean {
    if (record.holder === '') return true;
    const sinceMs = this.#seen?.sinceMs ?? this.#deps.clock.monotonicMs();
    // What the holder promised counts: its replica may be configured otherwise than this one.
    const durationMs = record.leaseDurationSeconds > 0 ? record.leaseDurationSeconds * 1000 : this.#deps.timing.leaseMs;
    return this.#deps.clock.monotonicMs() - sinceMs >= durationMs;
  }

  #ended(how: HoldEnd): HoldEnd {
    if (how !== 'released') this.#isHeld = false;
    for (const confirm of this.#confirmers.splice(0)) confirm(false);
    return how;
  }

  async #napUntil(atMs: number, signal: AbortSignal): Promise<void> {
    const waitMs = atMs - this.#deps.clock.monotonicMs();
    if (waitMs <= 0 || signal.aborted) return;
    const nap = new AbortController();
    this.#nap = nap;
    const wake = () => nap.abort();
    signal.addEventListener('abort', wake, { once: true });
    await this.#deps.clock.sleep(waitMs, nap.signal).catch(() => {});
    signal.removeEventListener('abort', wake);
    this.#nap = undefined;
  }

  /** An election must not hang with the server, also when the call heeds no signal. Throws a `ClusterError`. */
  async #limited<T>(ms: number, signal: AbortSignal, call: (limited: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withinLimit({ clock: this.#deps.clock, ms, signal }, call);
    } catch (error) {
      if (signal.aborted) throw notCalled('aborted');
      throw error instanceof TimeLimitError ? notCalled('timeout') : error;
    }
  }
}

function notCalled(code: 'timeout' | 'aborted'): ClusterError {
  const message = code === 'timeout' ? 'no answer about the Lease in time' : 'the call about the Lease was aborted';
  return new ClusterError(code, { verb: 'call', resource: 'leases', message });
}
