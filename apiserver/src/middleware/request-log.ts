import { randomBytes } from 'node:crypto';
import { errorStatuses, type AuthMode } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { isUnsafe, routeOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import type { Authentication, Caller } from '../auth/authentication.ts';

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

/**
 * An answer as its caller may read it. The verdict of a failed run quotes a line of its log: it becomes null where the caller may not read
 * logs (`get pods/log`), whatever endpoint answers. An answer is shared by callers, so what differs is a copy.
 */
export async function withoutForeignLines(
  authentication: Pick<Authentication, 'may'>,
  caller: Caller,
  body: unknown,
): Promise<unknown> {
  const namespaces = new Set<string>();
  collect(body, '', namespaces);
  if (namespaces.size === 0 || (await authentication.may(caller, 'readLogs', {}))) return body;
  const places = [...namespaces].filter((namespace) => namespace !== '');
  const isReadable = await Promise.all(
    places.map((namespace) => authentication.may(caller, 'readLogs', { namespace })),
  );
  const readable = new Set(places.filter((_, index) => isReadable[index]));
  return readable.size === namespaces.size ? body : withheld(body, '', readable);
}

type Fields = Readonly<Record<string, unknown>>;

/** The field of a verdict. */
const line = 'logLine';
/** The field that quotes a line of a log, and the field that is derived from it. */
const ofLines: readonly string[] = [line, 'sharedCause'];

/** The namespaces of which a line of a log is quoted; empty text: one that the answer does not name. */
function collect(value: unknown, namespace: string, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(item, namespace, found);
    return;
  }
  const fields = value as Fields;
  const place = namespaceOf(fields) ?? namespace;
  if (typeof fields[line] === 'object' && fields[line] !== null) found.add(place);
  for (const key in fields) collect(fields[key], place, found);
}

function withheld(value: unknown, namespace: string, readable: ReadonlySet<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withheld(item, namespace, readable));
  const fields = value as Fields;
  const place = namespaceOf(fields) ?? namespace;
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      ofLines.includes(key) && !readable.has(place) ? null : withheld(field, place, readable),
    ]),
  );
}

/** Of a CronJob or a run, or of the CronJob that an alert or a target is about. */
function namespaceOf(fields: Fields): string | undefined {
  const { namespace, cronjob } = fields;
  if (typeof cronjob === 'object' && cronjob !== null) return namespaceOf(cronjob as Fields);
  return typeof namespace === 'string' ? namespace : undefined;
}
