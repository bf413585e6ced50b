import type { Problem } from '@cronjob-monitor/shared/contract';
import { hasName, type CatalogName } from '@cronjob-monitor/shared/store';
import { isApiPath, type ApiContext, type ApiMiddleware } from '../context.ts';
import { ambiguousCluster, invalidRequest } from '../errors.ts';
import { askInTurn, type Clusters, type ServedCluster } from '../routes/index.ts';

/**
 * Hands each request of the API to the cluster that it is about: the one that `cluster` names; else, for a path with the name of a CronJob or
 * a monitor, the only one that has it; else the own one, which answers some lists with the rows of all.
 */
export function dispatchToClusters(clusters: Clusters): ApiMiddleware {
  return async (ctx, next) => {
    if (!isApiPath(ctx.path)) return next();
    const asked = takeCluster(ctx);
    const cluster = asked === undefined ? await theOneOf(clusters, ctx) : await named(clusters, asked);
    if (!cluster.isHome || asked !== undefined) ctx.state.cluster = cluster.name;
    else ctx.state.isOfAllClusters = clusters.all().length > 1;
    return cluster.answer(ctx, next);
  };
}

/** Every endpoint has this parameter, so none of them reads it. */
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

/** The cluster that has what the path names. A caller hears only of clusters that it may read. */
async function theOneOf(clusters: Clusters, ctx: ApiContext): Promise<ServedCluster> {
  const all = clusters.all();
  const name = all.length > 1 ? nameIn(ctx.path) : undefined;
  if (!name) return clusters.home;
  const has = await askInTurn(all, clusters.home.deps.clock, ({ deps }) => hasName(deps.store, name));
  // One that cannot be asked is not guessed at.
  const having = all.filter((_, index) => {
    const one = has[index];
    return one && 'answer' in one && one.answer;
  });
  if (having.every(({ isHome }) => isHome)) return clusters.home;
  const caller = await clusters.home.deps.authentication.authenticate(ctx.req);
  const isReadable = await Promise.all(having.map((cluster) => cluster.mayBeReadBy(caller)));
  const readable = having.filter((_, index) => isReadable[index]);
  const [only = clusters.home, ...more] = readable;
  if (more.length === 0) return only;
  throw ambiguousCluster(
    `${name.namespace}/${name.name}`,
    readable.map((cluster) => cluster.name),
  );
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
