import type { Clock, Logger } from '../process/index.ts';
import { firstRow } from './ask.ts';
import type { Db } from './database.ts';
import type { StoreSettings } from './settings.ts';
import { StoreError } from './store-error.ts';

export interface ProbeDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: StoreSettings;
  readonly measureOffset: () => Promise<void>;
}

/** Waits between two tries: 1 s doubling to 30 s, with full jitter above the first second. */
const firstWaitMs = 1_000;
const longestWaitMs = 30_000;

export interface Probe {
  readonly ask: () => Promise<void>;
  readonly wait: (signal: AbortSignal) => Promise<void>;
}

/** One cheap question to the database. It writes one log line when the answer is another than before, never one for each try. */
export function createProbe(deps: ProbeDeps): Probe {
  let lastSaid: string | undefined;

  const say = (what: string, write: () => void): void => {
    if (what === lastSaid) return;
    lastSaid = what;
    write();
  };

  const ask = async (): Promise<void> => {
    try {
      await firstRow(deps.db, 'select 1 as one');
    } catch (error) {
      const { code, driverCode, message } = error as StoreError;
      say(`${code} ${driverCode}`, () => {
        const fields = { code, driverCode, reason: message, storage: deps.settings.type };
        // Waiting mends an outage; wrong credentials need a person.
        if (code === 'refused') deps.log.error('The database refuses us', fields);
        else deps.log.warn('The database is not reachable', fields);
      });
      throw error;
    }
    if (lastSaid === 'connected') return;
    const before = lastSaid;
    lastSaid = 'connected'; // at once: several may ask at the same time, and one of them greets
    try {
      await greet(deps);
    } catch (error) {
      lastSaid = before;
      throw error;
    }
  };

  const wait = async (signal: AbortSignal): Promise<void> => {
    for (let tries = 0; ; tries++) {
      signal.throwIfAborted();
      try {
        await ask();
        return;
      } catch (error) {
        if (error instanceof StoreError && error.code === 'closed') throw error;
      }
      const ceiling = Math.min(longestWaitMs, firstWaitMs * 2 ** tries);
      await deps.clock.sleep(firstWaitMs + Math.random() * (ceiling - firstWaitMs), signal);
    }
  };

  return { ask, wait };
}

/** At each return of the database: what it is, whether it has room for us, and how far its clock is from ours. */
async function greet({ db, log, settings, measureOffset }: ProbeDeps): Promise<void> {
  await measureOffset();
  const version = await db.dialect.version(db);
  log.info('The database is connected', { storage: settings.type, version });
  if (settings.type === 'sqlite') return;

  const server = await db.dialect.maxConnections(db);
  const ours = settings.pool.maxOpenConns;
  if (server !== undefined && ours > server) {
    log.warn('The pool may open more connections than the server takes', { maxOpenConns: ours, serverLimit: server });
  }
}
