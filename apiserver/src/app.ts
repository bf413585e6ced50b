import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { peersOf } from './auth/authentication.ts';
import type { Clusters } from './routes/index.ts';
import { dispatchToClusters } from './clusters/dispatch.ts';
import { type ApiMiddleware, type ApiState, isApiPath, matchedMethods } from './context.ts';
import { ApiError, methodNotAllowed, noSuchRoute, shuttingDown } from './errors.ts';
import type { ApiMetrics } from './metrics.ts';
import { caching, compression } from './middleware/caching.ts';
import { crossSiteGuard, hostGuard, securityHeaders } from './middleware/headers.ts';
import { describe, errorBoundary, type Translation } from './middleware/error-boundary.ts';
import { decodablePath } from './middleware/validate.ts';
import { requestId, requestLog } from './middleware/request-log.ts';
import { findSwaggerFolder, swaggerPage } from './openapi/index.ts';
import type { ApiSettings } from './settings.ts';
import { userInterface } from './static.ts';

/** The order of a request, from the socket to its route; each line says why it stands where it stands. */
export function createApp(deps: {
  readonly settings: ApiSettings;
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  readonly translations: readonly Translation[];
  /** Folder of the built user interface; undefined serves none. */
  readonly uiFolder: string | undefined;
  readonly isStopping: () => boolean;
}): RequestListener {
  const { logger, clock, settings } = deps;
  const app = new Koa<ApiState>();

  app.use(requestId()); // first: every line and every answer below carries it
  app.use(requestLog({ logger, clock, mode: settings.authMode })); // outside the boundary: it sees the status that was really sent
  app.use(deps.metrics.middleware); // the same
  app.use(securityHeaders(peersOf(settings.authMode === 'proxy' ? settings.auth.proxy.peers : []))); // before anything can fail: errors carry them too
  app.use(errorBoundary({ logger, translations: deps.translations })); // from here on an error is an answer in JSON
  app.use(refuseWhenStopping(deps.isStopping)); // a stopping process owes nothing to new requests
  app.use(hostGuard(settings)); // before all else that looks at the request: ends DNS rebinding
  app.use(crossSiteGuard()); // no page of another site changes anything, whatever the path
  app.use(compression()); // outside caching: it packs the text that caching made
  app.use(caching({ authenticated: settings.authMode !== 'none' })); // sees each finished answer of a route
  app.use(decodablePath()); // a path that cannot be read is refused before it is matched
  app.use(dispatchToClusters(deps.clusters)); // the routes of the cluster that the request is about
  app.use(routeAnswer()); // what no route took: 405, 204 for OPTIONS, 404 below /api
  app.use(swaggerPage(findSwaggerFolder())); // its paths are no pages of the user interface
  app.use(userInterface(deps.uiFolder)); // the rest is the user interface's

  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error instanceof ApiError || clientLeft(error)) return;
    logger.error('An answer broke off', describe(error));
  });
  const answer = app.callback();
  return (request, response) => void answer(request, response); // it catches everything itself
}

/** A client that closed its connection, or sent what is no HTTP, is no fault of ours. */
function clientLeft(error: NodeJS.ErrnoException): boolean {
  const { code = '' } = error;
  return ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code) || code.startsWith('HPE_');
}

/**
 * Answers what no handler answered: 405 with the methods of a known path, 204 for its OPTIONS, and 404 in JSON for every
 * unknown path below /api. Other paths go on to the user interface.
 */
function routeAnswer(): ApiMiddleware {
  return async (ctx, next) => {
    const methods = matchedMethods(ctx);
    if (methods.length > 0) {
      const allowed = [...methods, 'OPTIONS'];
      if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allowed);
      ctx.status = 204;
      ctx.set('Allow', allowed.join(', '));
      return;
    }
    if (isApiPath(ctx.path)) throw noSuchRoute();
    await next();
  };
}

/** Takes no new requests once stopping, and lets go of the connections of those being answered. */
function refuseWhenStopping(isStopping: () => boolean): ApiMiddleware {
  return async (ctx, next) => {
    if (isStopping()) throw shuttingDown();
    await next();
    if (isStopping()) ctx.set('Connection', 'close');
  };
}
