import type { ApiContext } from '../../context.ts';
import { databaseUnavailable, internalError, invalidRequest } from '../../errors.ts';
import { askedNamespaces } from '../../middleware/guard.ts';
import { withoutForeignLines } from '../../middleware/withheld-lines.ts';
import type { RouteDeps, ServedCluster } from '../deps.ts';
import type { Route } from '../route.ts';
import { askInTurn } from './in-turn.ts';
import { ordersOfLists, type ListOrder } from './orders.ts';

/**
 * A list of several clusters is the lists of each, put together in the order that was asked for. Each is in that order already, by the
 * database, so that only their first rows are ever compared; counts are added.
 */

/** The list has the rows of all clusters where none is named. */
export function isMerged({ id }: Pick<Route, 'id'>): boolean {
  return ordersOfLists.has(id);
}

/** What an answer of a list is made of; besides these there are counts alone. */
interface ListAnswer {
  readonly items: readonly object[];
  readonly pagination?: { readonly total: number; readonly limit: number };
}

interface Asked {
  readonly cluster: ServedCluster;
  readonly query: Record<string, unknown>;
}

/** Answers with the rows of every cluster that the caller may read. What cannot be read now is named, and the rest is shown. */
export async function answerOfAll(route: Route, home: RouteDeps, ctx: ApiContext): Promise<void> {
  const order = ordersOfLists.get(route.id);
  const { caller, reach } = ctx.state;
  if (!order || !caller)
    throw internalError(new Error(`${route.path} is no list of several clusters, or has no caller`));
  const all = home.clusters.all();
  const { ability = 'read' } = route;
  const within = askedNamespaces(ctx);
  const reaches = await Promise.all(
    all.map(async (cluster) => (cluster.isHome ? reach : cluster.reachOf(caller, ability, within))),
  );
  const asked = all.flatMap((cluster, index) => {
    const readable = reaches[index];
    return cluster.isHome || readable ? ask(route, cluster, ctx, readable) : [];
  });
  const [first] = asked;
  if (first?.query['format'] !== undefined) throw exportOfOne(asked);
  const page = pageOf(first?.query ?? {}, order);
  if (page && page.offset + page.limit > mostRows) throw tooFar(asked);
  const whole = page && { offset: 0, limit: page.offset + page.limit };
  // As many rows from the first on as the page can have of this cluster alone.
  const respond = async ({ cluster: { deps, isHome }, query }: Asked): Promise<ListAnswer> => {
    const answer = await route.respond(deps, ctx, { ...query, ...whole });
    return (isHome ? answer : await withoutForeignLines(deps.authentication, caller, answer)) as ListAnswer;
  };
  // The own database answers as it does for a list of the own cluster alone, or fails as that.
  const own = asked.filter(({ cluster }) => cluster.isHome);
  const others = asked.filter(({ cluster }) => !cluster.isHome);
  const [ofOwn, ofOthers] = await Promise.all([
    Promise.all(own.map(async (one) => ({ answer: await respond(one) }))),
    askInTurn(others, { clock: home.clock, silenceOf: ({ cluster }) => cluster.silence }, respond),
  ]);
  const read: OfCluster[] = [];
  const missing: { readonly cluster: string; readonly problem: string }[] = [];
  for (const [index, one] of [...ofOwn, ...ofOthers].entries()) {
    const { name } = ([...own, ...others][index] as Asked).cluster;
    if ('answer' in one) read.push({ name, answer: one.answer });
    else missing.push({ cluster: name, problem: one.problem });
  }
  if (read.length === 0) throw databaseUnavailable(undefined);
  ctx.body = merged(read, { order: order.compare(first?.query ?? {}), page, missing });
}

/** Each cluster is asked for all rows up to the end of the page. */
const mostRows = 5_000;

function tooFar(asked: readonly Asked[]): Error {
  const message = `with limit is beyond row ${mostRows} of a list of several clusters: name one with cluster`;
  const allowed = asked.map(({ cluster }) => cluster.name).join(', ');
  return invalidRequest([{ in: 'query', field: 'offset', message, allowed }]);
}

function exportOfOne(asked: readonly Asked[]): Error {
  const allowed = asked.map(({ cluster }) => cluster.name).join(', ');
  return invalidRequest([
    { in: 'query', field: 'cluster', message: 'is needed with format: an export is of one', allowed },
  ]);
}

/** The query as this cluster has to be asked: cut to what the caller may read of it. */
function ask(route: Route, cluster: ServedCluster, ctx: ApiContext, reach: ApiContext['state']['reach']): Asked {
  if (reach) ctx.state.reach = reach;
  return { cluster, query: route.read(cluster.deps, ctx) };
}

interface PageAsked {
  readonly limit: number;
  readonly offset: number;
}

/** Undefined: everything is asked for. */
function pageOf(query: Record<string, unknown>, { defaultLimit }: ListOrder): PageAsked | undefined {
  const limit = (query['limit'] as number | undefined) ?? defaultLimit;
  return limit === undefined ? undefined : { limit, offset: (query['offset'] as number | undefined) ?? 0 };
}

interface OfCluster {
  readonly name: string;
  readonly answer: ListAnswer;
}

function merged(
  read: readonly OfCluster[],
  {
    order,
    page,
    missing,
  }: {
    readonly order: (a: object, b: object) => number;
    readonly page: PageAsked | undefined;
    readonly missing: readonly object[];
  },
): object {
  const total = read.reduce((sum, { answer: { pagination, items } }) => sum + (pagination?.total ?? items.length), 0);
  const rows = mergeSorted(
    read.map(({ name, answer }) => answer.items.map((item) => ({ cluster: name, ...item }))),
    order,
    page ? page.offset + page.limit : Infinity,
  );
  const counts = read.map(({ answer: { items: _items, pagination: _pagination, ...rest } }) => rest);
  return {
    ...(counts.reduce<unknown>((sum, one) => added(sum, one), undefined) as object),
    items: page ? rows.slice(page.offset) : rows,
    ...(page ? { pagination: { total, ...page, hasMore: page.offset + page.limit < total } } : {}),
    ...(missing.length === 0 ? {} : { missing }),
  };
}

/** Lists that are each in order, as one; of equal rows those of an earlier list come first. */
function mergeSorted<T>(lists: readonly (readonly T[])[], order: (a: T, b: T) => number, most: number): T[] {
  const at = lists.map(() => 0);
  const rows: T[] = [];
  while (rows.length < most) {
    let least: { readonly list: number; readonly row: T } | undefined;
    for (const [list, of] of lists.entries()) {
      const row = of[at[list] ?? 0];
      if (row !== undefined && (least === undefined || order(row, least.row) < 0)) least = { list, row };
    }
    if (!least) break;
    rows.push(least.row);
    at[least.list] = (at[least.list] ?? 0) + 1;
  }
  return rows;
}

/** Counts of two answers, added wherever they stand. */
function added(a: unknown, b: unknown): unknown {
  if (a === undefined) return b;
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return Object.fromEntries([...keys].map((key) => [key, added(left[key], right[key])]));
}
