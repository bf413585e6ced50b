import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { User } from '../http/api-request.ts';
import { fieldsOf, textOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export const apiAudience = 'https://kubernetes.default.svc';

export type TokenVerdict =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly error: string; readonly user?: undefined };

/** Makes tokens for service accounts and tells whether they still hold. They look like those of the real server. */
export class ServiceAccountTokens {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  readonly #secret = randomBytes(32);

  constructor(store: ObjectStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  issue(account: KubeObject, options: { audiences: readonly string[]; seconds: number; id: string }): string {
    const { name, namespace = '', uid } = account.metadata;
    const issuedAt = Math.floor(this.#now() / 1000);
    const claims = {
      aud: options.audiences,
      exp: issuedAt + options.seconds,
      iat: issuedAt,
      iss: apiAudience,
      jti: options.id,
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: issuedAt,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const body = `${encode({ alg: 'HS256', kid: 'simulated' })}.${encode(claims)}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** Undefined: it does not look like a token of ours. */
  verify(token: string): TokenVerdict | undefined {
    const [header = '', payload = '', signature = '', ...rest] = token.split('.');
    const claims = decode(payload);
    if (rest.length > 0 || signature === '' || claims === undefined || claims['iss'] !== apiAudience) return undefined;
    if (!this.#signedByUs(`${header}.${payload}`, signature)) {
      return { error: '[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]' };
    }
    if (Number(claims['exp']) * 1000 <= this.#now()) {
      return { error: '[invalid bearer token, service account token has expired]' };
    }
    return this.#verdictOn(claims);
  }

  #verdictOn(claims: Fields): TokenVerdict {
    const place = fieldsOf(claims['kubernetes.io']);
    const account = fieldsOf(place['serviceaccount']);
    const namespace = textOf(place['namespace']);
    const name = textOf(account['name']);
    const uid = textOf(account['uid']);
    const found = this.#store.get('serviceaccounts', namespace, name);
    if (found === undefined)
      return { error: `[invalid bearer token, serviceaccounts ${JSON.stringify(name)} not found]` };
    if (found.metadata.uid !== uid) {
      return {
        error: `[invalid bearer token, service account UID (${found.metadata.uid}) does not match claim (${uid})]`,
      };
    }
    const audiences = Array.isArray(claims['aud']) ? claims['aud'].map(textOf) : [];
    const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${textOf(claims['jti'])}`] };
    return { user: { name: textOf(claims['sub']), uid, groups: accountGroups(namespace), extra }, audiences };
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#secret).update(body).digest('base64url');
  }

  #signedByUs(body: string, signature: string): boolean {
    const expected = Buffer.from(this.#sign(body));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given);
  }
}

export function accountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch {
    // Not JSON, so no token of ours.
    return undefined;
  }
}
