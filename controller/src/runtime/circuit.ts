import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { StoreError } from '@cronjob-monitor/shared/store';

interface CircuitDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The cheapest question to the database. Rejects while it is away; has a time limit of its own. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>;
  /** Of the process: ends the probing. */
  readonly signal: AbortSignal;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

const shortestProbeMs = 1_000;
const longestProbeMs = 5_000;

/**
 * One for all that needs the database: who finds it away opens the circuit, and all wait together instead of each
 * backing off alone, so that work goes on within seconds of its return. While it is open the database is asked every 1-5 s.
 */
export class Circuit {
  readonly #deps: CircuitDeps;
  readonly #random: () => number;
  readonly #listeners = new Set<(isOpen: boolean) => void>();
  #openSinceMs: number | undefined;

  constructor(deps: CircuitDeps) {
    this.#deps = deps;
    this.#random = deps.random ?? Math.random;
  }

  get isOpen(): boolean {
    return this.#openSinceMs !== undefined;
  }

  /** For how long the database has been away; 0 while it is there. */
  get openForMs(): number {
    return this.#openSinceMs === undefined ? 0 : this.#deps.clock.monotonicMs() - this.#openSinceMs;
  }

  /** Told at every opening and closing. Returns what ends the telling. */
  onChange(listener: (isOpen: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The database is away. */
  trip(error: unknown): void {
    if (this.isOpen || this.#deps.signal.aborted) return;
    this.#openSinceMs = this.#deps.clock.monotonicMs();
    const reason = codeOf(error);
    const { logger } = this.#deps;
    // A database that answers with a lock is there.
    if (reason === 'busy') logger.warn('the database is busy, work waits for it', { reason });
    else logger.error('the database is away, work waits for it', { reason });
    this.#tell(true);
    void this.#probeUntilBack();
  }

  /** Resolves at once when closed, else when it closes or the signal aborts. */
  whenClosed(signal: AbortSignal): Promise<void> {
    if (!this.isOpen || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = () => {
        stopListening();
        signal.removeEventListener('abort', settle);
        resolve();
      };
      const stopListening = this.onChange((isOpen) => {
        if (!isOpen) settle();
      });
      signal.addEventListener('abort', settle, { once: true });
    });
  }

  async #probeUntilBack(): Promise<void> {
    const { clock, probe, signal, logger } = this.#deps;
    while (!signal.aborted) {
      try {
        await clock.sleep(shortestProbeMs + this.#random() * (longestProbeMs - shortestProbeMs), signal);
        await probe(signal);
      } catch {
        continue; // Still away, which was told when it began; or the process ends.
      }
      logger.info('the database is back', { awayForMs: Math.round(this.openForMs) });
      this.#openSinceMs = undefined;
      this.#tell(false);
      return;
    }
  }

  #tell(isOpen: boolean): void {
    for (const listener of this.#listeners) listener(isOpen);
  }
}

/** The code alone: messages of drivers hold statements and values. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

const awayCodes: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'full', 'refused', 'busy']);

/** Nothing is wrong with the work: it waits for the database. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof StoreError && awayCodes.has(error.code);
}

/**
 * Asks, and trips the circuit when there is no answer: a process that starts in an outage is in it from its first moment. A first answer that
 * was late, or that met a lock, says more of the start than of the database: it is asked once more.
 */
export async function noticeOutage(probe: () => Promise<void>, circuit: { trip(error: unknown): void }): Promise<void> {
  try {
    await probe().catch(async (error: unknown) => {
      if (!isOfTheMoment(error)) throw error;
      await probe();
    });
  } catch (error) {
    if (isDatabaseAway(error)) circuit.trip(error);
  }
}

function isOfTheMoment(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'busy' || error.code === 'timeout');
}
