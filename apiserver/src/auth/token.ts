import { unauthenticated } from '../errors.ts';
import { reviewedAuthentication, type Introduction, type ReviewedDeps } from './reviewed.ts';
import type { Authentication } from './authentication.ts';

const missing = 'A bearer token is needed: Authorization: Bearer <token>';
const refused = 'The token is not valid, or no longer';

/** Mode token: the bearer token of the cluster, and what the cluster lets its holder do. */
export function tokenAuthentication(deps: ReviewedDeps): Authentication {
  const introduction: Introduction = {
    mode: 'token',
    missing,
    async identify({ headers: { authorization } }) {
      if (authorization === undefined) return undefined;
      const token = /^bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1];
      if (token === undefined) throw unauthenticated(missing);
      const identity = await deps.reviews.identityOf(token);
      if (!identity) throw unauthenticated(refused);
      return identity;
    },
  };
  return reviewedAuthentication(introduction, deps);
}
