import type { MissingCluster, Problem } from '@cronjob-monitor/shared/contract';
import { hasName, type CatalogName } from '@cronjob-monitor/shared/store';
import { isApiPath, type ApiContext, type ApiMiddleware } from '../context.ts';
import { ambiguousCluster, ApiError, invalidRequest, notFoundWhereAsked } from '../errors.ts';
import { askInTurn, type Clusters, type ServedCluster } from '../routes/index.ts';
import { refText } from '@cronjob-monitor/shared/contract';

/**
 * Hands each request of the API to the cluster that it is about: the one that `cluster` names; else, for a path with the name of a CronJob or
 * a monitor, the only one that has it; else the own one, which answers some lists with the rows of all.
 */
export function dispatchToClusters(clusters: Clusters): ApiMiddleware {
  return async (ctx, next) => {
    if (!isApiPath(ctx.path)) return next();
    const asked = takeCluster(ctx);
    const { cluster, missing } =
      asked === undefined ? await theOneOf(clusters, ctx) : { cluster: await named(clusters, asked), missing: [] };
    if (!cluster.isHome || asked !== undefined) ctx.state.cluster = cluster.name;
    else ctx.state.isOfAllClusters = clusters.all().length > 1;
    if (missing.length > 0) ctx.set(missingHeader, missing.map((one) => encodeURIComponent(one.cluster)).join(', '));
    try {
      return await cluster.answer(ctx, next);
    } catch (error) {
      const isMissed = missing.length > 0 && error instanceof ApiError && error.code === 'NOT_FOUND';
      throw isMissed ? notFoundWhereAsked(error, missing) : error;
    }
  };
}

/** Names of clusters that may have what the path names as well, and could not be asked. */
const missingHeader = 'X-Missing-Clusters';

/** The parameter of every endpoint; the dispatcher reads it for them. */
function takeCluster(ctx: ApiContext): string | undefined {
  const pairs = ctx.querystring.split('&').filter(Boolean);
  const rest = pairs.filter((pair) => !/^cluster(=|$)/.test(pair));
  if (rest.length === pairs.length) return undefined;
  const given = new URLSearchParams(ctx.querystring).getAll('cluster').filter(Boolean);
  ctx.querystring = rest.join('&');
  if (given.length > 1) throw invalidRequest([problemOf('is given more than once', null)]);
  return given[0];
}

async function named(clusters: Clusters, name: string): Promise<ServedCluster> {
  const found = await clusters.find(name);
  if (found) return found;
  throw invalidRequest([
    problemOf(
      `${JSON.stringify(name.slice(0, 63))} is no cluster that is shown here`,
      clusters
        .all()
        .map((cluster) => cluster.name)
        .join(', '),
    ),
  ]);
}

function problemOf(message: string, allowed: string | null): Problem {
  return { in: 'query', field: 'cluster', message, allowed };
}

const namePath = /^\/api\/v1\/(cronjobs|monitors)\/([^/]+)\/([^/]+)(?:\/|$)/;

interface Found {
  readonly cluster: ServedCluster;
  readonly missing: readonly MissingCluster[];
}

/** The cluster that has what the path names. A caller hears only of clusters that it may read. */
async function theOneOf(clusters: Clusters, ctx: ApiContext): Promise<Found> {
  const { home } = clusters;
  const all = clusters.all();
  const name = all.length > 1 ? nameIn(ctx.path) : undefined;
  if (!name) return { cluster: home, missing: [] };
  const { clock, authentication } = home.deps;
  const has = await askInTurn(all, { clock, silenceOf: ({ silence }) => silence }, ({ deps }) =>
    hasName(deps.store, name),
  );
  // A cluster that cannot be asked is named as missing.
  const told = all.flatMap((cluster, index) => {
    const one = has[index];
    return one && (!('answer' in one) || one.answer) ? [{ cluster, one }] : [];
  });
  // What the own database does not tell is answered by its routes.
  if (told.every(({ cluster: { isHome } }) => isHome)) return { cluster: home, missing: [] };
  const caller = await authentication.authenticate(ctx.req);
  const ability = name.table === 'monitors' ? 'readMonitors' : 'read';
  const reaches = await Promise.all(told.map(({ cluster }) => cluster.reachOf(caller, ability, [name.namespace])));
  const readable = told.filter((_, index) => reaches[index]?.includes(name.namespace));
  const having = readable.flatMap(({ cluster, one }) => ('answer' in one ? cluster : []));
  if (having.length > 1) {
    throw ambiguousCluster(
      refText(name),
      having.map((cluster) => cluster.name),
    );
  }
  const missing = readable.flatMap(({ cluster, one }) =>
    'answer' in one || cluster.isHome ? [] : { cluster: cluster.name, problem: one.problem },
  );
  return { cluster: having[0] ?? home, missing };
}

function nameIn(path: string): CatalogName | undefined {
  const [, kind, namespace = '', name = ''] = namePath.exec(path) ?? [];
  if (kind === undefined) return undefined;
  try {
    const table = kind === 'monitors' ? 'monitors' : 'cronjobs';
    return { table, namespace: decodeURIComponent(namespace), name: decodeURIComponent(name) };
  } catch {
    return undefined; // the route refuses what cannot be decoded
  }
}
