import { webcrypto } from 'node:crypto';

/** A certificate and its key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface OwnCertificateOptions {
  /** Names and addresses it is for. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  /** The instant it is made, epoch milliseconds. It is valid from an hour before, for clocks that differ. */
  readonly now: number;
  readonly lifetimeMs: number;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const clockToleranceMs = 3_600_000;

/** A certificate of our own making: ECDSA on P-256, for servers, vouched for by nobody but itself. */
export async function createOwnCertificate(options: OwnCertificateOptions): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=cronjob-monitor',
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(options.now - clockToleranceMs),
      notAfter: new Date(options.now + options.lifetimeMs),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          ...options.names.map((value) => ({ type: 'dns', value }) as const),
          ...options.addresses.map((value) => ({ type: 'ip', value }) as const),
        ]),
      ],
    },
    webcrypto,
  );
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${key.replaceAll(/(.{64})/g, '$1\n').trimEnd()}\n-----END PRIVATE KEY-----\n`,
  };
}

/**
 * The library is loaded when it is needed, which with files of one's own is never. Its injector refuses to load without a
 * metadata API that no engine has; it registers its own classes by hand, so one that knows nothing is enough.
 */
async function loadLibrary() {
  if (!('getMetadata' in Reflect)) {
    Object.assign(Reflect, {
      getMetadata: () => undefined,
      getOwnMetadata: () => undefined,
      defineMetadata: () => {},
    });
  }
  return import('@peculiar/x509');
}
