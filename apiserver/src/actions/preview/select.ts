import { effectiveOf, type Effective, type OwnSettings } from '@cronjob-monitor/shared/domain';
import { selectsCronJob, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import {
  listCronJobs,
  listKeptGroups,
  listMonitors,
  listMonitorsOf,
  type CatalogCronJob,
  type Store,
} from '@cronjob-monitor/shared/store';
import { isFallback } from '../../monitor-spec.ts';
import { readOwn } from '../own-settings.ts';
import type { PreviewSource, PreviewWish } from './wish.ts';

type SelectWish = Pick<PreviewWish, 'namespace' | 'name' | 'readable'>;

/** The CronJobs that a spec selects, with their own settings; `unknownLabels`: the spec selects by labels, which only the cluster knows. */
export async function select(
  deps: PreviewSource,
  wish: SelectWish,
  spec: MonitorSpec,
): Promise<Awaited<ReturnType<typeof leaveOut>> & { readonly unknownLabels: boolean }> {
  const { cronJobs, unknownLabels } = await listMatched(deps.store, wish, spec);
  const matched = [...cronJobs, ...(await listMatchedGroups(deps.store, wish, spec))];
  const monitor = { namespace: wish.namespace, name: wish.name ?? '', spec };
  return { ...(await leaveOut(deps, matched, monitor)), unknownLabels };
}

/** The CronJobs' own settings, and the CronJobs that the monitor watches: owners may opt out. */
async function leaveOut(
  deps: PreviewSource,
  matched: readonly CatalogCronJob[],
  monitor: { readonly namespace: string; readonly name: string; readonly spec: MonitorSpec },
): Promise<{
  readonly taken: readonly CatalogCronJob[];
  readonly owns: ReadonlyMap<number, OwnSettings>;
  readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
}> {
  const owns = await readOwn(
    deps,
    matched.map(({ id }) => id),
  );
  const settingsOf = (own: OwnSettings): Effective<MonitorSpec> => effectiveOf(monitor, own, deps.settings.ownerLabel);
  const taken = matched.filter(({ id }) => {
    const own = owns.get(id);
    return own === undefined || !settingsOf(own).isIgnored;
  });
  return { taken, owns, settingsOf };
}

/**
 * The CronJobs that the service knows and the selector takes. Their labels are in the cluster alone: where it asks for labels, those that
 * the monitor of this name selects now are taken.
 */
async function listMatched(
  store: Store,
  { namespace, name, readable }: SelectWish,
  { selector, jobs }: MonitorSpec,
): Promise<{ readonly cronJobs: readonly CatalogCronJob[]; readonly unknownLabels: boolean }> {
  if (selector?.unusable || jobs?.only) return { cronJobs: [], unknownLabels: false };
  const asksLabels =
    Object.keys(selector?.matchLabels ?? {}).length > 0 ||
    (selector?.matchExpressions.length ?? 0) > 0 ||
    selector?.namespaceSelector !== undefined;
  if (asksLabels && name === undefined) return { cronJobs: [], unknownLabels: true };
  const named = selector?.namespaces ?? [];
  const wanted = selector?.allNamespaces || asksLabels ? [] : named.length > 0 ? named : [namespace];
  const namespaces = readable.length === 0 ? wanted : within(wanted, readable);
  if (namespaces === undefined) return { cronJobs: [], unknownLabels: asksLabels };
  const monitor = asksLabels && name !== undefined ? { namespace, name } : undefined;
  const known = await listCronJobs(store, { kinds: ['CronJob'], namespaces, monitor });
  const names = selector?.matchNames ?? [];
  const cronJobs = names.length === 0 ? known : known.filter((cronJob) => names.includes(cronJob.name));
  const left = selector?.fallback ? await leftToFallback(store, cronJobs, { namespace, name }) : cronJobs;
  return { cronJobs: left, unknownLabels: asksLabels };
}

/** The groups of Jobs that the service knows and that these criteria take: those that some monitor watches. */
async function listMatchedGroups(
  store: Store,
  { namespace, name, readable }: SelectWish,
  { selector, jobs }: MonitorSpec,
): Promise<readonly CatalogCronJob[]> {
  if (!jobs || selector?.unusable) return [];
  // Labels of namespaces are in the cluster alone.
  const byLabel = selector?.namespaceSelector !== undefined;
  if (byLabel && name === undefined) return [];
  const named = selector?.namespaces ?? [];
  const wanted = selector?.allNamespaces || byLabel ? [] : named.length > 0 ? named : [namespace];
  const namespaces = readable.length === 0 ? wanted : within(wanted, readable);
  if (namespaces === undefined) return [];
  const monitor = byLabel && name !== undefined ? { namespace, name } : undefined;
  const facts = new Map((await listKeptGroups(store)).map((group) => [group.facts.uid, group.facts]));
  const known = await listCronJobs(store, { kinds: ['Jobs'], namespaces, monitor });
  const taken = known.filter(({ uid, namespace: of }) => {
    const group = facts.get(uid);
    return group !== undefined && selectsCronJob({ jobs }, new Set([of]), group);
  });
  return selector?.fallback ? leftToFallback(store, taken, { namespace, name }) : taken;
}

/** CronJobs that no other monitor without `fallback` selects now. */
async function leftToFallback(
  store: Store,
  cronJobs: readonly CatalogCronJob[],
  own: Pick<SelectWish, 'namespace' | 'name'>,
): Promise<readonly CatalogCronJob[]> {
  const others = (await listMonitors(store)).filter(
    ({ namespace, name, spec }) => (namespace !== own.namespace || name !== own.name) && !isFallback(spec),
  );
  const keeping = new Set(others.map(({ id }) => id));
  const targets = await listMonitorsOf(
    store,
    cronJobs.map(({ id }) => id),
  );
  const kept = new Set(targets.filter(({ monitorId }) => keeping.has(monitorId)).map(({ cronJobId }) => cronJobId));
  return cronJobs.filter(({ id }) => !kept.has(id));
}

/** The wanted namespaces that the caller may read; undefined: no namespace; empty: all. */
function within(wanted: readonly string[], readable: readonly string[]): readonly string[] | undefined {
  if (wanted.length === 0) return readable;
  const both = wanted.filter((namespace) => readable.includes(namespace));
  return both.length === 0 ? undefined : both;
}
