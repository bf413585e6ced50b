import { isDeepStrictEqual } from 'node:util';
import type { LimitSuggestions, MonitorPreview, SuggestedLimit } from '@cronjob-monitor/shared/contract';
import {
  defaultWindowDays,
  judgedValues,
  patchOf,
  suggestLimits,
  unknownFieldMessage,
  dayMs,
  isObject,
} from '@cronjob-monitor/shared/domain';
import { decodeMonitorSpec, findUnknownFields, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { findMonitor } from '@cronjob-monitor/shared/store';
import { toWireInstant } from '../wire-values.ts';
import { findingsOf } from './preview/findings.ts';
import { presentNothing, presentReplay } from './preview/present.ts';
import { gather, listHistories, replayAll, type Gathered, type Replayed } from './preview/replay.ts';
import type { PreviewSource, PreviewWish } from './preview/wish.ts';

export type { PreviewSource, PreviewWish } from './preview/wish.ts';

const longestMs = 5_000;
const listedCronJobs = 100;

/** What a monitor with this spec would have said of the history that is stored. Nothing is written. api.md section 7. */
export async function previewMonitor(deps: PreviewSource, wish: PreviewWish): Promise<MonitorPreview> {
  const { store, clock } = deps;
  const startedMs = clock.monotonicMs();
  const isLate = (): boolean => clock.monotonicMs() - startedMs > longestMs;
  const toAt = store.now();
  const range = { fromAt: toAt - wish.days * dayMs, toAt };
  const decoded = decodeMonitorSpec({ spec: wish.spec }, deps.settings.monitorDefaults, {});
  if (!decoded.ok) return presentNothing(decoded.undecodable, range);
  const { spec } = decoded;
  const { mayListChannels } = wish;
  const inForce = await findInForce(deps, wish);
  const wanted = { spec, others: inForce ? [inForce] : [], fromAt: range.fromAt };
  const gathered = await gather(deps, wish, wanted);
  const { taken, waits, history } = gathered;
  const gatherInForce = async (of: MonitorSpec): Promise<Gathered> =>
    selectsAlike(of, spec) ? gathered.judgedBy(of) : gather(deps, wish, { spec: of, others: [], fromAt: range.fromAt });
  const play = (of: Gathered): ReturnType<typeof replayAll> => replayAll(of, deps, range, isLate);
  const wished = await play(gathered);
  const { replayed } = wished;
  const before = inForce && (isDeepStrictEqual(inForce, spec) ? wished : await play(await gatherInForce(inForce)));
  const unknown = findUnknownFields('CronJobMonitor', wish.spec);
  const problems = [
    ...decoded.problems,
    ...unknown.map((field) => ({ path: field.path, message: unknownFieldMessage(field) })),
  ];
  const linted = { ...gathered, spec, problems, toAt, mayListChannels, dependencies: waits?.linted };
  const shown = (all: readonly Replayed[]): readonly Replayed[] => (mayListChannels ? all : all.map(withoutChannels));
  return {
    valid: problems.length === 0,
    findings: await findingsOf(deps, linted),
    cronJobs: {
      matched: taken.length,
      withHistory: history.size,
      items: taken.slice(0, listedCronJobs).map(({ namespace, name }) => ({ namespace, name })),
      omitted: Math.max(0, taken.length - listedCronJobs),
    },
    from: toWireInstant(range.fromAt),
    to: toWireInstant(toAt),
    ...presentReplay(shown(replayed), before && shown(before.replayed), { ...range, days: wish.days }, gathered),
    histograms: judgedValues(
      replayed.map(({ of }) => of),
      range,
      spec.sla?.windowDays ?? defaultWindowDays,
    ),
    patch:
      inForce && wish.name !== undefined
        ? patchOf({ namespace: wish.namespace, name: wish.name }, inForce, spec)
        : null,
    truncated: gathered.isCut || wished.isCut || (before?.isCut ?? false),
  };
}

/** Limits that the last 30 days of runs of a monitor's CronJobs would keep. Undefined: there is no such monitor. Nothing is written. */
export async function suggestMonitorLimits(
  deps: PreviewSource,
  wish: Omit<PreviewWish, 'spec' | 'days'>,
): Promise<LimitSuggestions | undefined> {
  const spec = await findInForce(deps, wish);
  if (!spec) return undefined;
  const toAt = deps.store.now();
  const range = { fromAt: toAt - 30 * dayMs, toAt };
  const cronJobs = await listHistories(deps, wish, { spec, others: [], fromAt: range.fromAt });
  const now: Readonly<Record<SuggestedLimit['path'], string | undefined>> = {
    'spec.deadManSwitch.maxTimeSinceLastSuccess': spec.deadManSwitch?.maxTimeSinceLastSuccess,
    'spec.deadManSwitch.autoFromSchedule.buffer': spec.deadManSwitch?.autoFromSchedule?.buffer,
    'spec.sla.maxDuration': spec.sla?.maxDuration,
    'spec.missedSchedule.grace': spec.missedSchedule.grace,
  };
  return { items: suggestLimits(cronJobs, range).map((one) => ({ ...one, now: now[one.path] ?? null })) };
}

/** The spec of the monitor that would be replaced; undefined: there is none, or the caller may not read it. */
async function findInForce(
  { store, settings }: PreviewSource,
  { namespace, name, mayReadMonitor }: Pick<PreviewWish, 'namespace' | 'name' | 'mayReadMonitor'>,
): Promise<MonitorSpec | undefined> {
  if (name === undefined || !mayReadMonitor) return undefined;
  const { monitor } = await findMonitor(store, { namespace, name });
  if (!monitor || !isObject(monitor.spec)) return undefined;
  const decoded = decodeMonitorSpec({ spec: monitor.spec }, settings.monitorDefaults, {});
  return decoded.ok ? decoded.spec : undefined;
}

function selectsAlike(a: MonitorSpec, b: MonitorSpec): boolean {
  const selectionOf = ({ selector, jobs, dependsOn, allowOverrides }: MonitorSpec): readonly unknown[] => [
    selector,
    jobs,
    dependsOn,
    allowOverrides,
  ];
  return isDeepStrictEqual(selectionOf(a), selectionOf(b));
}

function withoutChannels(replayed: Replayed): Replayed {
  const alerts = replayed.alerts.map(({ alert, truth }) => ({ alert: { ...alert, channels: [] }, truth }));
  return { ...replayed, alerts };
}
