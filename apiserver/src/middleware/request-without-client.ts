import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import type { ApiContext, ApiState } from '../context.ts';

const app = new Koa<ApiState>();

/** A request without a socket, for routes to answer: it has the fields that routes read, and headers that routes set are never sent. */
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
