import { isUnsafe, type ApiMiddleware } from '../context.ts';
import { crossSiteRefused } from '../errors.ts';

/**
 * Refuses what a page of another site makes a browser send. A browser says itself where a request comes from; one that
 * does not is judged by its Origin, and no Origin at all is a command line.
 */
export function crossSiteGuard(): ApiMiddleware {
  return async (ctx, next) => {
    if (isUnsafe(ctx.method) && !sameSite(ctx.headers)) throw crossSiteRefused();
    await next();
  };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function sameSite(headers: Headers): boolean {
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || fetchSite === 'none';
  const { origin, host } = headers;
  if (origin === undefined) return true;
  if (typeof origin !== 'string' || typeof host !== 'string' || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Read with the Origin's scheme, so that a default port that one of them leaves out makes no difference.
  const own = `${protocol}//${host}`;
  return originHost !== '' && URL.canParse(own) && new URL(own).host === originHost;
}
