import type { AccessQuestion, Cluster, Identity, RawObject } from './cluster.ts';
import { arrayOf, textOf } from './translate/fields.ts';
import { objectOf } from '../domain/index.ts';

/** What a TokenReview asks: is the token good, and, where audiences are named, meant for one of them. */
export function tokenReviewOf(token: string, audiences: readonly string[] = []): object {
  const spec = audiences.length === 0 ? { token } : { token, audiences };
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
}

/**
 * What it answers: undefined unless it says in so many words that the token is good, and whose it is. A server that knows nothing
 * of audiences names none in its answer: where some were asked for, that is a no.
 */
export function toIdentity(review: RawObject, audiences: readonly string[] = []): Identity | undefined {
  const status = objectOf(review['status']);
  const user = objectOf(status['user']);
  const name = textOf(user['username']);
  if (status['authenticated'] !== true || name === undefined || name === '') return undefined;
  if (audiences.length > 0 && !textsIn(status['audiences']).some((audience) => audiences.includes(audience))) {
    return undefined;
  }
  const extra = Object.entries(objectOf(user['extra'])).map(([key, values]) => [key, textsIn(values)] as const);
  return {
    user: name,
    uid: textOf(user['uid']),
    groups: textsIn(user['groups']),
    extra: Object.fromEntries(extra),
  };
}

/** What a SubjectAccessReview asks. */
export function accessReviewOf({ user, uid, groups, extra }: Identity, question: AccessQuestion): object {
  const { verb } = question;
  const attributes =
    'path' in question
      ? { nonResourceAttributes: { verb, path: question.path } }
      : { resourceAttributes: resourceAttributes(question) };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, uid, groups, extra, ...attributes },
  };
}

function resourceAttributes(question: Exclude<AccessQuestion, { readonly path: string }>): object {
  const { verb, group, resource, subresource, namespace, name } = question;
  return { verb, group, resource, subresource, namespace, name };
}

/** What it answers: allowed only if it says so, and nothing denies it. */
export function isAllowed(review: RawObject): boolean {
  const status = objectOf(review['status']);
  return status['allowed'] === true && status['denied'] !== true;
}

function textsIn(values: unknown): string[] {
  return arrayOf(values).filter((value) => typeof value === 'string');
}

/**
 * Whether the holder of a token may read /metrics: a TokenReview, then a SubjectAccessReview of `get` on that path. Throws
 * `ClusterError` when the cluster cannot be asked.
 */
export async function reviewScrape(
  cluster: Pick<Cluster, 'reviewToken' | 'reviewAccess'>,
  token: string,
  signal: AbortSignal,
): Promise<'allowed' | 'unauthenticated' | 'denied'> {
  const identity = await cluster.reviewToken(token, signal);
  if (!identity) return 'unauthenticated';
  const mayGet = await cluster.reviewAccess(identity, { verb: 'get', path: '/metrics' }, signal);
  return mayGet ? 'allowed' : 'denied';
}
