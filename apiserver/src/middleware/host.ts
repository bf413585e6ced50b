import { isIP } from 'node:net';
import { crossSiteRefused, hostNotAllowed, invalidRequest } from '../errors.ts';
import { type ApiMiddleware, isUnsafe } from '../context.ts';

interface HostRules {
  /** `api.allowed-hosts`: names, a leading `*.` is a wildcard for any number of labels. */
  readonly allowedHosts: readonly string[];
  /** Host of `ui.external-url`. */
  readonly externalHost: string | undefined;
}

/**
 * Refuses a Host that is none of ours, and so ends DNS rebinding: a page that makes its own name point at us still sends
 * that name. What needs no name service of strangers is always accepted: IP literals, localhost, names without a dot and
 * those of a cluster.
 */
export function hostGuard(rules: HostRules): ApiMiddleware {
  const allowed = new Set(rules.allowedHosts.filter((name) => !name.startsWith('*.')).map(toName));
  if (rules.externalHost !== undefined) allowed.add(toName(rules.externalHost));
  const suffixes = rules.allowedHosts.filter((name) => name.startsWith('*.')).map((name) => toName(name.slice(1)));
  suffixes.push('.localhost', '.svc', '.svc.cluster.local');

  return async (ctx, next) => {
    // RFC 9112, section 3.2: a proxy before us may have gone by the other one.
    if ((ctx.req.headersDistinct['host']?.length ?? 0) > 1) {
      throw invalidRequest([{ in: 'header', field: 'Host', message: 'is given more than once', allowed: 'once' }]);
    }
    const host = hostOf(ctx.req.url ?? '', ctx.req.headers.host);
    if (host === undefined || !accepted(host, allowed, suffixes)) throw hostNotAllowed();
    await next();
  };
}

function accepted(host: string, allowed: ReadonlySet<string>, suffixes: readonly string[]): boolean {
  if (isIP(host) !== 0) return true;
  if (!host.includes('.')) return true; // localhost, and names of a search domain
  return allowed.has(host) || suffixes.some((suffix) => host.endsWith(suffix) && host.length > suffix.length);
}

const label = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
const name = new RegExp(`^${label}(?:\\.${label})*$`);

/** Name or address without port, brackets and closing dot; undefined when it is none. The target of a proxy request wins. */
function hostOf(url: string, header: string | undefined): string | undefined {
  const authority = url.startsWith('/') || url === '*' ? header : URL.canParse(url) ? new URL(url).host : undefined;
  if (authority === undefined) return undefined;
  const [, bracketed, plain] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::[0-9]{1,5})?$/.exec(authority) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : undefined;
  const host = toName(plain ?? '');
  return name.test(host) ? host : undefined;
}

function toName(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

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
