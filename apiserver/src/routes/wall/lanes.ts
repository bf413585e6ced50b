import type { Overview } from '@cronjob-monitor/shared/contract';
import { cellsOf, floorTo, type Instant, type WallSpan } from '@cronjob-monitor/shared/domain';
import { countLaneRuns, countWallSlots, listActiveJobs, type CronJobOutline } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines, sortOutlines } from '../find-outlines.ts';
import { readLateAfterMs } from '../late-after.ts';
import { toCells } from './unfinished.ts';

/** Namespaces that have a lane. */
const mostLanes = 6;
const halfHourMs = 30 * 60_000;
const columns = 48;

type Lanes = Pick<Overview, 'lanesFrom' | 'lanes' | 'laneTotal'>;

/** The last 24 h of the namespaces with the worst CronJobs, each as one row of the wall; `within` are namespaces, none for all. */
export async function readLanes(
  deps: RouteDeps,
  { within, now }: { readonly within: readonly string[]; readonly now: Instant },
): Promise<Lanes> {
  const { defaultTimeZone } = deps.settings;
  const outlines = await findOutlines(deps, { namespaces: within });
  const worstFirst = sortOutlines(outlines, { key: 'status', descending: false }, { now, defaultTimeZone });
  const byNamespace = [...Map.groupBy(worstFirst, ({ namespace }) => namespace)];
  const until = floorTo(halfHourMs, now) + halfHourMs;
  const span = { from: until - columns * halfHourMs, until, stepMs: halfHourMs };
  const lateAfterMs = await readLateAfterMs(deps.store);
  const lanes: Lanes['lanes'][number][] = [];
  for (const [namespace, members] of byNamespace.slice(0, mostLanes))
    lanes.push({ namespace, cronJobs: members.length, cells: await readCells(deps, members, span, lateAfterMs) });
  return { lanesFrom: toWireInstant(span.from), lanes, laneTotal: byNamespace.length };
}

async function readCells(
  { store }: RouteDeps,
  members: readonly CronJobOutline[],
  span: WallSpan,
  lateAfterMs: number,
): Promise<Lanes['lanes'][number]['cells']> {
  const ids = members.map(({ id }) => id);
  const [runs, slots, active] = await Promise.all([
    countLaneRuns(store, ids, span, lateAfterMs),
    countWallSlots(store, ids, span),
    listActiveJobs(store, ids),
  ]);
  const { slots: expected, running } = toCells(active, [...slots.values()].flat());
  const unnamed = running.map(({ at }) => ({ at, jobName: undefined }));
  return cellsOf(span, { runs, slots: expected, running: unnamed, due: [], risk: undefined });
}
