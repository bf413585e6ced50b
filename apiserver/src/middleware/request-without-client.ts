import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import type { ApiContext, ApiState } from '../context.ts';

const app = new Koa<ApiState>();

/** A request that no socket brought, for routes to answer: what they read of one is here, and what they set is never sent. */
export function requestWithoutClient(
  { method, path, query }: { readonly method: string; readonly path: string; readonly query: string },
  state: ApiState,
): ApiContext {
  const request = new IncomingMessage(new Socket());
  request.method = method;
  request.url = query === '' ? path : `${path}?${query}`;
  const ctx = app.createContext(request, new ServerResponse(request)) as unknown as ApiContext;
  ctx.state = state;
  return ctx;
}
