import type { Cluster } from './cluster.ts';

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
