import type { Ref } from '@cronjob-monitor/shared/contract';
import {
  ancestorsOf,
  parentsOf,
  typesThatHold,
  type Instant,
  type LintFacts,
  type PreviewedParent,
} from '@cronjob-monitor/shared/domain';
import type { MonitorSpec } from '@cronjob-monitor/shared/kube';
import {
  listAlerts,
  listCronJobs,
  listDependencies,
  type CatalogCronJob,
  type Store,
  type StoredAlert,
} from '@cronjob-monitor/shared/store';
import type { PreviewWish } from './wish.ts';

/** For whom the CronJobs wait, and how these fared. */
interface Waits {
  readonly parentsOf: (cronJob: CatalogCronJob) => readonly PreviewedParent[];
  readonly linted: LintFacts['dependencies'];
}

/**
 * What the spec and the annotations let CronJobs wait for, as far as the caller may read; what other monitors say of the same CronJobs is left
 * out. Undefined: none waits.
 */
export async function gatherWaits(
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
  const known = new Set((await listCronJobs(store, { namespaces: readable })).map(nameOf));
  const rules = { namespace, dependsOn: spec.dependsOn, mayLookInto };
  const own = asked.map((cronJob) => [nameOf(cronJob), parentsOf(cronJob, [rules])] as const);
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
          { states, types: typesThatHold, cronJobs: names },
          { sort: { key: 'since', descending: false } },
        );
  const byName = Map.groupBy(
    alerts.filter(({ endedAt }) => endedAt === undefined || endedAt > fromAt),
    ({ cronJob }) => nameOf(cronJob),
  );
  return {
    parentsOf: (cronJob) =>
      (waitedFor.get(nameOf(cronJob)) ?? []).flatMap((parent) => (byName.get(parent) ?? []).map(toPreviewedParent)),
    linted: {
      namespace,
      of,
      problemOf: (parent) =>
        known.has(nameOf(parent)) || !mayLookInto(parent.namespace)
          ? undefined
          : 'no CronJob that is watched has this name',
    },
  };
}

function toPreviewedParent({ id, type, severity, detectedAt, endedAt, lastNotifiedAt }: StoredAlert): PreviewedParent {
  return { id, type, severity, toldAt: lastNotifiedAt, fromAt: detectedAt, untilAt: endedAt };
}

function nameOf({ namespace, name }: Ref): string {
  return `${namespace}/${name}`;
}
