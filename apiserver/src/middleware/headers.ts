import type { ApiMiddleware } from '../context.ts';

/** Nothing but our own files: no inline script or style, no frame, no form, no string into a script sink. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html',
].join('; ');

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

const everyAnswer = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': permissionsPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** A year, for the name that the browser used alone: what lies beside it is not ours. */
const strictTransport = 'max-age=31536000';

/**
 * Headers on every answer, errors included: they are set before anything else can fail. `isTlsProxy` says whether the other end of
 * the socket is a proxy that may be believed when it says that it was reached by TLS.
 */
export function securityHeaders(isTlsProxy: (address: string | undefined) => boolean): ApiMiddleware {
  return async (ctx, next) => {
    ctx.set(everyAnswer);
    const isTls = ctx.get('X-Forwarded-Proto').trim().toLowerCase() === 'https';
    if (isTls && isTlsProxy(ctx.req.socket.remoteAddress)) ctx.set('Strict-Transport-Security', strictTransport);
    await next();
  };
}
