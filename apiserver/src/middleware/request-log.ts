import { randomBytes } from 'node:crypto';
import { errorStatuses, type AuthMode } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { isUnsafe, routeOf, type ApiContext, type ApiMiddleware } from '../context.ts';

/** Characters of what a caller wrote that enter the log. */
const maxTextLength = 200;

/**
 * One line for each refused or failed request, one at debug for all others, and an audit line for each call that could change something,
 * refused ones too, before its answer is sent. Bodies, tokens and queries are never logged.
 */
export function requestLog(deps: {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly mode: AuthMode;
}): ApiMiddleware {
  return async (ctx, next) => {
    const startedMs = deps.clock.monotonicMs();
    const peer = ctx.req.socket.remoteAddress ?? null; // a closed socket forgets it
    await next();
    const durationMs = Math.round(deps.clock.monotonicMs() - startedMs);
    const { errorCode, requestId } = ctx.state;
    const facts = { requestId, method: ctx.method, route: routeOf(ctx), status: ctx.status, durationMs };
    if (errorCode === undefined) deps.logger.debug('Request answered', facts);
    else if (errorStatuses[errorCode] >= 500) deps.logger.warn('Request failed', { ...facts, code: errorCode });
    else deps.logger.info('Request refused', { ...facts, code: errorCode });
    if (isUnsafe(ctx.method) && !ctx.state.isHarmless) {
      deps.logger.audit('Unsafe call', { mode: deps.mode, peer, ...auditFields(ctx, durationMs) });
    }
  };
}

function auditFields(ctx: ApiContext, durationMs: number): Record<string, unknown> {
  const { caller, comment, errorCode, cluster } = ctx.state;
  return {
    requestId: ctx.state.requestId,
    user: caller?.user?.name ?? null,
    groups: caller?.user?.groups ?? [],
    action: `${ctx.method} ${routeOf(ctx)}`,
    ...(cluster === undefined ? {} : { cluster: toLogText(cluster) }),
    object: toLogText(ctx.path),
    outcome: errorCode === undefined ? 'done' : 'refused',
    status: ctx.status,
    code: errorCode ?? null,
    durationMs,
    ...(comment === undefined ? {} : { comment: toLogText(comment) }),
  };
}

/** Text from outside: bounded, and without anything that a terminal obeys. */
export function toLogText(text: string): string {
  const cut = text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return cut.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

const acceptable = /^[A-Za-z0-9._-]{1,64}$/;

/** Names each request: one sent by the client is kept when it is harmless, and every answer carries it. */
export function requestId(): ApiMiddleware {
  return async (ctx, next) => {
    const sent = ctx.get('X-Request-Id');
    ctx.state.requestId = acceptable.test(sent) ? sent : newRequestId();
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}

export function newRequestId(): string {
  return randomBytes(9).toString('base64url');
}
