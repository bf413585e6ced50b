import { ClusterList, healthStates, type Cluster, type StateCounts } from '@cronjob-monitor/shared/contract';
import { findLiveLeader, findSelfDescription, listHeartbeats } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { namespaces } from '../../middleware/parameters.ts';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import { route } from '../route.ts';
import { readStatsFor } from '../stats/router.ts';
import { askInTurn } from './in-turn.ts';
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
      const within = new URLSearchParams(ctx.querystring).getAll('namespace').flatMap((text) => text.split(','));
      const [home, ...rest] = [deps.clusters.home, ...readable.filter(({ isHome }) => !isHome)];
      const [own, asked] = await Promise.all([
        presentCluster(home, ctx, query.namespace),
        askInTurn(rest, { clock: deps.clock, silenceOf: ({ silence }) => silence }, (one) =>
          presentCluster(one, ctx, within.filter(Boolean)),
        ),
      ]);
      const items = asked.map((one, index) => {
        if ('answer' in one) return one.answer;
        return presentUnread(rest[index] as ServedCluster, one.problem);
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
