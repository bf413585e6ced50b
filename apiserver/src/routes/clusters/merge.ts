import { type MissingCluster, refText } from '@cronjob-monitor/shared/contract';
import type { ApiContext } from '../../context.ts';
import { databaseUnavailable, internalError, invalidRequest } from '../../errors.ts';
import { askedNamespaces } from '../../middleware/guard.ts';
import { withoutForeignLines } from '../../middleware/request-log.ts';
import { findEndedAlerts, findOpenAlerts } from '../alerts/router.ts';
import { presentAlerts } from '../alerts/present.ts';
import { findCronJobs, presentFound } from '../cronjobs/list.ts';
import type { RouteDeps, ServedCluster } from '../deps.ts';
import { findIncidentPage, presentIncidents } from '../incidents/read.ts';
import type { Route } from '../route.ts';
import { askInTurn } from './ask.ts';
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
  const parts = listsInParts.get(route.id);
  // As many rows from the first on as the page can have of this cluster alone.
  const respond = async ({ cluster: { deps }, query }: Asked): Promise<ListAnswer> => {
    const asked = { ...query, ...whole };
    if (!parts) return (await route.respond(deps, ctx, asked)) as ListAnswer;
    return deps.answers.read(['found', route.id, asked], async () => {
      const { found: items, ...counts } = await parts.find(deps, asked);
      return { items, ...counts };
    });
  };
  const cut = async <T extends object>({ deps, isHome }: ServedCluster, answer: T): Promise<T> =>
    isHome ? answer : ((await withoutForeignLines(deps.authentication, caller, answer)) as T);
  const missing: MissingCluster[] = [];
  const read = (
    await askAll(asked, home, missing, async (one) => {
      const answer = await respond(one);
      return parts ? answer : cut(one.cluster, answer);
    })
  ).map(({ of, answer }): OfCluster => ({ ...of, answer }));
  if (read.length === 0) throw databaseUnavailable(undefined);
  const { rows, ...answer } = merged(read, { order: order.compare(first?.query ?? {}), page });
  const items = parts
    ? await presentRows(rows, parts.keyOf, home, missing, async ({ cluster, query }, found) => {
        const items = await parts.present(cluster.deps, found, query);
        return (await cut(cluster, { items })).items;
      })
    : rows.map(({ of, row }) => ({ cluster: of.cluster.name, ...row }));
  ctx.body = { ...answer, items, ...(missing.length === 0 ? {} : { missing }) };
}

/** Answers of those that gave one, the own cluster first; the others are added to `missing`. */
async function askAll<Of extends Pick<Asked, 'cluster'>, Answer>(
  asked: readonly Of[],
  home: RouteDeps,
  missing: MissingCluster[],
  ask: (one: Of) => Promise<Answer>,
): Promise<{ readonly of: Of; readonly answer: Answer }[]> {
  // The own database answers as it does for a list of the own cluster alone, or fails as that.
  const own = asked.filter(({ cluster }) => cluster.isHome);
  const others = asked.filter(({ cluster }) => !cluster.isHome);
  const [ofOwn, ofOthers] = await Promise.all([
    Promise.all(own.map(async (of) => ({ of, answer: await ask(of) }))),
    askInTurn(others, { clock: home.clock, silenceOf: ({ cluster }) => cluster.silence }, ask),
  ]);
  const answers = others.flatMap((of, index) => {
    const one = ofOthers[index];
    if (one && 'answer' in one) return { of, answer: one.answer };
    if (one) missing.push({ cluster: of.cluster.name, problem: one.problem });
    return [];
  });
  return [...ofOwn, ...answers];
}

/** The rows of the page in full, asked of the clusters that have one there. */
async function presentRows(
  rows: readonly MergedRow[],
  keyOf: ListInParts['keyOf'],
  home: RouteDeps,
  missing: MissingCluster[],
  present: (of: Asked, found: readonly object[]) => Promise<readonly object[]>,
): Promise<object[]> {
  const ofClusters = [...Map.groupBy(rows, ({ of }) => of)].map(([of, found]) => ({ ...of, of, found }));
  const answers = await askAll(ofClusters, home, missing, ({ of, found }) =>
    present(
      of,
      found.map(({ row }) => row),
    ),
  );
  // What went away meanwhile has no row in full any more.
  const inFull = new Map(
    answers.map(({ of: { of }, answer }) => [of, new Map(answer.map((item) => [keyOf(item), item]))]),
  );
  return rows.flatMap(({ of, row }) => {
    const item = inFull.get(of)?.get(keyOf(row));
    return item ? { cluster: of.cluster.name, ...item } : [];
  });
}

/** A list of which only the rows of the page are read in full, once all clusters have said what they have. */
interface ListInParts {
  find(deps: RouteDeps, query: object): Promise<{ readonly found: readonly object[] }>;
  present(deps: RouteDeps, found: readonly object[], query: object): Promise<readonly object[]>;
  /** Tells rows of one cluster apart; the same for what was found and for what it is in full. */
  readonly keyOf: (row: object) => string;
}

const listsInParts: ReadonlyMap<string, ListInParts> = new Map([
  ['listCronJobs', inParts(findCronJobs, presentFound, refText)],
  ['listAlerts', inParts(findOpenAlerts, presentAlerts, ({ id }) => id)],
  ['listAlertHistory', inParts(findEndedAlerts, presentAlerts, ({ id }) => id)],
  [
    'listIncidents',
    inParts(findIncidentPage, presentIncidents, (row) => refText('ref' in row ? row.ref : row.cronjob)),
  ],
]);

/** A route has checked its query, and rows come back as they were given: the types of each list are known here alone. */
function inParts<Query extends object, Found extends object, Item extends object>(
  find: (deps: RouteDeps, query: Query) => Promise<{ readonly found: readonly Found[] }>,
  present: (deps: RouteDeps, found: readonly Found[], query: Query) => Promise<readonly Item[]>,
  keyOf: (row: Found | Item) => string,
): ListInParts {
  return {
    find: (deps, query) => find(deps, query as Query),
    present: (deps, found, query) => present(deps, found as readonly Found[], query as Query),
    keyOf: (row) => keyOf(row as Found | Item),
  };
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

interface OfCluster extends Asked {
  readonly answer: ListAnswer;
}

interface MergedRow {
  readonly of: OfCluster;
  readonly row: object;
}

function merged(
  read: readonly OfCluster[],
  { order, page }: { readonly order: (a: object, b: object) => number; readonly page: PageAsked | undefined },
): { readonly rows: readonly MergedRow[] } {
  const total = read.reduce((sum, { answer: { pagination, items } }) => sum + (pagination?.total ?? items.length), 0);
  const rows = mergeSorted(
    read.map((of) => of.answer.items.map((row) => ({ of, row }))),
    (a, b) => order(a.row, b.row),
    page ? page.offset + page.limit : Infinity,
  );
  const counts = read.map(({ answer: { items: _items, pagination: _pagination, ...rest } }) => rest);
  return {
    ...(counts.reduce<unknown>((sum, one) => added(sum, one), undefined) as object),
    rows: page ? rows.slice(page.offset) : rows,
    ...(page ? { pagination: { total, ...page, hasMore: page.offset + page.limit < total } } : {}),
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
