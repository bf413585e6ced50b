import type Koa from 'koa';
import type { ErrorCode } from '@cronjob-monitor/shared/contract';
import type { Caller, Reach } from './auth/authentication.ts';

/** An answer as it is sent. */
export interface Rendered {
  readonly text: string;
  readonly etag: string;
  /** Requests that it was sent to so far, this one included. */
  uses: number;
  /** By encoding. */
  readonly packed: Map<string, Promise<Buffer>>;
}

/** What the middleware knows of a request besides the request itself. */
export interface ApiState {
  requestId: string;
  /** Name of the cluster that is asked about, where it was named or is not the own one. */
  cluster?: string;
  /** Several clusters are shown and none was named: a list has the rows of all. */
  isOfAllClusters?: boolean;
  /** The caller: authentication sets it; absent before. */
  caller?: Caller;
  /** Where the caller may look, for a list; set by the guard. */
  reach?: Reach;
  /** The list has been cut to `reach`. */
  isNarrowed?: boolean;
  /** For a handler that learns the namespace from the object; set by the guard. */
  permission?: { isAsked: boolean; ask(namespace: string | undefined): Promise<void> };
  /** The endpoint changes nothing, whatever its method says; set by the guard. */
  isHarmless?: boolean;
  /** Set by the error boundary. */
  errorCode?: ErrorCode;
  /** The answer must not be kept anywhere: no ETag, `no-store`. */
  noStore?: boolean;
  /** Text of the request body, within the limit; absent for a request without a body. */
  bodyText?: string;
  /** The answer as text; packed once for all who share it. */
  rendered?: Rendered;
  /** Set by the user interface: its files have no pattern. */
  isUi?: boolean;
  /** Id of the action by which another cluster asks: what is made bears it, so that the same action makes it once. */
  actionId?: string;
  /** Audit line: what the caller wrote about it. */
  comment?: string;
}

export type ApiContext = Koa.ParameterizedContext<ApiState, { params: Record<string, string> }>;
export type ApiMiddleware = (ctx: ApiContext, next: Koa.Next) => Promise<void>;

/** Methods that change nothing, ever. All others are unsafe. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

export function isUnsafe(method: string): boolean {
  return !safeMethods.has(method);
}

/** Below `/api/` everything is JSON, also what does not exist. */
export function isApiPath(path: string): boolean {
  return path === '/api' || path.startsWith('/api/');
}

/** One path of a router that matched, as @koa/router keeps it. */
interface MatchedLayer {
  readonly path: string;
  readonly methods: readonly string[];
}

/** The methods of the path that matched; empty when no route has it. */
export function matchedMethods(ctx: ApiContext): readonly string[] {
  return [...new Set(matchedLayers(ctx).flatMap((layer) => layer.methods))].sort();
}

/** The path pattern that matched, as api.md writes it; `ui` for files and pages, `unknown` for no route. */
export function routeOf(ctx: ApiContext): string {
  if (ctx.state.isUi) return 'ui';
  const [layer] = matchedLayers(ctx);
  return layer ? inBraces(layer.path) : 'unknown';
}

/** A path of a router as api.md writes it: `/alerts/{id}` of `/alerts/:id`. */
export function inBraces(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function matchedLayers(ctx: ApiContext): readonly MatchedLayer[] {
  const { matched = [] } = ctx as unknown as { matched?: readonly MatchedLayer[] };
  return matched.filter((layer) => layer.methods.length > 0);
}
