import { StoreError, type StoreErrorCode } from '../store-error.ts';
import { numberOf, textOf, toNetworkError } from './network-errors.ts';

/**
 * Error numbers to our words. Those above 1900 differ: MariaDB and MySQL gave them out on their own.
 * https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-codes/
 */
const words: Readonly<Record<number, StoreErrorCode>> = {
  1205: 'busy', // lock wait timeout; the transaction stays open until it is rolled back
  1213: 'busy', // deadlock
  1020: 'busy', // record has changed since last read (MariaDB, snapshot isolation)
  1969: 'timeout', // max_statement_time (MariaDB)
  3024: 'timeout', // max_execution_time (MySQL)
  1317: 'timeout', // interrupted
  1040: 'unavailable', // too many connections
  1053: 'unavailable', // shutting down
  1080: 'unavailable',
  1159: 'unavailable',
  1160: 'unavailable',
  1161: 'unavailable',
  1203: 'unavailable', // too many connections of this user
  1226: 'unavailable', // a limit of the account, such as max_user_connections
  1927: 'unavailable', // connection was killed (MariaDB)
  4031: 'unavailable', // disconnected by inactivity (MySQL)
  1021: 'full',
  1114: 'full',
  1290: 'full', // --read-only
  1792: 'full',
  1836: 'full',
  1044: 'refused',
  1045: 'refused',
  1049: 'refused', // unknown database
  1130: 'refused',
  1142: 'refused',
  1227: 'refused',
  1251: 'refused', // authentication protocol
  1698: 'refused',
  3159: 'refused', // require_secure_transport
  1054: 'schema',
  1146: 'schema',
  1022: 'conflict',
  1048: 'conflict',
  1062: 'conflict', // duplicate key
  1264: 'conflict',
  1364: 'conflict',
  1366: 'conflict',
  1406: 'conflict', // data too long
  1586: 'conflict',
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

export function toMysqlError(error: unknown): StoreError {
  const network = toNetworkError(error);
  if (network) return network;

  const code = textOf(error, 'code');
  const number = numberOf(error, 'errno');
  if (code === 'PROTOCOL_CONNECTION_LOST' || /closed state/.test(textOf(error, 'message') ?? '')) {
    return new StoreError('unavailable', 'no connection to the database', { driverCode: 'PROTOCOL_CONNECTION_LOST' });
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return new StoreError('refused', 'the database server offers no TLS, and ssl-mode asks for it', {
      driverCode: 'NO_TLS',
    });
  }
  if (code === 'HANDSHAKE_SSL_ERROR') {
    return new StoreError('refused', "the database server's certificate is not accepted", { driverCode: code });
  }
  const word = (number === undefined ? undefined : words[number]) ?? 'internal';
  return new StoreError(word, sentences[word] ?? 'the database failed', {
    driverCode: code ?? textOf(error, 'name'),
    constraint: number === 1062 ? keyOf(textOf(error, 'message') ?? '') : undefined,
    retryable: word === 'busy',
  });
}

/** The name of the key at the end of "Duplicate entry '…' for key 'name'": MySQL writes table.name. The entry is a value: dropped. */
function keyOf(message: string): string | undefined {
  return /for key '(?:[^'.]+\.)?([^'.]+)'$/.exec(message)?.[1];
}
