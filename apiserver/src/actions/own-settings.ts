import type { CronJobDetail } from '@cronjob-monitor/shared/contract';
import {
  annotationProblemsOf,
  type Effective,
  effectiveOf,
  type OwnSettings,
  refText,
  type RouteRules,
} from '@cronjob-monitor/shared/domain';
import { decodeMonitorSpec, routeRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { listMonitors, listMonitorsOf, listOwnSettings, type Store } from '@cronjob-monitor/shared/store';
import type { ApiSettings } from '../settings.ts';

/** Routing rules by the id of a monitor; undefined for a monitor that cannot be read, which selects no CronJob. */
export type RouteRulesOf = (monitorId: number, cronJobId: number) => RouteRules | undefined;

export async function readRouteRules(deps: Given, cronJobIds?: readonly number[]): Promise<RouteRulesOf> {
  const settingsOf = await readSettings(deps, cronJobIds);
  return (monitorId, cronJobId) => {
    const settings = settingsOf(monitorId, cronJobId);
    return settings && routeRulesOf(settings);
  };
}

/** Whose rows, and what the configuration says for what monitors and CronJobs leave out. */
type Given = {
  readonly store: Store;
  readonly settings: Pick<ApiSettings, 'defaultTimeZone' | 'ownerLabel' | 'monitorDefaults'>;
};

/** Settings in force for a CronJob under each of its monitors, and annotations that have no effect. */
export async function readOwnSettings(deps: Given, cronJobId: number): Promise<PresentedSettings> {
  const { store } = deps;
  const [settingsOf, selecting, owns] = await Promise.all([
    readSettings(deps, [cronJobId]),
    listMonitorsOf(store, [cronJobId]),
    readOwn(deps, [cronJobId]),
  ]);
  const own = owns.get(cronJobId);
  const ofMonitors = selecting.flatMap(({ monitorId, namespace, name }) => {
    const settings = settingsOf(monitorId, cronJobId);
    return settings ? [{ monitor: { namespace, name }, settings }] : [];
  });
  const problems = own ? annotationProblemsOf(own, store.now()) : [];
  return {
    settings: ofMonitors.flatMap(({ monitor, settings }) =>
      settings.settings.map(({ field, value = null, source, object = null }) => ({
        field,
        value,
        source,
        object,
        monitor,
      })),
    ),
    annotationProblems: [
      ...problems.map(({ object, message }) => `${object}: ${message}`),
      ...ofMonitors.flatMap(({ monitor, settings }) =>
        settings.passedOver.map((word) => `${word}: the monitor ${refText(monitor)} does not allow it`),
      ),
    ],
  };
}

type PresentedSettings = Pick<CronJobDetail, 'settings' | 'annotationProblems'>;

async function readSettings(
  deps: Given,
  cronJobIds?: readonly number[],
): Promise<(monitorId: number, cronJobId: number) => Effective<MonitorSpec> | undefined> {
  const { store, settings } = deps;
  const [monitors, owns] = await Promise.all([listMonitors(store), readOwn(deps, cronJobIds)]);
  const specs = new Map(
    monitors.flatMap(({ id, namespace, name, spec }) => {
      const decoded = decodeMonitorSpec({ spec }, settings.monitorDefaults);
      return decoded.ok ? [[id, { namespace, name, spec: decoded.spec }] as const] : [];
    }),
  );
  const shared = new Map<number, Effective<MonitorSpec>>();
  return (monitorId, cronJobId) => {
    const monitor = specs.get(monitorId);
    const own = owns.get(cronJobId);
    if (!monitor || !own) return undefined;
    const isShared = !speaks(own) && (monitor.spec.alerting?.routes.length ?? 0) === 0;
    const known = isShared ? shared.get(monitorId) : undefined;
    if (known) return known;
    const made = effectiveOf(monitor, own, settings.ownerLabel);
    if (isShared) shared.set(monitorId, made);
    return made;
  };
}

export function speaks({ cronJob, ofNamespace }: OwnSettings): boolean {
  return Object.keys(cronJob.annotations).length + Object.keys(ofNamespace?.annotations ?? {}).length > 0;
}

/** What CronJobs say of themselves, by their ids. */
export async function readOwn(
  { store, settings }: Given,
  cronJobIds?: readonly number[],
): Promise<ReadonlyMap<number, OwnSettings>> {
  const found = await listOwnSettings(store, cronJobIds);
  return new Map(
    found.map(({ cronJobId, timeZone = settings.defaultTimeZone, ...own }) => [cronJobId, { ...own, timeZone }]),
  );
}
