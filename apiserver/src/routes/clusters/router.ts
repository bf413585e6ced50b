import { ClusterList, healthStates, type Cluster, type StateCounts } from '@cronjob-monitor/shared/contract';
import { findLiveLeader, findSelfDescription, listHeartbeats } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { askedNamespaces, callerOf } from '../../middleware/guard.ts';
import { namespaces } from '../../middleware/parameters.ts';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { route } from '../route.ts';
import { readStatsFor } from '../stats/router.ts';
import { askInTurn } from './ask.ts';
import type { ServedCluster } from '../deps.ts';

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
      const caller = callerOf(ctx);
      const all = deps.clusters.all();
      // What the caller may read at home says nothing of the others.
      const within = askedNamespaces(ctx);
      const reaches = await Promise.all(
        all.map(async (cluster) => (cluster.isHome ? undefined : cluster.reachOf(caller, 'read', []))),
      );
      const readable = all.flatMap((cluster, index) => {
        const reach = reaches[index];
        return reach ? { cluster, namespaces: reach.within(within) } : [];
      });
      const { home } = deps.clusters;
      const [own, asked] = await Promise.all([
        presentCluster(home, ctx, query.namespace),
        askInTurn(readable, { clock: deps.clock, silenceOf: ({ cluster }) => cluster.silence }, (one) =>
          presentCluster(one.cluster, ctx, one.namespaces),
        ),
      ]);
      const items = asked.map((one, index) => {
        if ('answer' in one) return one.answer;
        return presentUnread(readable[index]?.cluster as ServedCluster, one.problem);
      });
      return { items: [own, ...items] };
    },
  ),
];

async function presentCluster(cluster: ServedCluster, ctx: ApiContext, within: readonly string[]): Promise<Cluster> {
  const { name, schema, isHome: home, deps } = cluster;
  const [said, leader, [newest], { states, activeAlerts }, view, isTaken] = await Promise.all([
    findSelfDescription(deps.store),
    findLiveLeader(deps.store, deps.store.now(), deps.settings.leaseMs),
    listHeartbeats(deps.store),
    readStatsFor(deps, ctx, within),
    deps.databaseWatch.look(),
    deps.elsewhere?.isTaken() ?? false,
  ]);
  return {
    name,
    home,
    schema,
    actions: home || isTaken,
    uid: orNull(said.uid),
    schemaVersion: orNull(view.schema?.version),
    lastSeenAt: toWireInstantOrNull(newest?.beatAt),
    live: leader !== undefined,
    problem: null,
    states,
    activeAlerts,
  };
}

/** What is known of a cluster that was asked and has not answered. */
function presentUnread({ name, schema, deps }: ServedCluster, problem: string): Cluster {
  const schemaVersion = orNull(deps.databaseWatch.view().schema?.version);
  const nothing = { actions: false, uid: null, lastSeenAt: null, live: false, states: none, activeAlerts: 0 };
  return { name, home: false, schema, schemaVersion, problem, ...nothing };
}

const none = Object.fromEntries(healthStates.map((state) => [state, 0])) as StateCounts;
