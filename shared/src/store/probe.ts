import type { Clock, Logger } from '../process/index.ts';
import { change, firstRow } from './ask.ts';
import type { Db } from './database.ts';
import type { StoreSettings } from './settings.ts';
import { StoreError } from './store-error.ts';
import { toSystemError } from './system-error.ts';
import { describeTrouble, type TroubleWatch } from './trouble.ts';
import { tryToWrite } from './volume.ts';

export interface ProbeDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: StoreSettings;
  readonly troubles: TroubleWatch;
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
  const { db, log, settings, troubles } = deps;
  let lastSaid: string | undefined;

  const say = (what: string, write: () => void): void => {
    if (what === lastSaid) return;
    lastSaid = what;
    write();
  };

  const ask = async (): Promise<void> => {
    try {
      await firstRow(db, 'select 1 as one');
      if (troubles.current()?.error.code === 'full') await proveWrites(deps);
    } catch (error) {
      troubles.failed(error);
      const { code, driverCode } = error as StoreError;
      say(`${code} ${driverCode}`, () => {
        const fields = {
          code,
          driverCode,
          reason: describeTrouble(settings, error as StoreError),
          storage: settings.type,
        };
        // Waiting mends an outage; wrong credentials and a full volume need a person.
        if (code === 'refused') log.error('The database refuses us', fields);
        else if (code === 'full') log.error('The database takes no writes', fields);
        else log.warn('The database is not reachable', fields);
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

/** A database that took no writes answers questions all the same: it is back when a write has lasted. */
async function proveWrites({ db, settings, troubles }: ProbeDeps): Promise<void> {
  if (settings.type === 'sqlite') {
    await tryToWrite(settings.path).catch((error: unknown) => {
      throw toSystemError(error);
    });
  }
  await change(db, db.dialect.writeProbe).catch((error: unknown) => {
    // Before the first migration there is nothing to write to: the migration is the proof then.
    if (!(error instanceof StoreError && error.code === 'schema')) throw error;
  });
  troubles.wrote();
}

/** At each return of the database: what it is, and how far its clock is from ours. */
async function greet({ db, log, settings, measureOffset }: ProbeDeps): Promise<void> {
  await measureOffset();
  const version = await db.dialect.version(db);
  log.info('The database is connected', { storage: settings.type, version });
}
