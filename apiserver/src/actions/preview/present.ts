import type {
  MonitorPreview,
  PreviewAlert,
  PreviewChange,
  PreviewLane,
  PreviewMissed,
  Ref,
} from '@cronjob-monitor/shared/contract';
import { changesOf, laneOf, tellTruth, type Instant, type PreviewedAlert } from '@cronjob-monitor/shared/domain';
import { toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import type { Gathered, Replayed } from './replay.ts';

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

/** What came of the wished rules beside what those in force come to. `inForce` undefined: there are none. */
export function presentReplay(
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

/** Of a spec that cannot be read nothing is replayed. */
export function presentNothing(message: string, { fromAt, toAt }: Range): MonitorPreview {
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

/** Those with alerts first, then those whose runs went wrong. */
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
