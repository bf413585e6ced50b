import type { IncomingMessage } from 'node:http';
import type { Caller } from '../auth/authentication.ts';
import type { DatabaseWatch } from '../database-watch.ts';
import { internalError, noSuchRoute } from '../errors.ts';
import { createGuard } from '../middleware/guard.ts';
import { type AskedAnswer, type AskedCall, createApiRouter, type Route, type RouteDeps } from '../routes/index.ts';
import type { Bounds } from './route-deps.ts';
import { type ApiMiddleware, isUnsafe } from '../context.ts';
import { requestWithoutClient } from '../middleware/request-without-client.ts';

/** Answers a call that another cluster asks for. Throws what a caller of this service would be refused with. */
export type AnswerAsked = (asked: {
  readonly call: AskedCall;
  readonly caller: Caller;
  /** Of the action. */
  readonly id: string;
  /** Told what the audit line says of it, once that is known. */
  readonly told: (comment: string) => void;
}) => Promise<AskedAnswer>;

/** Answers by the routes, checks and limits of this service, and only operations that another cluster may ask for. */
export function createAnswerAsked(
  home: RouteDeps,
  {
    routes,
    ...deps
  }: Bounds & {
    readonly isReadOnly: boolean;
    readonly databaseWatch: DatabaseWatch;
    readonly routes: readonly Route[];
  },
): AnswerAsked {
  const callers = new WeakMap<IncomingMessage, Caller>();
  const authentication = {
    ...home.authentication,
    async authenticate(request: IncomingMessage): Promise<Caller> {
      const caller = callers.get(request);
      if (!caller) throw internalError(new Error('the request of another cluster has no caller'));
      return caller;
    },
  };
  const guard = createGuard({ ...deps, authentication });
  const answer = toAnswer(
    { ...home, guard, authentication },
    routes.filter(({ elsewhere }) => elsewhere),
  );
  return async ({ call, caller, id, told }) => {
    const { body } = call;
    const ctx = requestWithoutClient(call, { requestId: id, actionId: id, ...(body !== null && { bodyText: body }) });
    callers.set(ctx.req, caller);
    try {
      await answer(ctx, async () => {
        throw noSuchRoute();
      });
    } finally {
      if (ctx.state.comment !== undefined) told(ctx.state.comment);
    }
    const location = ctx.response.get('Location');
    return { status: ctx.status, body: ctx.body, ...(location && { location }) };
  };
}

/** Answers the paths of /api/v1 with what these routes are made of. A caller reads its own write. */
export function toAnswer(deps: RouteDeps, routes: readonly Route[]): ApiMiddleware {
  const forget = forgetAfterWrites(deps.answers, deps.fleet);
  const answer = createApiRouter(deps, routes).routes() as unknown as ApiMiddleware;
  return (ctx, next) => forget(ctx, () => answer(ctx, next));
}

/** Drops cached answers after a write, so that a caller reads its own write. */
function forgetAfterWrites(...kept: readonly { forget(): void }[]): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      if (isUnsafe(ctx.method)) for (const answers of kept) answers.forget();
    }
  };
}
