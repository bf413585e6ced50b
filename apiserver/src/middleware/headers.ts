import helmet from 'koa-helmet';
import type { ApiMiddleware } from '../context.ts';

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
