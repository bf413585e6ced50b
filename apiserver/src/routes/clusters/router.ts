import { ClusterList, healthStates, type Cluster, type StateCounts } from '@cronjob-monitor/shared/contract';
import { findLiveLeader, findSelfDescription, listHeartbeats, StoreError } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { namespaces } from '../../middleware/parameters.ts';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { route } from '../route.ts';
import { readStatsFor } from '../stats/router.ts';
import type { ServedCluster } from './served.ts';

/** GET /clusters: what this service shows besides its own cluster, and how old that is. */
export const clustersRoutes = [
  route(
    {
      method: 'GET',
      path: '/clusters',
      tag: 'Overview',
      id: 'listClusters',
      says: 'The clusters whose history this service shows',
      ability: 'read',
      query: { namespace: namespaces },
      answer: ClusterList,
    },
    async ({ deps, ctx, query }) => {
      const { caller } = ctx.state;
      if (!caller) throw internalError(new Error('the request has no caller'));
      const all = deps.clusters.all();
      const isReadable = await Promise.all(all.map((cluster) => cluster.mayBeReadBy(caller)));
      const readable = all.filter((_, index) => isReadable[index]);
      // What the caller may read at home says nothing of the others, which may be read as a whole.
      const asked = new URLSearchParams(ctx.querystring).getAll('namespace').flatMap((text) => text.split(','));
      const others = asked.filter(Boolean);
      const items = readable.map((one) => presentCluster(one, ctx, one.isHome ? query.namespace : others));
      return { items: await Promise.all(items) };
    },
  ),
];

async function presentCluster(cluster: ServedCluster, ctx: ApiContext, within: readonly string[]): Promise<Cluster> {
  const { name, schema, isHome: home, deps } = cluster;
  const actions = home || ((await deps.elsewhere?.isTaken()) ?? false);
  const known = { name, home, schema, actions };
  const schemaVersion = orNull((await deps.databaseWatch.look()).schema?.version);
  try {
    const [said, leader, [newest], stats] = await Promise.all([
      findSelfDescription(deps.store),
      findLiveLeader(deps.store, deps.store.now(), deps.settings.leaseMs),
      listHeartbeats(deps.store),
      readStatsFor(deps, ctx, within),
    ]);
    const { states, activeAlerts } = stats;
    const lastSeenAt = toWireInstantOrNull(newest?.beatAt);
    const live = leader !== undefined;
    return { ...known, uid: orNull(said.uid), schemaVersion, lastSeenAt, live, problem: null, states, activeAlerts };
  } catch (error) {
    if (!(error instanceof StoreError) || home) throw error;
    const problem = error.code === 'schema' ? otherSchema : unreadable;
    const nothing = { uid: null, lastSeenAt: null, live: false, states: none, activeAlerts: 0 };
    return { ...known, ...nothing, schemaVersion, problem };
  }
}

const otherSchema = 'its schema is not one that this version reads: bring both to the same version';
const unreadable = 'its rows cannot be read now';
const none = Object.fromEntries(healthStates.map((state) => [state, 0])) as StateCounts;
