import { StoreError } from '../store-error.ts';
import { poolTimeout, textOf, toNetworkError } from './network-errors.ts';

/** Result codes to our words. https://www.sqlite.org/rescode.html */
export function toSqliteError(error: unknown): StoreError {
  const code = textOf(error, 'code') ?? '';
  const message = textOf(error, 'message') ?? '';
  if (!code.startsWith('SQLITE_')) {
    const network = toNetworkError(error);
    // A file is there while all its connections wait for a lock on it.
    if (network?.driverCode === poolTimeout)
      return new StoreError('busy', 'no connection to the database file was free in time', { driverCode: poolTimeout });
    if (network) return network;
    if (message === 'The database connection is not open') return new StoreError('closed', 'the store is closed');
    if (/directory does not exist/.test(message)) {
      return new StoreError('unavailable', 'the folder of the database file does not exist', {
        driverCode: 'NO_FOLDER',
      });
    }
    return new StoreError('internal', 'the database driver failed', { driverCode: textOf(error, 'name') });
  }

  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new StoreError('busy', 'another process holds the database file', { driverCode: code, retryable: true });
  }
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    // "UNIQUE constraint failed: table.column, table.column" names columns only.
    const columns = /failed: ([\w.]+(?:, [\w.]+)*)$/.exec(message)?.[1];
    return new StoreError('conflict', 'the database refused the row', {
      driverCode: code,
      constraint: columns,
      table: columns?.split('.')[0],
    });
  }
  // A page or the index of the log that cannot be written: the volume is full, or it has become read-only.
  if (/^SQLITE_(FULL|READONLY|IOERR_(WRITE|TRUNCATE|FSYNC|DIR_FSYNC|SHMSIZE|SHMOPEN|DELETE)$)/.test(code)) {
    return new StoreError('full', 'the database file takes no writes', { driverCode: code });
  }
  if (/^SQLITE_(IOERR|CANTOPEN|PROTOCOL)/.test(code)) {
    return new StoreError('unavailable', 'the database file cannot be reached', { driverCode: code });
  }
  if (/^SQLITE_(CORRUPT|NOTADB|PERM|AUTH)/.test(code)) {
    return new StoreError('refused', 'the database file is not usable', { driverCode: code });
  }
  if (/^no such (table|column)|has no column named/.test(message)) {
    return new StoreError('schema', 'the schema lacks what was asked for', { driverCode: code });
  }
  return new StoreError('internal', 'the database failed', { driverCode: code });
}
