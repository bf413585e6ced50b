import type { SubjectAlternativeNameExtension } from '@peculiar/x509';
import { webcrypto } from 'node:crypto';

// The library's injector asks for a metadata API that no engine has. It registers its own classes by hand, so finding nothing is enough.
Object.assign(Reflect, {
  getMetadata: () => undefined,
  getOwnMetadata: () => undefined,
  defineMetadata: () => {},
  ...Reflect,
});
const x509 = await import('@peculiar/x509');

/** A certificate and its key as PEM texts. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;

/** An authority of one test: signs certificates for the names and addresses it is asked for. */
export interface Authority {
  readonly certificate: string;
  issue(hosts: readonly string[]): Promise<KeyPair>;
}

export async function makeAuthority(): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test Authority',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return {
    certificate: certificate.toString('pem'),
    issue: async (hosts) => {
      const own = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const issued = await x509.X509CertificateGenerator.create({
        subject: 'CN=Test Server',
        issuer: certificate.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        notBefore: new Date(Date.now() - dayMs),
        notAfter: new Date(Date.now() + dayMs),
        extensions: [namesOf(hosts)],
      });
      return { certificate: issued.toString('pem'), key: await toPem(own.privateKey) };
    },
  };
}

/** A certificate that vouches for itself alone. */
export async function makeSelfSigned(hosts: readonly string[]): Promise<KeyPair> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Self Signed',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    extensions: [namesOf(hosts)],
  });
  return { certificate: certificate.toString('pem'), key: await toPem(keys.privateKey) };
}

function namesOf(hosts: readonly string[]): SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? ('ip' as const) : ('dns' as const), value })),
  );
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
