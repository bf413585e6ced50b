import { readFile } from 'node:fs/promises';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import type { ServerSettings } from '../settings.ts';

/**
 * How a connection is protected: undefined = not at all. `require` encrypts and checks nothing, `verify-ca` checks the chain,
 * `verify-full` the chain and the name. A server without TLS is refused by the driver whenever this is not undefined.
 */
export async function toTlsOptions(
  settings: ServerSettings,
): Promise<Pick<ConnectionOptions, 'rejectUnauthorized' | 'ca' | 'checkServerIdentity'> | undefined> {
  if (settings.sslMode === 'disable') return undefined;
  if (settings.sslMode === 'require') return { rejectUnauthorized: false };

  const ca = settings.sslCaFile === undefined ? {} : { ca: await readFile(settings.sslCaFile, 'utf8') };
  if (settings.sslMode === 'verify-ca') {
    return { rejectUnauthorized: true, ...ca, checkServerIdentity: () => undefined };
  }
  // The configured host and not what the socket was told: an address must match an address of the certificate.
  return {
    rejectUnauthorized: true,
    ...ca,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(settings.host, certificate),
  };
}

/** The password of the settings, or the first line of its file, read at each new connection. Empty when there is none. */
export async function readPassword(settings: ServerSettings): Promise<string> {
  if (settings.passwordFile === undefined) return settings.password ?? '';
  const text = await readFile(settings.passwordFile, 'utf8');
  return text.split(/\r?\n/, 1)[0] ?? '';
}
