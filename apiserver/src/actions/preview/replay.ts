import { setImmediate as nextTurn } from 'node:timers/promises';
import { undoneWorkTypes, refText } from '@cronjob-monitor/shared/contract';
import {
  ancestorsOf,
  effectiveOf,
  isGroupName,
  parentsOf,
  parseResourceDuration,
  type Effective,
  type Instant,
  type LintFacts,
  type OwnSettings,
  type SpecEpoch,
  dayMs,
} from '@cronjob-monitor/shared/domain';
import {
  previewCronJob,
  previewGroup,
  truthOf,
  type PreviewedAlert,
  type PreviewedCronJob,
  type PreviewedParent,
  type PreviewRange,
} from '@cronjob-monitor/shared/domain/preview';
import { alertRulesOf, detectionRulesOf, groupRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import {
  findStartSkew,
  listAlerts,
  listCronJobs,
  listDependencies,
  listRoutedChannels,
  listSpecEpochs,
  readHistories,
  type CatalogCronJob,
  type RoutedChannel,
  type Store,
  type StoredAlert,
  type StoredHistory,
} from '@cronjob-monitor/shared/store';
import { select } from './select.ts';
import type { PreviewSource, PreviewWish } from './wish.ts';

const mostCronJobs = 200;
const mostRows = 200_000;
const longestHistoryDays = 400;

/** The stored history of the CronJobs that a spec selects. */
export interface Gathered {
  readonly taken: readonly CatalogCronJob[];
  /** The first of them, which are replayed. */
  readonly asked: readonly CatalogCronJob[];
  readonly owns: ReadonlyMap<number, OwnSettings>;
  readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
  readonly history: ReadonlyMap<number, StoredHistory>;
  readonly epochs: ReadonlyMap<number, readonly SpecEpoch[]>;
  readonly channels: ReadonlyMap<string, RoutedChannel>;
  readonly skewP99Ms: number;
  readonly waits: Awaited<ReturnType<typeof gatherWaits>>;
  /** The same CronJobs, judged by another spec. */
  readonly judgedBy: (spec: MonitorSpec) => Gathered;
  readonly unknownLabels: boolean;
  readonly isCut: boolean;
}

export type Replayed = ReturnType<typeof truthOf> & { readonly of: PreviewedCronJob };

/** Reads what replaying a spec asks for; `others` are specs that are to be replayed on it too. */
export async function gather(
  deps: PreviewSource,
  wish: Pick<PreviewWish, 'namespace' | 'name' | 'readable'>,
  of: { readonly spec: MonitorSpec; readonly others: readonly MonitorSpec[]; readonly fromAt: number },
): Promise<Gathered> {
  const { store } = deps;
  const { spec, fromAt } = of;
  const { taken, owns, settingsOf, unknownLabels } = await select(deps, wish, spec);
  const asked = taken.slice(0, mostCronJobs);
  const ids = asked.map(({ id }) => id);
  const reach = Math.max(...[spec, ...of.others].map(reachMs));
  const history = await readHistories(store, ids, { from: fromAt - reach, mostRows });
  const gathered: Gathered = {
    taken,
    asked,
    owns,
    settingsOf,
    history: history.of,
    epochs: await listSpecEpochs(store, ids),
    channels: await store.transaction((tx) => listRoutedChannels(tx)),
    skewP99Ms: await findStartSkew(store),
    waits: await gatherWaits(store, { wish, spec, asked, fromAt }),
    unknownLabels,
    isCut: !history.isWhole || taken.length > asked.length,
    judgedBy: (other) => {
      const monitor = { namespace: wish.namespace, name: wish.name ?? '', spec: other };
      return { ...gathered, settingsOf: (own) => effectiveOf(monitor, own, deps.settings.ownerLabel) };
    },
  };
  return gathered;
}

/** Reads the stored history of the CronJobs that a spec selects, without judging it. */
export async function listHistories(
  deps: PreviewSource,
  wish: Pick<PreviewWish, 'namespace' | 'name' | 'readable'>,
  of: Parameters<typeof gather>[2],
): Promise<readonly PreviewedCronJob[]> {
  const { asked, history, epochs } = await gather(deps, wish, of);
  return asked.flatMap((cronJob) => {
    const stored = history.get(cronJob.id);
    return stored ? [toPreviewed(cronJob, stored, epochs.get(cronJob.id) ?? [], deps.settings.defaultTimeZone)] : [];
  });
}

/** The alerts of each CronJob with something stored, until `isLate` says that it took too long. */
export async function replayAll(
  gathered: Gathered,
  { settings }: PreviewSource,
  { fromAt, toAt }: Pick<PreviewRange, 'fromAt' | 'toAt'>,
  isLate: () => boolean,
): Promise<{ readonly replayed: readonly Replayed[]; readonly isCut: boolean }> {
  const { asked, owns, settingsOf, history, epochs, channels, skewP99Ms, waits } = gathered;
  const replayed: Replayed[] = [];
  for (const cronJob of asked) {
    if (isLate()) return { replayed, isCut: true };
    const stored = history.get(cronJob.id);
    if (!stored) continue;
    // A turn for others between two of them.
    await nextTurn();
    const own = owns.get(cronJob.id);
    if (!own) continue;
    const of = toPreviewed(cronJob, stored, epochs.get(cronJob.id) ?? [], settings.defaultTimeZone);
    const parents = waits?.parentsOf(cronJob);
    const found = replay(settingsOf(own), channels, { ...of, parents }, { fromAt, toAt, skewP99Ms });
    replayed.push({ of, ...truthOf(found, of, { fromAt, toAt }) });
  }
  return { replayed, isCut: false };
}

/** The alerts of one CronJob, or of a group of Jobs. */
function replay(
  settings: Effective<MonitorSpec>,
  channels: ReadonlyMap<string, RoutedChannel>,
  of: PreviewedCronJob,
  range: PreviewRange,
): PreviewedAlert[] {
  const { spec } = settings;
  const detection = detectionRulesOf(spec, of.timeZone);
  // Muted now says nothing of the past.
  const alerts = { ...alertRulesOf(settings), mutedUntilAt: undefined };
  const rules = { detection, alerts, channelOf: (name: string) => channels.get(name) };
  if (!isGroupName(of.name)) return previewCronJob(rules, of, range);
  const forgetAfterMs = (spec.jobs && parseResourceDuration(spec.jobs.forgetAfter)) ?? 0;
  return previewGroup({ ...rules, detection: groupRulesOf(detection) }, of, range, forgetAfterMs);
}

/** How far before the range runs count: windows and baselines reach back. */
function reachMs({ sla }: MonitorSpec): number {
  const days = sla ? Math.max(sla.windowDays, 2 * sla.durationBaselineWindowDays) : 1;
  return Math.min(days, longestHistoryDays) * dayMs;
}

function toPreviewed(
  { uid, namespace, name, createdAt, timeZone }: CatalogCronJob,
  stored: StoredHistory,
  epochs: readonly SpecEpoch[],
  defaultZone: string,
): PreviewedCronJob {
  return { uid, namespace, name, createdAt, timeZone: timeZone ?? defaultZone, epochs, ...stored };
}

/** For whom the CronJobs wait, and how these fared. */
interface Waits {
  readonly parentsOf: (cronJob: CatalogCronJob) => readonly PreviewedParent[];
  readonly linted: LintFacts['dependencies'];
}

/**
 * What the spec and the annotations let CronJobs wait for, as far as the caller may read; what other monitors say of the same CronJobs is left
 * out. Undefined: none waits.
 */
async function gatherWaits(
  store: Store,
  {
    wish,
    spec,
    asked,
    fromAt,
  }: {
    wish: Pick<PreviewWish, 'namespace' | 'readable'>;
    spec: MonitorSpec;
    asked: readonly CatalogCronJob[];
    fromAt: Instant;
  },
): Promise<Waits | undefined> {
  if (spec.dependsOn.length === 0 && asked.every(({ notes }) => notes.dependsOn === undefined)) return undefined;
  const { namespace, readable } = wish;
  const mayLookInto = (other: string): boolean => readable.length === 0 || readable.includes(other);
  const known = new Set((await listCronJobs(store, { namespaces: readable })).map(refText));
  const rules = { namespace, dependsOn: spec.dependsOn, mayLookInto };
  const own = asked.map((cronJob) => [refText(cronJob), parentsOf(cronJob, [rules])] as const);
  const of = new Map([...(await listDependencies(store)), ...own]);
  const waitedFor = new Map(
    own.map(([name]) => [
      name,
      ancestorsOf(of, name).filter((parent) => mayLookInto(parent.slice(0, parent.indexOf('/')))),
    ]),
  );
  const names = [...new Set([...waitedFor.values()].flat().map((parent) => parent.slice(parent.indexOf('/') + 1)))];
  const states = ['active', 'resolved', 'expired'] as const;
  const alerts =
    names.length === 0
      ? []
      : await listAlerts(
          store,
          { states, types: undoneWorkTypes, cronJobs: names },
          { sort: { key: 'since', descending: false } },
        );
  const byName = Map.groupBy(
    alerts.filter(({ endedAt }) => endedAt === undefined || endedAt > fromAt),
    ({ cronJob }) => refText(cronJob),
  );
  return {
    parentsOf: (cronJob) =>
      (waitedFor.get(refText(cronJob)) ?? []).flatMap((parent) => (byName.get(parent) ?? []).map(toPreviewedParent)),
    linted: {
      namespace,
      of,
      problemOf: (parent) =>
        known.has(refText(parent)) || !mayLookInto(parent.namespace)
          ? undefined
          : 'no CronJob that is watched has this name',
    },
  };
}

function toPreviewedParent({ id, type, severity, detectedAt, endedAt, lastNotifiedAt }: StoredAlert): PreviewedParent {
  return { id, type, severity, toldAt: lastNotifiedAt, fromAt: detectedAt, untilAt: endedAt };
}
