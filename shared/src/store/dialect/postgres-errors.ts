import { StoreError, type StoreErrorCode } from '../store-error.ts';
import { textOf, toNetworkError } from './network-errors.ts';

/** SQLSTATE, or its class of two characters, to our word. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const words: Readonly<Record<string, StoreErrorCode>> = {
  '40001': 'busy', // serialization_failure
  '40P01': 'busy', // deadlock_detected
  '55P03': 'busy', // lock_not_available: lock_timeout ran out
  '57014': 'timeout', // query_canceled: statement_timeout ran out
  '57P01': 'unavailable', // admin_shutdown
  '57P02': 'unavailable', // crash_shutdown
  '57P03': 'unavailable', // cannot_connect_now: starting up or recovering
  '57P05': 'unavailable', // idle_session_timeout
  '25P03': 'unavailable', // idle_in_transaction_session_timeout
  '25P04': 'unavailable', // transaction_timeout
  '53300': 'unavailable', // too_many_connections
  '53100': 'full',
  '53200': 'full',
  '25006': 'full', // read_only_sql_transaction: a standby, or a disk guard
  '42501': 'refused', // insufficient_privilege
  '3D000': 'refused', // the database does not exist
  '42P01': 'schema',
  '42703': 'schema',
  '3F000': 'schema',
  '08': 'unavailable',
  '28': 'refused',
  '23': 'conflict',
  '22': 'conflict',
};

const sentences: Readonly<Partial<Record<StoreErrorCode, string>>> = {
  busy: 'locks of other transactions stood in the way',
  timeout: 'a statement took longer than its limit',
  unavailable: 'no connection to the database',
  full: 'the database takes no writes',
  refused: 'the database refuses the account',
  schema: 'the schema lacks what was asked for',
  conflict: 'the database refused the row',
};

/** Endings of a connection that carry no code. */
const brokenConnection =
  /^(Connection terminated|timeout expired|Client has encountered a connection error|Client was closed|There was an error establishing an SSL)/;

export function toPostgresError(error: unknown): StoreError {
  const network = toNetworkError(error);
  if (network) return network;

  const code = textOf(error, 'code');
  const message = textOf(error, 'message') ?? '';
  if (message.startsWith('The server does not support SSL')) {
    return new StoreError('refused', 'the database server offers no TLS, and ssl-mode asks for it', {
      driverCode: 'NO_TLS',
    });
  }
  if (code === undefined) {
    return brokenConnection.test(message)
      ? new StoreError('unavailable', 'no connection to the database', { driverCode: 'TERMINATED' })
      : new StoreError('internal', 'the database driver failed', { driverCode: textOf(error, 'name') });
  }
  const word = words[code] ?? words[code.slice(0, 2)] ?? 'internal';
  return new StoreError(word, sentences[word] ?? 'the database failed', {
    driverCode: code,
    constraint: textOf(error, 'constraint'),
    table: textOf(error, 'table'),
    retryable: word === 'busy',
  });
}
