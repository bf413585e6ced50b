/** Why the database did not do what it was asked. Append-only: logs, metrics and callers rely on the words. */
const storeErrorCodes = [
  'unavailable', // no connection, or it broke: the work may be done again when the database is back
  'timeout', // a statement or the wait for a pooled connection took longer than its limit
  'busy', // locks stood in the way of every attempt
  'fenced', // the epoch is no longer ours: a process that hears this has stopped being the leader
  'conflict', // a key or a check refused the row
  'schema', // the schema is not one this program may use
  'full', // no room left, or the database takes no writes
  'refused', // name, password, rights or certificate: a person has to act
  'closed', // the store was closed
  'internal', // none of the above: a fault of ours
] as const;
export type StoreErrorCode = (typeof storeErrorCodes)[number];

/** The parts of a driver's error that are kept. Never its text, which holds SQL and values. */
interface StoreErrorFacts {
  /** The driver's own code, such as 40001, ER_LOCK_DEADLOCK, SQLITE_FULL, ECONNREFUSED. */
  readonly driverCode?: string | undefined;
  readonly constraint?: string | undefined;
  readonly table?: string | undefined;
  /** The whole transaction may be run again at once. */
  readonly retryable?: boolean | undefined;
}

/** Sentences for errors of a database server, by code. */
const sentences: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  busy: 'locks of other transactions stood in the way',
  timeout: 'a statement took longer than its limit',
  unavailable: 'no connection to the database',
  full: 'the database takes no writes',
  refused: 'the database refuses the account',
  schema: 'the schema lacks what was asked for',
  conflict: 'the database refused the row',
};

/**
 * The only error that leaves the store. `code` is stable; the message names code, constraint and table and nothing else.
 * The message cannot be changed afterwards: the query builder prefixes the messages of errors with SQL and values.
 */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly driverCode: string | undefined;
  readonly constraint: string | undefined;
  readonly table: string | undefined;
  readonly retryable: boolean;

  /** Of a database server that answered with an error of this code. */
  static ofServer(code: StoreErrorCode, facts: StoreErrorFacts): StoreError {
    return new StoreError(code, sentences[code] ?? 'the database failed', facts);
  }

  constructor(code: StoreErrorCode, sentence: string, facts: StoreErrorFacts = {}) {
    super(sentence);
    this.name = 'StoreError';
    this.code = code;
    this.driverCode = facts.driverCode;
    this.constraint = facts.constraint;
    this.table = facts.table;
    this.retryable = facts.retryable ?? false;
    const message = sentenceWith(sentence, facts);
    Object.defineProperty(this, 'message', { get: () => message, set: () => {}, enumerable: false });
  }
}

/** No connection was free in time, while the database answered others: this process has too few, or what it asks takes too long. */
export class PoolBusyError extends StoreError {
  /** Size of the pool; all connections are in use. */
  readonly connections: number;
  /** The configuration key of the pool's size; undefined: the size is fixed. */
  readonly key: string | undefined;

  constructor(connections: number, key: string | undefined) {
    super('busy', `all ${connections} connections of this process to the database are busy`, {
      driverCode: 'POOL_BUSY',
    });
    this.name = 'PoolBusyError';
    this.connections = connections;
    this.key = key;
  }
}

/** The row of the leader says another epoch: nothing of this transaction was kept, and no later one will be. */
export class FencedError extends StoreError {
  readonly epoch: number;

  constructor(epoch: number) {
    super('fenced', `epoch ${epoch} is no longer the leader's`);
    this.name = 'FencedError';
    this.epoch = epoch;
  }
}

function sentenceWith(sentence: string, facts: StoreErrorFacts): string {
  const details = [
    facts.driverCode && `code ${facts.driverCode}`,
    facts.constraint && `constraint ${facts.constraint}`,
    facts.table && `table ${facts.table}`,
  ].filter(Boolean);
  return details.length === 0 ? sentence : `${sentence} (${details.join(', ')})`;
}
