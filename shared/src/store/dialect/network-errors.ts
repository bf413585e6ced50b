import { StoreError } from '../store-error.ts';

const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

const certificateCodes =
  /^(CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Driver code of a connection that was not free in time. */
export const poolTimeout = 'POOL_TIMEOUT';

/** Errors of driver, pool and socket; undefined: the server itself reported the error. */
export function toNetworkError(error: unknown): StoreError | undefined {
  if (error instanceof StoreError) return error;
  const code = textOf(error, 'code');
  const name = textOf(error, 'name');
  if (name === 'KnexTimeoutError' || name === 'TimeoutError') {
    return new StoreError('unavailable', 'no connection to the database was free in time', {
      driverCode: poolTimeout,
    });
  }
  if (code === 'ENOENT' || code === 'EACCES') {
    return new StoreError('refused', 'a file with the password or the certificates cannot be read', {
      driverCode: code,
    });
  }
  if (code !== undefined && connectionCodes.has(code)) {
    return StoreError.ofServer('unavailable', { driverCode: code });
  }
  if (code !== undefined && certificateCodes.test(code)) {
    return certificateRefused(code);
  }
  // The second is what the pool says to those that waited for a connection as it was closed.
  if (['Unable to acquire a connection', 'aborted'].includes(textOf(error, 'message') ?? '')) {
    return new StoreError('closed', 'the store is closed');
  }
  return undefined;
}

export function certificateRefused(driverCode: string): StoreError {
  return new StoreError('refused', "the database server's certificate is not accepted", { driverCode });
}

export function noTls(): StoreError {
  return new StoreError('refused', 'the database server offers no TLS, and ssl-mode asks for it', {
    driverCode: 'NO_TLS',
  });
}

/** One text member of the error. */
export function textOf(error: unknown, member: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value = (error as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(error: unknown, member: string): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value = (error as Record<string, unknown>)[member];
  return typeof value === 'number' ? value : undefined;
}
