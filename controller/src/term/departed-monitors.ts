import { madeAnewWithinMs, type Instant } from '@cronjob-monitor/shared/domain';
import type { MonitorSpec } from '@cronjob-monitor/shared/kube';
import { listMonitorsSince, type Store } from '@cronjob-monitor/shared/store';
import type { MonitorSeen, Selection } from '../selection/index.ts';

/**
 * Monitors that went while another process led, or none: what they select is recorded for as long as they may be made anew,
 * across a restart as well. One whose deletion no leader saw may have gone a moment ago.
 */
export async function recallDepartedMonitors(
  deps: {
    readonly store: Store;
    readonly selection: Pick<Selection, 'monitorDeparted' | 'departedAt'>;
    readonly monitors: { values(): Iterable<MonitorSeen> };
  },
  now: Instant,
): Promise<void> {
  const { store, selection } = deps;
  const present = new Set([...deps.monitors.values()].map(keyOf));
  const since = now - madeAnewWithinMs;
  for (const row of await listMonitorsSince(store, since)) {
    const goneAt = row.deletedAt ?? now;
    const isKnown = selection.departedAt((gone) => keyOf(gone) === keyOf(row)) !== undefined;
    if (isKnown || present.has(keyOf(row)) || goneAt < since) continue;
    // The row holds the spec as its reconciler decoded it, with all defaults; without a field it could not be decoded, and selected nothing.
    if (Object.keys(row.spec as object).length === 0) continue;
    const decoded = { ok: true, spec: row.spec as MonitorSpec, problems: [], notes: [] } as const;
    const { uid, namespace, name, generation, createdAt } = row;
    const seen = { uid, namespace, name, generation, createdAt, decoded };
    selection.monitorDeparted({ ...seen, resourceVersion: '', selectorWrites: [], status: undefined }, goneAt);
  }
}

function keyOf({ namespace, name }: Pick<MonitorSeen, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
