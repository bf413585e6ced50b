import type { Shape } from '@cronjob-monitor/shared/contract/shape';
import type { Problem } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { isUnsafe, type ApiContext } from '../context.ts';
import type { Endpoint } from '../middleware/guard.ts';
import { createBodyReader, readNoBody, readQuery, type QueryShape, type Values } from '../middleware/validate.ts';
import { askElsewhere } from './clusters/ask.ts';
import type { RouteDeps } from './deps.ts';

/** Part of the API that an operation belongs to: a heading of the page /swagger/. */
type Tag =
  | 'Overview'
  | 'Monitors'
  | 'CronJobs'
  | 'Coverage'
  | 'Runs'
  | 'Time'
  | 'Alerts'
  | 'Silences'
  | 'Channels'
  | 'Administration';

/** What an operation of the API says of itself: the guard asks by it, the query and the body are read by it, OpenAPI is written from it. */
interface RouteSpec<Query extends QueryShape, Body, Answer> extends Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /api/v1: `/alerts/:id`. */
  readonly path: string;
  readonly tag: Tag;
  /** Name of the operation in the document. */
  readonly id: string;
  /** One line of the document. */
  readonly says: string;
  /** Parameters by their names; without it the operation takes none. */
  readonly query?: Query;
  /** What parameters say of one another: each rule gives its problems, none if all is well. */
  readonly rules?: readonly ((values: Values<Query>, now: Instant) => readonly Problem[])[];
  /** What a caller sends; without it a body has to be empty. */
  readonly body?: Shape<Body>;
  /** No body is an empty object. */
  readonly optionalBody?: boolean;
  /** The body of an answer; without it, it is no JSON. */
  readonly answer?: Shape<Answer>;
  /** Statuses of answers that have it, 200 alone unless others are named. */
  readonly statuses?: readonly number[];
  /** Types of answers that are no JSON: `text/plain`. */
  readonly also?: readonly string[];
  /** All rows are to be had as a file, with `format`. */
  readonly exports?: boolean;
  /** Refusals besides those that follow from the rest. */
  readonly refusals?: readonly number[];
  /** Answers are not to be kept by anyone. */
  readonly noStore?: boolean;
}

/** A request whose query and body have been read. */
interface Call<Query extends QueryShape, Body> {
  readonly deps: RouteDeps;
  readonly ctx: ApiContext;
  readonly query: Values<Query>;
  readonly body: Body;
}

export interface Route extends RouteSpec<QueryShape, unknown, unknown> {
  readonly handle: (deps: RouteDeps, ctx: ApiContext) => Promise<void>;
  /** The query as read, to be answered by `respond`; with other values of paging, as lists of several clusters need it. */
  readonly read: (deps: RouteDeps, ctx: ApiContext) => Values<QueryShape>;
  readonly respond: (deps: RouteDeps, ctx: ApiContext, query: Values<QueryShape>) => Promise<unknown>;
}

const noQuery = {};

/**
 * One operation as a value. `handler` returns the answer; what is no JSON it writes into the context itself, and returns nothing. Query
 * and body are read in this order before it runs, and refused with all that is wrong with one of them.
 */
export function route<Answer, Query extends QueryShape = typeof noQuery, Body = undefined>(
  spec: RouteSpec<Query, Body, Answer>,
  handler: (call: Call<Query, Body>) => Promise<Answer | void>,
): Route {
  const { query = noQuery as Query, rules = [], body } = spec;
  const readBody = body && createBodyReader(body);
  const read = (deps: RouteDeps, ctx: ApiContext): Values<Query> =>
    readQuery(ctx, query, ...rules.map((rule) => (values: Values<Query>) => rule(values, deps.store.now())));
  const handle = async (deps: RouteDeps, ctx: ApiContext): Promise<void> => {
    const asked = read(deps, ctx);
    if (!readBody && isUnsafe(ctx.method)) readNoBody(ctx);
    const call = { deps, ctx, query: asked, body: readBody?.(ctx) as Body };
    if (spec.noStore) ctx.state.noStore = true;
    const isAsked = deps.elsewhere && spec.elsewhere === true;
    const answer = isAsked ? await askElsewhere(deps.elsewhere, ctx, { id: spec.id }) : await handler(call);
    if (answer !== undefined) ctx.body = answer;
  };
  // Its rules are asked, and it is answered, with the values of its own query alone.
  const own = spec as unknown as RouteSpec<QueryShape, unknown, unknown>;
  const respond: Route['respond'] = (deps, ctx, asked) =>
    handler({ deps, ctx, query: asked as Values<Query>, body: undefined as Body });
  return { ...own, handle, read, respond };
}
