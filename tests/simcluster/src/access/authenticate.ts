import type { IncomingHttpHeaders } from 'node:http';
import { badRequest, statusError } from '../http/api-error.ts';
import type { User } from '../http/api-request.ts';
import { accountGroups, apiAudience, type ServiceAccountTokens, type TokenVerdict } from './service-account-tokens.ts';

const authenticatedGroup = 'system:authenticated';
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Tells who sends a request, by tokens given at the start and by tokens of service accounts. */
export class Authenticator {
  readonly #static = new Map<string, User>();
  readonly #accounts: ServiceAccountTokens;
  /** Without any token there is nothing to tell users apart by: every caller is the administrator. */
  #open = true;

  constructor(accounts: ServiceAccountTokens) {
    this.#accounts = accounts;
  }

  /** Lets a token stand for a user from now on. */
  addToken(token: string, user: User): void {
    this.#open = false;
    this.#static.set(token, withGroup(user));
  }

  removeToken(token: string): void {
    this.#static.delete(token);
  }

  /** What is known about a token. */
  review(token: string): TokenVerdict {
    const user = this.#static.get(token);
    if (user !== undefined) return { user, audiences: [apiAudience] };
    return this.#accounts.verify(token) ?? { error: 'invalid bearer token' };
  }

  /** The sender of a request. Throws a 401 for an unknown token. */
  userOf(headers: IncomingHttpHeaders): User {
    const token = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return this.#open ? administrator : anonymous;
    const verdict = this.review(token);
    if (verdict.user === undefined) {
      if (this.#open) return administrator;
      throw statusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
    }
    return verdict.user;
  }
}

const administrator: User = { name: 'admin', uid: 'admin', groups: ['system:masters', authenticatedGroup] };

function withGroup(user: User): User {
  return user.groups.includes(authenticatedGroup) ? user : { ...user, groups: [...user.groups, authenticatedGroup] };
}

/** The user that a request wants to be; undefined when it only wants to be itself. Throws a 400 for a group alone. */
export function impersonatedUser(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): User | undefined {
  const name = headers['impersonate-user'];
  const groups = valuesOf(rawHeaders, 'impersonate-group');
  if (typeof name !== 'string' || name === '') {
    const [group] = groups;
    if (group !== undefined) throw badRequest(`requested [{Group  ${group}    }] without impersonating a user`);
    return undefined;
  }
  const account = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name);
  const implied = account?.[1] === undefined ? [authenticatedGroup] : accountGroups(account[1]);
  const all = groups.length > 0 ? groups : implied;
  const complete = name === anonymous.name || all.includes(authenticatedGroup) ? all : [...all, authenticatedGroup];
  const uid = headers['impersonate-uid'];
  return { name, groups: complete, ...(typeof uid === 'string' ? { uid } : {}) };
}

/** All values of a header, which may stand several times or hold a list. */
function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(...(rawHeaders[index + 1] ?? '').split(/,\s*/));
  }
  return values;
}
