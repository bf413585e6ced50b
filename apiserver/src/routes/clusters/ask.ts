import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import type { Caller } from '../../auth/authentication.ts';

/** A request as the service of another cluster is to answer it. */
export interface AskedCall {
  /** Name of the operation. */
  readonly id: string;
  readonly method: string;
  /** As it was sent, with its escapes. */
  readonly path: string;
  readonly query: string;
  readonly body: string | null;
}

export interface AskedAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Path of what was made. */
  readonly location?: string;
}

/** Has the service of another cluster act. */
export interface Elsewhere {
  /** Whether one is there now that would. */
  isTaken(): Promise<boolean>;
  /**
   * Throws what that service refuses, and CLUSTER_SILENT, which says what is known, when none answers. `mostMs`: until the call is taken, 15 s
   * without it.
   */
  ask(call: AskedCall, caller: Caller, mostMs?: number): Promise<AskedAnswer>;
}

/** Has the service of the other cluster answer a request whose form has been checked; `query` and `body` in place of those of the request. */
export async function askElsewhere(
  elsewhere: Elsewhere,
  ctx: ApiContext,
  {
    id,
    query = ctx.querystring,
    body = ctx.state.bodyText,
  }: { readonly id: string; readonly query?: string; readonly body?: string | undefined },
): Promise<unknown> {
  const { caller, permission, cluster = '' } = ctx.state;
  if (!caller) throw internalError(new Error('the request has no caller'));
  // The service that answers asks for the right, of whatever it is about.
  if (permission) permission.isAsked = true;
  const { method, path } = ctx;
  const answer = await elsewhere.ask({ id, method, path, query, body: body ?? null }, caller);
  ctx.status = answer.status;
  if (answer.location) ctx.set('Location', `${answer.location}?cluster=${encodeURIComponent(cluster)}`);
  return answer.body;
}
