import { createPrivateKey, X509Certificate, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { dayMs } from '../domain/index.ts';

interface CertificateFiles {
  readonly certificatePath: string;
  readonly keyPath: string;
}

/** Gives a certificate at the start, and a new one whenever it has changed or runs out. */
export interface CertificateSource {
  /** @throws Error saying what is wrong with the files */
  first(): Promise<ValidPair>;
  /** Looks every 5 s until the signal. */
  watch(onChange: (pair: ValidPair) => void, signal: AbortSignal): void;
}

/** A certificate with its own key. */
export interface ValidPair extends KeyPair {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

const lookMs = 5_000;
const ownLifetimeMs = 30 * dayMs;
const ownRenewalMs = 10 * dayMs;

export function createCertificateSource({
  files,
  clock,
  logger,
}: {
  /** Undefined: a certificate of our own making. */
  readonly files: CertificateFiles | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}): CertificateSource {
  return files ? new FileCertificate(files, clock, logger) : new OwnCertificate(clock);
}

/**
 * Files are read and compared, not watched: a mounted Secret changes by a swap of symbolic links, which watchers miss. A pair
 * that does not fit is told once and the one in use stays, also while a rotation has written only one of the two.
 */
class FileCertificate implements CertificateSource {
  readonly #files: CertificateFiles;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #seen = '';

  constructor(files: CertificateFiles, clock: Clock, logger: Logger) {
    this.#files = files;
    this.#clock = clock;
    this.#logger = logger;
  }

  async first(): Promise<ValidPair> {
    const pair = await this.#read();
    this.#seen = textOf(pair);
    return validate(pair);
  }

  watch(onChange: (pair: ValidPair) => void, signal: AbortSignal): void {
    this.#clock.every(lookMs, () => this.#look(onChange), signal);
  }

  async #look(onChange: (pair: ValidPair) => void): Promise<void> {
    const { certificatePath } = this.#files;
    try {
      const pair = await this.#read();
      if (textOf(pair) === this.#seen) return;
      this.#seen = textOf(pair);
      onChange(validate(pair));
      this.#logger.info('the certificate was replaced', { certificatePath });
    } catch (error) {
      const text = error instanceof Error ? error.message : 'unreadable';
      if (text === this.#seen) return;
      if (!(error instanceof WrongPair)) this.#seen = text;
      this.#logger.error('the new certificate cannot be used, the old one stays', { certificatePath, error });
    }
  }

  /** One after the other: of two files that are gone the same one is named at every look. */
  async #read(): Promise<KeyPair> {
    const certificate = await readFile(this.#files.certificatePath, 'utf8');
    const key = await readFile(this.#files.keyPath, 'utf8');
    return { certificate, key };
  }
}

/** Renewed ten days before it ends. */
class OwnCertificate implements CertificateSource {
  readonly #clock: Clock;
  #expiresAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async first(): Promise<ValidPair> {
    const pair = await createOwnCertificate({
      names: [...new Set([hostname(), 'localhost'])],
      addresses: ['127.0.0.1', '::1'],
      now: this.#clock.now(),
      lifetimeMs: ownLifetimeMs,
    });
    const valid = validate(pair);
    this.#expiresAt = valid.expiresAt;
    return valid;
  }

  watch(onChange: (pair: ValidPair) => void, signal: AbortSignal): void {
    const renew = async () => {
      if (this.#expiresAt - this.#clock.now() < ownRenewalMs) onChange(await this.first());
    };
    this.#clock.every(lookMs, renew, signal);
  }
}

function textOf({ certificate, key }: KeyPair): string {
  return `${certificate}\n${key}`;
}

/** The files hold no certificate, no key, or two that do not belong together. The message never holds their content. */
class WrongPair extends Error {}

function validate(pair: KeyPair): ValidPair {
  const certificate = orExplain('no certificate in PEM', () => new X509Certificate(pair.certificate));
  const key = orExplain('no unencrypted private key in PEM', () => createPrivateKey(pair.key));
  if (!certificate.checkPrivateKey(key)) throw new WrongPair('the certificate and the key do not belong together');
  return { ...pair, expiresAt: certificate.validToDate.getTime() };
}

function orExplain<T>(problem: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new WrongPair(problem); // The library's own words may quote the file.
  }
}

/** A certificate and its key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const clockToleranceMs = 3_600_000;

/** A certificate of our own making: ECDSA on P-256, for servers, signed by itself. */
export async function createOwnCertificate(options: {
  /** Names and addresses it is for. */
  readonly names: readonly string[];
  readonly addresses: readonly string[];
  /** The instant it is made, epoch milliseconds. It is valid from an hour before, for clocks that differ. */
  readonly now: number;
  readonly lifetimeMs: number;
}): Promise<KeyPair> {
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
