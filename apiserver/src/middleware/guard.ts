import type { Ability } from '@cronjob-monitor/shared/contract';
import { bodyParser } from '@koa/bodyparser';
import type { Middleware } from 'koa';
import type { Authentication, Caller } from '../auth/authentication.ts';
import { isUnsafe, routeOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import type { DatabaseWatch } from '../database-watch.ts';
import {
  internalError,
  migrating,
  readOnly,
  invalidRequest,
  payloadTooLarge,
  unsupportedMediaType,
} from '../errors.ts';
import type { CostlyCalls, ExpensiveReads } from './costly.ts';
import { withoutForeignLines } from './request-log.ts';

/** The rights that one endpoint requires of its caller. */
export interface Endpoint {
  /** Absent: open in every mode, the caller is not even asked for. */
  readonly ability?: Ability;
  /** The path names no namespace and the object has one: the handler calls `permitIn` as soon as it knows it, before it tells or does anything. */
  readonly asksLater?: boolean;
  /** Counts against `api.costly-requests-per-minute`. */
  readonly costly?: boolean | ((ctx: ApiContext) => boolean);
  /** Reads so much that only some of its kind may run at once: in units, of which a whole list is one. */
  readonly expensive?: number | ((ctx: ApiContext) => number);
  /** Can be asked of the service of another cluster too; `inParts`: its handler does that. */
  readonly elsewhere?: true | 'inParts';
  /** Changes nothing although its method is unsafe: allowed while read-only, and no line of the audit log. */
  readonly harmless?: boolean;
}

/** Makes the checks that stand before the handler of an endpoint. */
export type Guard = (endpoint: Endpoint) => ApiMiddleware;

/**
 * The checks of one route, in the order of api.md section 2: read-only, size and type of the body, authentication,
 * permission, whether the schema can be served, rate. Host, cross-site, route and method come before it; parameters and existence are the handler's.
 */
export function createGuard(deps: {
  readonly isReadOnly: boolean;
  readonly authentication: Authentication;
  readonly costlyCalls: CostlyCalls;
  readonly expensiveReads: ExpensiveReads;
  readonly databaseWatch: DatabaseWatch;
}): Guard {
  return (endpoint) => async (ctx, next) => {
    ctx.state.isHarmless = endpoint.harmless === true;
    if (deps.isReadOnly && isUnsafe(ctx.method) && !endpoint.harmless) throw readOnly();
    if (isUnsafe(ctx.method)) await readBodyText(ctx);
    if (endpoint.ability === undefined) {
      await next();
      return;
    }

    const caller = await deps.authentication.authenticate(ctx.req);
    ctx.state.caller = caller;
    await askForPermission(deps.authentication, ctx, { ...endpoint, ability: endpoint.ability });

    if (deps.databaseWatch.view().storage === 'migrating') {
      // It may have been brought forward since that look, and readiness may say so already.
      const { storage, schema } = await deps.databaseWatch.look();
      if (storage === 'migrating' && schema) throw migrating(schema.version, schema.supported);
    }

    const units = unitsOf(endpoint.expensive, ctx);
    const leave = units > 0 ? deps.expensiveReads.enter(nameOf(caller), units) : undefined;
    const giveBack = takeCostly(deps.costlyCalls, endpoint, ctx, leave);
    try {
      await next();
      if (!wasAskedFor(ctx)) throw internalError(new Error(`${routeOf(ctx)} does not ask where its caller may look`));
      await withholdLines(deps.authentication, ctx, caller);
    } catch (error) {
      giveBack?.();
      leave?.();
      throw error;
    }
    if (!leave) return;
    if (isStream(ctx.body)) ctx.res.once('close', leave);
    else leave();
  };
}

/** A body that is set anew is another answer: where nothing is withheld it stays the one that others share. */
async function withholdLines(authentication: Authentication, ctx: ApiContext, caller: Caller): Promise<void> {
  const body: unknown = ctx.body;
  if (authentication.mode === 'none' || typeof body !== 'object' || isStream(body)) return;
  const shown = await withoutForeignLines(authentication, caller, body);
  if (shown !== body) ctx.body = shown;
}

/** The caller: authentication runs before an endpoint with an ability. */
export function callerOf({ state: { caller } }: ApiContext): Caller {
  if (!caller) throw internalError(new Error('the request has no caller'));
  return caller;
}

/** Where the caller has an ability, among the namespaces asked for, none meaning all. It reads the same: empty is everywhere. */
export async function namespacesOf(
  authentication: Authentication,
  ctx: ApiContext,
  ability: Ability,
  asked: readonly string[] = [],
): Promise<readonly string[]> {
  return (await authentication.reach(callerOf(ctx), ability, asked)).within(asked);
}

/** For an endpoint that asks later. Throws FORBIDDEN when the caller may not in this namespace, or everywhere without one. */
export async function permitIn(ctx: ApiContext, namespace: string | undefined): Promise<void> {
  const { permission } = ctx.state;
  if (!permission) throw internalError(new Error(`${routeOf(ctx)} has no permission to ask for`));
  await permission.ask(namespace);
}

/**
 * A path that names a namespace is asked about before anything is looked up, and so is what has no namespace. A list is cut to
 * what its caller may see, by `readQuery`.
 */
async function askForPermission(
  authentication: Authentication,
  ctx: ApiContext,
  { ability, asksLater = false }: Endpoint & { readonly ability: Ability },
): Promise<void> {
  const caller = callerOf(ctx);
  const path = routeOf(ctx);
  const { namespace } = ctx.params;
  if (asksLater) {
    const permission = {
      isAsked: false,
      ask: async (where: string | undefined) => {
        permission.isAsked = true;
        await authentication.permit(caller, ability, { namespace: where, path });
      },
    };
    ctx.state.permission = permission;
  } else if (namespace === undefined && !isUnsafe(ctx.method) && authentication.isNamespaced(ability)) {
    ctx.state.reach = await authentication.reach(caller, ability, askedNamespaces(ctx));
  } else {
    await authentication.permit(caller, ability, { namespace, path });
  }
}

/** A handler that forgot to ask must not be answered with what it found. */
function wasAskedFor({ state: { reach, permission, isNarrowed } }: ApiContext): boolean {
  if (permission) return permission.isAsked;
  return reach === undefined || reach.isWhole || isNarrowed === true;
}

/** Namespaces that the query names, read before it is validated: only these need a review. */
export function askedNamespaces(ctx: ApiContext): readonly string[] {
  return new URLSearchParams(ctx.querystring)
    .getAll('namespace')
    .flatMap((value) => value.split(','))
    .filter(Boolean);
}

function takeCostly(
  costlyCalls: CostlyCalls,
  { costly }: Endpoint,
  ctx: ApiContext,
  leave: (() => void) | undefined,
): (() => void) | undefined {
  const { caller } = ctx.state;
  if (!caller || !isIt(costly, ctx)) return undefined;
  try {
    return costlyCalls.take(nameOf(caller));
  } catch (error) {
    leave?.();
    throw error;
  }
}

function isIt(rule: Endpoint['costly'], ctx: ApiContext): boolean {
  return typeof rule === 'function' ? rule(ctx) : rule === true;
}

function unitsOf(rule: Endpoint['expensive'], ctx: ApiContext): number {
  return typeof rule === 'function' ? rule(ctx) : (rule ?? 0);
}

function isStream(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'pipe' in body;
}

function nameOf(caller: Caller): string {
  return caller.user ? `user ${caller.user.name}` : `peer ${caller.peer}`;
}

const maxBodyBytes = 1024 * 1024;

/** Reads a body as text, one character a byte: what is not UTF-8 is still to be told from what is. */
const readText = bodyParser({
  parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${maxBodyBytes}b`,
  encoding: 'latin1',
  onError: (error) => {
    if ('type' in error && error.type === 'entity.too.large') throw payloadTooLarge(maxBodyBytes);
    throw incomplete();
  },
}) as Middleware;

/**
 * Reads the body within its limit and accepts JSON alone. What it says is looked at later, when the caller is known; an
 * empty body needs no Content-Type.
 */
async function readBodyText(ctx: ApiContext): Promise<void> {
  if (ctx.request.length === 0 || ctx.is() === null) return;
  if (ctx.request.length > maxBodyBytes) throw payloadTooLarge(maxBodyBytes);
  if (!isPlainJson(ctx)) throw unsupportedMediaType();
  await readText(ctx, async () => {});
  const { rawBody } = ctx.request;
  if (rawBody === undefined) throw incomplete(); // The client left before a byte of it was read.
  if (rawBody !== '') ctx.state.bodyText = toText(Buffer.from(rawBody, 'latin1'));
}

/** The client went away in the middle: it reads no answer, and nothing has happened. */
function incomplete(): Error {
  return invalidRequest([{ in: 'body', field: '', message: 'ended before it was complete', allowed: null }]);
}

function isPlainJson(ctx: ApiContext): boolean {
  const encoding = ctx.get('Content-Encoding').toLowerCase() || 'identity';
  return encoding === 'identity' && ctx.is('application/json') !== false && /^(utf-?8)?$/i.test(ctx.request.charset);
}

function toText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest([{ in: 'body', field: '', message: 'is not UTF-8', allowed: null }]);
  }
}
