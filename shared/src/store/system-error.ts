import { textOf } from './dialect/network-errors.ts';
import { StoreError } from './store-error.ts';

const noWrites = new Set(['ENOSPC', 'EROFS', 'EDQUOT', 'EFBIG', 'EPERM', 'EACCES']);

/** What the operating system says of a file of the database, in our words. */
export function toSystemError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = textOf(error, 'code');
  return code !== undefined && noWrites.has(code)
    ? new StoreError('full', 'the database file takes no writes', { driverCode: code })
    : new StoreError('unavailable', 'the database file cannot be reached', { driverCode: code });
}
