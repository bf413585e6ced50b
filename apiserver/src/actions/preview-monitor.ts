import { isDeepStrictEqual } from 'node:util';
import type {
  LimitSuggestions,
  MonitorPreview,
  PreviewAlert,
  PreviewChange,
  PreviewLane,
  PreviewMissed,
  Ref,
  SuggestedLimit,
} from '@cronjob-monitor/shared/contract';
import {
  changesOf,
  dayMs,
  defaultWindowDays,
  type Instant,
  isObject,
  patchOf,
  unknownFieldMessage,
} from '@cronjob-monitor/shared/domain';
import {
  judgedValues,
  laneOf,
  type PreviewedAlert,
  suggestLimits,
  tellTruth,
} from '@cronjob-monitor/shared/domain/preview';
import { decodeMonitorSpec, findUnknownFields, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { findMonitor } from '@cronjob-monitor/shared/store';
import { toWireInstant, toWireInstantOrNull } from '../wire-values.ts';
import { findingsOf } from './preview/findings.ts';
import { gather, type Gathered, listHistories, replayAll, type Replayed } from './preview/replay.ts';
import type { PreviewSource, PreviewWish } from './preview/wish.ts';

export type { PreviewSource, PreviewWish } from './preview/wish.ts';

const longestMs = 5_000;
const listedCronJobs = 100;

/** The alerts that a monitor with this spec would have raised over the stored history. Writes no row. api.md section 7. */
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

/** The spec of the monitor that would be replaced; undefined: it does not exist, or the caller may not read it. */
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

const listedAlerts = 200;
const listedLanes = 50;

interface Range {
  readonly fromAt: Instant;
  readonly toAt: Instant;
}

type NamedAlert = PreviewedAlert & {
  readonly cronjob: Ref;
  readonly truth: boolean | undefined;
  readonly change: PreviewChange;
};

/** Compares the alerts by the wished rules with those by the rules in force. `inForce` undefined: no rules are in force. */
function presentReplay(
  wished: readonly Replayed[],
  inForce: readonly Replayed[] | undefined,
  range: Range & { readonly days: number },
  stored: Pick<Gathered, 'history' | 'epochs'>,
): Pick<MonitorPreview, 'alerts' | 'words' | 'truth' | 'now' | 'gone' | 'missed' | 'lanes' | 'blindSeconds'> {
  const before = new Map(inForce?.map((one) => [one.of.uid, one]));
  const alerts: NamedAlert[] = [];
  const gone: NamedAlert[] = [];
  for (const { of, alerts: found } of wished) {
    const cronjob = nameOf(of);
    const was = (before.get(of.uid)?.alerts ?? []).map(({ alert, truth }) => ({ ...alert, truth }));
    const is = found.map(({ alert, truth }) => ({ ...alert, truth }));
    const changes = changesOf(was, is);
    alerts.push(...is.map((alert) => ({ ...alert, cronjob, change: changes.changeOf(alert) })));
    gone.push(...changes.gone.map((alert) => ({ ...alert, cronjob, change: 'gone' as const })));
  }
  const { truth, wordsOf } = tellAll(wished);
  return {
    alerts: {
      total: alerts.length,
      byType: countTypes(alerts),
      items: presentAlerts(alerts),
      omitted: Math.max(0, alerts.length - listedAlerts),
    },
    words: wordsOf(range.days),
    truth,
    now: inForce ? tellAll(inForce).truth : null,
    gone: presentAlerts(gone),
    missed: presentMissed(wished),
    lanes: presentLanes(wished, range),
    blindSeconds: blindSecondsOf(stored, range),
  };
}

/** The preview of a spec that cannot be read, without a replay. */
function presentNothing(message: string, { fromAt, toAt }: Range): MonitorPreview {
  return {
    valid: false,
    findings: [{ level: 'error', code: 'schema', path: 'spec', message }],
    cronJobs: { matched: 0, withHistory: 0, items: [], omitted: 0 },
    from: toWireInstant(fromAt),
    to: toWireInstant(toAt),
    alerts: { total: 0, byType: {}, items: [], omitted: 0 },
    words: 'These rules cannot be used',
    truth: { true: 0, false: 0, missed: 0 },
    now: null,
    gone: [],
    missed: [],
    lanes: [],
    histograms: [],
    patch: null,
    blindSeconds: 0,
    truncated: false,
  };
}

function tellAll(replayed: readonly Replayed[]): ReturnType<typeof tellTruth> {
  return tellTruth(
    replayed.flatMap(({ alerts }) => alerts),
    replayed.reduce((sum, { missed }) => sum + missed.length, 0),
  );
}

function countTypes(alerts: readonly PreviewedAlert[]): MonitorPreview['alerts']['byType'] {
  const byType: Partial<Record<PreviewedAlert['type'], number>> = {};
  for (const { type } of alerts) byType[type] = (byType[type] ?? 0) + 1;
  return byType;
}

function presentAlerts(alerts: readonly NamedAlert[]): PreviewAlert[] {
  return alerts
    .toSorted((a, b) => b.sinceAt - a.sinceAt)
    .slice(0, listedAlerts)
    .map(({ type, subject, severity, cronjob, sinceAt, endedAt, message, channels, truth, change }) => ({
      type,
      subject: subject ?? null,
      severity,
      cronjob,
      since: toWireInstant(sinceAt),
      endedAt: toWireInstantOrNull(endedAt),
      message,
      channels,
      truth: truth ?? null,
      change,
    }));
}

function presentMissed(replayed: readonly Replayed[]): PreviewMissed[] {
  return replayed
    .flatMap(({ of, missed }) => missed.map((run) => ({ ...run, cronjob: nameOf(of) })))
    .sort((a, b) => b.at - a.at)
    .slice(0, listedAlerts)
    .map(({ cronjob, at, jobName }) => ({ cronjob, at: toWireInstant(at), jobName: jobName ?? null }));
}

/** CronJobs with most alerts first, then CronJobs with most failures that no alert told. */
function presentLanes(replayed: readonly Replayed[], range: Range): PreviewLane[] {
  return replayed
    .toSorted((a, b) => b.alerts.length - a.alerts.length || b.missed.length - a.missed.length)
    .slice(0, listedLanes)
    .map(({ of, alerts, missed }) => {
      const { cells, words, recordedFromAt } = laneOf(of, range);
      return {
        cronjob: nameOf(of),
        words,
        alertWords: tellTruth(alerts, missed.length).flagWords,
        recordedFrom: recordedFromAt === undefined ? null : toWireInstant(Math.max(recordedFromAt, range.fromAt)),
        cells,
      };
    });
}

function nameOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}

/** For how long it is unknown what was due: gaps between the epochs that are certain, of the CronJob with most of it. */
function blindSecondsOf(
  { history, epochs }: Pick<Gathered, 'history' | 'epochs'>,
  { fromAt, toAt }: { readonly fromAt: Instant; readonly toAt: Instant },
): number {
  const blindMs = [...history.keys()].map((id) =>
    (epochs.get(id) ?? [])
      .filter(({ certain }) => !certain)
      .reduce(
        (sum, epoch) => sum + Math.max(0, Math.min(epoch.toAt ?? toAt, toAt) - Math.max(epoch.fromAt, fromAt)),
        0,
      ),
  );
  return Math.round(Math.max(0, ...blindMs) / 1_000);
}
