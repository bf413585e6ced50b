import helmet from 'koa-helmet';
import { type ApiMiddleware, isUnsafe } from '../context.ts';
import { isIP } from 'node:net';
import { crossSiteRefused, hostNotAllowed, invalidRequest } from '../errors.ts';

/** Features of the browser that no page of ours uses; only names that browsers know, since each other one is a message in the console. */
const permissionsPolicy = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

/** Nothing but our own files: no inline script or style, no frame, no form, no string into a script sink. */
const everyAnswer = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ['svelte-trusted-html'],
    },
  },
  xFrameOptions: { action: 'deny' },
  // Whether the browser came by TLS is known for each request alone, below.
  strictTransportSecurity: false,
}) as ApiMiddleware;

/** A year, for the name that the browser used alone: what lies beside it is not ours. */
const strictTransport = helmet.strictTransportSecurity({
  maxAge: 31_536_000,
  includeSubDomains: false,
}) as ApiMiddleware;

/**
 * Headers on every answer, errors included: they are set before anything else can fail. `isTlsProxy` says whether the other end of
 * the socket is a proxy that may be believed when it says that it was reached by TLS.
 */
export function securityHeaders(isTlsProxy: (address: string | undefined) => boolean): ApiMiddleware {
  return async (ctx, next) => {
    ctx.set('Permissions-Policy', permissionsPolicy);
    const isTls = ctx.get('X-Forwarded-Proto').trim().toLowerCase() === 'https';
    if (isTls && isTlsProxy(ctx.req.socket.remoteAddress)) await strictTransport(ctx, async () => {});
    await everyAnswer(ctx, next);
  };
}

interface HostRules {
  /** `api.allowed-hosts`: names, a leading `*.` is a wildcard for any number of labels. */
  readonly allowedHosts: readonly string[];
  /** Host of `ui.external-url`. */
  readonly externalHost: string | undefined;
}

/**
 * Refuses a Host that the configuration does not name, and so ends DNS rebinding: a page that makes its own name point at this server
 * still sends that name. The guard always accepts what no foreign name service answers: IP literals, localhost, names without a dot and
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

/** Host name or address without port, brackets and closing dot; undefined for an invalid host. The target of a proxy request wins. */
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
