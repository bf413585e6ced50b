import type { Clock } from '../process/index.ts';
import type { StoreSettings } from './settings.ts';
import { StoreError, type StoreErrorCode } from './store-error.ts';
import { noAnswer } from './dialect/connection.ts';
import { fileTrouble, serverTrouble } from './trouble-sentence.ts';
import { lookAtVolume } from './volume.ts';

/** What keeps the database from being used. */
export interface Trouble {
  readonly error: StoreError;
  /** When it began, monotonic milliseconds. */
  readonly sinceMs: number;
}

/** Remembers what the database last did: every statement and every commit reports here. */
export interface TroubleWatch {
  /** Something failed. An error that is not about the database as a whole may be an answer of it. */
  failed(error: unknown): void;
  /** A statement was answered: the database can be reached. Whether it takes writes is another question. */
  answered(): void;
  /** How many statements it has answered. */
  answers(): number;
  /** A write was proved to last. */
  wrote(): void;
  /** Undefined while all is well. */
  current(): Trouble | undefined;
  /** It has answered at least once. */
  hasAnswered(): boolean;
}

const ofTheWhole: ReadonlySet<StoreErrorCode> = new Set(['unavailable', 'refused', 'full']);
const ofAnswers: ReadonlySet<StoreErrorCode> = new Set(['schema', 'conflict', 'fenced']);

export function createTroubleWatch(clock: Clock): TroubleWatch {
  let trouble: Trouble | undefined;
  let answers = 0;
  const answered = (): void => {
    answers++;
    if (trouble?.error.code !== 'full') trouble = undefined;
  };
  return {
    failed(error) {
      if (!(error instanceof StoreError)) return;
      if (!ofTheWhole.has(error.code) && error.driverCode !== noAnswer) {
        // A table that is missing, a row that is refused: the database itself says so.
        if (ofAnswers.has(error.code)) answered();
        return;
      }
      const isSame = trouble?.error.code === error.code;
      trouble = { error, sinceMs: trouble && isSame ? trouble.sinceMs : clock.monotonicMs() };
    },
    answered,
    answers: () => answers,
    wrote() {
      trouble = undefined;
    },
    current: () => trouble,
    hasAnswered: () => answers > 0,
  };
}

/** What is wrong, where, and what to change: one sentence without a stop. */
export function describeTrouble(settings: StoreSettings, error: StoreError): string {
  return settings.type === 'sqlite'
    ? fileTrouble(settings.path, error, lookAtVolume(settings.path))
    : serverTrouble(settings, error);
}
