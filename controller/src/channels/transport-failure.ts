import type { DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import { failed, type Failed } from './outcome.ts';

/** Why no answer came. */
export interface TransportFailure {
  readonly category: Extract<DeliveryErrorCategory, 'network' | 'timeout' | 'tls' | 'addressRefused'>;
  /** A sentence of ours: texts of transports carry addresses, headers and the receiver's words. */
  readonly message: string;
  /** Bytes of the message may have been written. */
  readonly wrote: boolean;
}

export const addressRefused: TransportFailure = {
  category: 'addressRefused',
  message:
    'its address is not allowed: loopback, link-local, a metadata service or the like, or in channels.deny-cidrs; ' +
    'channels.allow-cidrs makes exceptions',
  wrote: false,
};

export const nameUnknown: TransportFailure = {
  category: 'network',
  message: 'its host name could not be resolved',
  wrote: false,
};

/** What is known of a failure. `connect` ends when the connection, with TLS where it is asked for, stands. */
interface FailureFacts {
  readonly phase: 'connect' | 'exchange';
  readonly timedOut?: boolean;
  /** Code of a system, TLS or parser error. */
  readonly code?: string | undefined;
}

export function toTransportFailure({ phase, timedOut = false, code = '' }: FailureFacts): TransportFailure {
  const wrote = phase === 'exchange';
  if (timedOut) {
    return { category: 'timeout', message: wrote ? 'no answer within 15 s' : 'no connection within 5 s', wrote };
  }
  const certificate = Object.hasOwn(certificateProblems, code) ? certificateProblems[code] : undefined;
  if (certificate !== undefined) return { category: 'tls', message: certificate, wrote };
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|CRL_|UNABLE_TO_|INVALID_CA|PATH_LENGTH)/.test(code)) {
    return { category: 'tls', message: 'the TLS handshake failed', wrote };
  }
  if (code.startsWith('HPE_')) return { category: 'network', message: 'its answer is no HTTP', wrote };
  return {
    category: 'network',
    message: wrote ? 'the connection broke off before the answer was complete' : 'no connection could be made',
    wrote,
  };
}

/** A refused address waits for a person, everything else is tried again. */
export function failedInTransport(failure: TransportFailure, facts: Pick<Partial<Failed>, 'progress'> = {}): Failed {
  const next = failure.category === 'addressRefused' ? 'invalid' : 'retry';
  return failed(next, failure.category, failure.message, { maybeSent: failure.wrote, ...facts });
}

const untrustedAuthority = 'the authority of its certificate is not trusted';
/** Codes of Node and OpenSSL that a person can act on. */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate has been revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself and not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: untrustedAuthority,
  UNABLE_TO_GET_ISSUER_CERT: untrustedAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};
