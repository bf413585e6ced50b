import { Gauge, type Registry } from 'prom-client';
import {
  symptomCauseOf,
  symptomCauses,
  symptomsOf,
  type HealthFigures,
  type Problem,
  type Share,
  type SymptomCause,
  minuteMs,
  type Instant,
} from '../../domain/index.ts';
import type { Clock } from '../clock.ts';
import type { ProblemList } from '../problem-list.ts';
import type { ProcessMetrics } from './index.ts';

const looksEveryMs = 10_000;
/** What is compared with the past goes back no further. */
const rememberedMs = 60 * minuteMs;

/** What only grows while the process lives. */
interface Totals {
  readonly runsDropped: number;
  readonly runsUnobserved: number;
  readonly rollupsDiffer: number;
  readonly fencedWrites: number;
  readonly unroutedMessages: number;
  readonly recordings: Share;
  readonly messages: Share;
  readonly requests: Share;
}

/**
 * Reads the process's own metrics every 10 s, decides by `symptomsOf` what is wrong, and tells what has lasted for the patience of its cause:
 * the list of problems what concerns the service, `cronjob_monitor_symptom` all of it, and what the list has besides.
 */
export function watchSymptoms(
  deps: {
    readonly metrics: Pick<ProcessMetrics, 'registry' | 'read'>;
    readonly problems: Pick<ProblemList, 'add' | 'current'>;
    /** How often each scheduler runs, milliseconds; empty for a process without any. */
    readonly intervalsMs: Readonly<Record<string, number>>;
    readonly clock: Clock;
  },
  signal: AbortSignal,
): void {
  const { metrics, problems, clock } = deps;
  const past: { readonly atMs: number; readonly totals: Totals }[] = [];
  let lasting = new Map<string, { readonly problem: Problem; readonly sinceMs: number }>();

  const look = async (): Promise<void> => {
    const atMs = clock.monotonicMs();
    const totals = await readTotals(metrics.read);
    while (past[0] !== undefined && atMs - past[0].atMs > rememberedMs) past.shift();
    past.push({ atMs, totals });
    const since = (windowMs: number) => past.find((one) => atMs - one.atMs <= windowMs)?.totals ?? totals;
    const found = symptomsOf({
      ...(await readGauges(metrics.read, deps.intervalsMs, clock.now())),
      ...increases(totals, since),
    });
    lasting = new Map(
      found.map((problem) => [problem.key, { problem, sinceMs: lasting.get(problem.key)?.sinceMs ?? atMs }]),
    );
  };
  const told = (): Problem[] =>
    [...lasting.values()].flatMap(({ problem, sinceMs }) => {
      const patienceMs = problem.cause === undefined ? 0 : (symptomCauseOf(problem.cause).patienceMs ?? 0);
      return clock.monotonicMs() - sinceMs >= patienceMs ? [problem] : [];
    });

  problems.add(() => told().filter(({ cause }) => cause === undefined || !symptomCauseOf(cause).isOfPart));
  exposeSymptoms(metrics.registry, () => [...problems.current(), ...told()]);
  clock.every(looksEveryMs, look, signal);
}

/** Each cause has a series: 0 while the cause is absent, 1 for a warning, 2 for a critical alert. */
function exposeSymptoms(registry: Registry, current: () => readonly Problem[]): void {
  const gauge = new Gauge({
    name: 'cronjob_monitor_symptom',
    help: 'What is wrong with the service, by symptom and cause: 0 nothing, 1 a warning, 2 critical. The rules of the chart are made of it.',
    labelNames: ['symptom', 'cause'],
    registers: [],
    collect() {
      const causes = new Set(current().map(({ cause }) => cause));
      for (const cause of Object.keys(symptomCauses) as SymptomCause[]) {
        const { symptom, isCritical } = symptomCauseOf(cause);
        this.set({ symptom, cause }, causes.has(cause) ? (isCritical ? 2 : 1) : 0);
      }
    },
  });
  registry.registerMetric(gauge);
}

async function readTotals(read: ProcessMetrics['read']): Promise<Totals> {
  const total = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> => {
    const all = await read(name);
    const fitting = all.filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value));
    return fitting.reduce((sum, { value }) => sum + value, 0);
  };
  /** Observations of a histogram, and those above one of its bounds. */
  const above = async (name: string, bound: number): Promise<Share> => {
    const all = await read(name);
    const sum = (ending: string, le?: number) =>
      all
        .filter(({ metricName, labels }) => metricName === `${name}_${ending}` && (!le || labels['le'] === le))
        .reduce((total, { value }) => total + value, 0);
    return { of: sum('count'), bad: sum('count') - sum('bucket', bound) };
  };
  const answers = (await read('cronjob_monitor_api_request_duration_seconds')).filter(({ metricName }) =>
    metricName?.endsWith('_count'),
  );
  const answered = (isCounted: (status: string) => boolean) =>
    answers.reduce((sum, { labels, value }) => sum + (isCounted(String(labels['status'])) ? value : 0), 0);
  return {
    runsDropped: await total('cronjob_monitor_snapshots_dropped_total'),
    runsUnobserved: await total('cronjob_monitor_executions_other_total', { status: 'unobserved' }),
    rollupsDiffer: await total('cronjob_monitor_rollup_mismatches_total'),
    fencedWrites: await total('cronjob_monitor_db_retries_total', { reason: 'fenced' }),
    unroutedMessages: await total('cronjob_monitor_alerts_suppressed_total', { reason: 'unknownChannel' }),
    recordings: await above('cronjob_monitor_execution_record_lag_seconds', 2),
    messages: await above('cronjob_monitor_notification_lag_seconds', 5),
    requests: { of: answered(() => true), bad: answered((status) => status.startsWith('5')) },
  };
}

/** What came within the window of each cause. */
function increases(now: Totals, since: (windowMs: number) => Totals): HealthFigures {
  const quarter = since(15 * minuteMs);
  const hour = since(60 * minuteMs);
  const lately = since(10 * minuteMs);
  const requests = since(5 * minuteMs).requests;
  return {
    runsDropped: now.runsDropped - quarter.runsDropped,
    runsUnobserved: now.runsUnobserved - hour.runsUnobserved,
    rollupsDiffer: now.rollupsDiffer - hour.rollupsDiffer,
    fencedWrites: now.fencedWrites - quarter.fencedWrites,
    unroutedMessages: now.unroutedMessages - quarter.unroutedMessages,
    recordings: less(now.recordings, lately.recordings),
    messages: less(now.messages, lately.messages),
    requests: less(now.requests, requests),
  };
}

function less(now: Share, before: Share): Share {
  return { of: now.of - before.of, bad: now.bad - before.bad };
}

async function readGauges(
  read: ProcessMetrics['read'],
  intervalsMs: Readonly<Record<string, number>>,
  now: Instant,
): Promise<HealthFigures> {
  /** The one series of a gauge, or the largest; undefined: it has none. */
  const largest = async (name: string, isMeant: (labels: Labels) => boolean = () => true) => {
    const values = (await read(name)).flatMap(({ labels, value }) => (isMeant(labels) ? [value] : []));
    return values.length === 0 ? undefined : Math.max(...values);
  };
  const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000);
  const ageOf = (seconds: number | undefined) => (seconds === undefined ? undefined : now - seconds * 1_000);
  const ran = await read('cronjob_monitor_scheduler_last_success_timestamp_seconds');
  const queues = await read('workqueue_depth');
  const holds = await read('cronjob_monitor_channel_hold');
  const expiry = inMs(await largest('cronjob_monitor_certificate_expiry_timestamp_seconds'));
  return {
    schedulers: ran.flatMap(({ labels, value }) => {
      const name = String(labels['scheduler']);
      const intervalMs = intervalsMs[name];
      const lastAt = value * 1_000;
      return intervalMs === undefined ? [] : [{ name, lastAt, ageMs: now - lastAt, intervalMs }];
    }),
    queueDepths: Object.fromEntries(queues.map(({ labels, value }) => [String(labels['name']), value])),
    monitorsInError: await largest('cronjob_monitor_monitors', ({ phase }) => phase === 'Error'),
    eventLoopDelayMs: inMs(
      await largest('cronjob_monitor_event_loop_delay_seconds', ({ percentile }) => percentile === 'p99'),
    ),
    volumeFreeBytes: await largest('cronjob_monitor_storage_volume_free_bytes'),
    deadMessages: await largest('cronjob_monitor_deliveries', ({ state }) => state === 'dead'),
    outboxAgeMs: inMs(await largest('cronjob_monitor_delivery_queue_age_seconds')),
    channelsNotReady: (await read('cronjob_monitor_channel_ready')).flatMap(({ labels, value }) =>
      value === 0 ? [String(labels['channel'])] : [],
    ),
    channelsNotProved: (await read('cronjob_monitor_channel_not_proved')).flatMap(({ labels, value }) =>
      value === 1 ? [String(labels['channel'])] : [],
    ),
    channelsHeld: holds.flatMap(({ labels, value }) =>
      value === 1 ? [[String(labels['channel']), String(labels['hold'])] as const] : [],
    ),
    heartbeatAgeMs: ageOf(await largest('cronjob_monitor_heartbeat_last_success_timestamp_seconds')),
    certificateEndsInMs: expiry === undefined ? undefined : expiry - now,
    scrapeMs: inMs(await largest('cronjob_monitor_scrape_seconds')),
  };
}

type Labels = Readonly<Record<string, string | number | undefined>>;
